/// The way in which a request to this device has ended.
package enum RequestEnd: String, Hashable, Sendable {
  /// The user answered it, here or with another authenticator.
  case answered
  /// The user cancelled it, or the requester withdrew it.
  case withdrawn
  /// It expired without an answer.
  case expired
}

extension Device {
  /// Queries a server repeatedly, each time for an answer other than the last, until the task is cancelled.
  ///
  /// After a failure the next request names no known answer, so the server answers immediately. The caller thus learns at
  /// once that the server is reachable again.
  ///
  /// - Parameters:
  ///   - sleep: Waits between requests.
  ///   - mayPass: Returns true for a failure that is retried: after 1 s, then after twice the wait each time, at most 30 s.
  ///   - notify: Receives the failure when the server becomes unreachable, and `nil` when it is reachable again.
  ///   - ask: Queries for an answer other than the known one; with `nil`, for an immediate answer.
  ///   - isNew: Returns true if an answer differs from the known one.
  ///   - deliver: Receives each new answer.
  ///   - finish: Called after each successful request.
  /// - Throws: The first failure that is not retried.
  package func follow<Answer, Failure: Error>(
    pausing sleep: (Duration) async throws -> Void, waitingOut mayPass: (Failure) -> Bool,
    noting notify: (Failure?) -> Void, asking ask: (Answer?) async throws(Failure) -> Answer?,
    isNew: (Answer, Answer?) -> Bool, handing deliver: (Answer) -> Void,
    then finish: ((Answer?) async throws(Failure) -> Void)? = nil
  ) async throws(Failure) {
    var previous: Answer?
    var wait = Duration.seconds(1)
    var isInterrupted = false
    var hasFailed = false
    // True if the last request that the server was to hold open has failed.
    var wasCutOff = false
    while !Task.isCancelled {
      let begin = ContinuousClock.now
      var pause = Duration.zero
      let (isProbe, isKeptOpen) = (hasFailed, previous != nil && !hasFailed)
      do throws(Failure) {
        let next = try await ask(isProbe ? nil : previous)
        hasFailed = false
        if isKeptOpen { wasCutOff = false }
        if isInterrupted {
          isInterrupted = false
          notify(nil)
        }
        if let next, isNew(next, previous) {
          deliver(next)
          // Several changes in a row are combined into one list by a short wait.
          (pause, wait) = (.milliseconds(200), .seconds(1))
        } else if isProbe {
          // The next request is held open; if it fails again, the waits continue to grow.
        } else if ContinuousClock.now - begin < .seconds(1) {
          pause = wait
        } else {
          wait = .seconds(1)
        }
        previous = next ?? previous
        if let finish { try await finish(next) }
      } catch {
        guard mayPass(error) else { throw error }
        // A proxy that closes held requests is reported once, not each time; the immediate request finds out whether the
        // server is reachable.
        if !isInterrupted, !(isKeptOpen && wasCutOff) {
          isInterrupted = true
          notify(error)
        }
        (hasFailed, wasCutOff) = (true, wasCutOff || isKeptOpen)
        pause = wait
      }
      guard pause > .zero else { continue }
      if pause >= wait { wait = min(wait * 2, .seconds(30)) }
      do { try await sleep(pause) } catch { return }
    }
  }
}
