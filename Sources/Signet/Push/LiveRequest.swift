/// How a request has ended that this device had been asked.
package enum RequestEnd: String, Hashable, Sendable {
  /// It was answered, here or with another authenticator.
  case answered
  /// It was cancelled, or withdrawn by who had asked.
  case withdrawn
  /// Nobody answered in time.
  case expired
}

extension Device {
  /// Asks for an answer again and again, each time for another one than the last, until the task is cancelled.
  ///
  /// After a failure the next request names no known answer, so that the server does not keep it open: that the server is there
  /// again is told at once.
  ///
  /// - Parameters:
  ///   - sleep: Waits between requests.
  ///   - mayPass: Whether a failure is waited out: 1 s, then twice as long each time, at most 30 s.
  ///   - note: Is told when the server is not reached any more, and with `nil` when it is again.
  ///   - ask: Asks for another answer than the known one, and for any, which comes at once, with `nil`.
  ///   - isNew: Whether an answer says something else than the known one.
  ///   - hand: Takes what is new.
  ///   - finish: What is done after each request.
  /// - Throws: What does not pass.
  func follow<Answer, Failure: Error>(
    pausing sleep: (Duration) async throws -> Void, waitingOut mayPass: (Failure) -> Bool,
    noting note: (Failure?) -> Void, asking ask: (Answer?) async throws(Failure) -> Answer?,
    isNew: (Answer, Answer?) -> Bool, handing hand: (Answer) -> Void,
    then finish: ((Answer?) async throws(Failure) -> Void)? = nil
  ) async throws(Failure) {
    var known: Answer?
    var wait = Duration.seconds(1)
    var isInterrupted = false
    var hasFailed = false
    // Whether the last request that the server was to keep open has failed.
    var wasCutOff = false
    while !Task.isCancelled {
      let begin = ContinuousClock.now
      var pause = Duration.zero
      let (isProbe, isKeptOpen) = (hasFailed, known != nil && !hasFailed)
      do throws(Failure) {
        let next = try await ask(isProbe ? nil : known)
        hasFailed = false
        if isKeptOpen { wasCutOff = false }
        if isInterrupted {
          isInterrupted = false
          note(nil)
        }
        if let next, isNew(next, known) {
          hand(next)
          // Many changes in a row are one list soon after.
          (pause, wait) = (.milliseconds(200), .seconds(1))
        } else if isProbe {
          // The next request is kept open; where that fails again, the pauses go on growing.
        } else if ContinuousClock.now - begin < .seconds(1) {
          pause = wait
        } else {
          wait = .seconds(1)
        }
        known = next ?? known
        if let finish { try await finish(next) }
      } catch {
        guard mayPass(error) else { throw error }
        // A proxy that cuts off what is kept open is told of once, and not each time: the probe finds out whether more is wrong.
        if !isInterrupted, !(isKeptOpen && wasCutOff) {
          isInterrupted = true
          note(error)
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
