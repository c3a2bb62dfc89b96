package import SignetHTTP
import SignetJSON
package import SignetStorage
package import SignetWire

/// Whether the server can serve: what it stores can be read, and a change is on the disk.
///
/// Each answer is of a look at most a second old: who asks often makes no more changes than that, and asks who waits together are
/// one look.
package actor Readiness {
  private let context: ServiceContext
  private let elapsed: @Sendable () -> Duration
  private var running: Task<StorageFailure?, Never>?
  private var last: (end: Duration, failure: StorageFailure?)?
  /// How many looks there were; tests compare it with the number of questions.
  package private(set) var count = 0

  /// Fields of requests that somebody else has passed on (RFC 7239, RFC 9110 section 7.6.3, and the custom before them).
  private static let passedOn = ["Forwarded", "X-Forwarded-For", "Via"]

  /// How long an answer is good.
  private static let age: Duration = .seconds(1)

  /// - Parameters:
  ///   - context: Whose storage it is about.
  ///   - elapsed: The time since a moment that stays the same.
  package init(_ context: ServiceContext, elapsed: @escaping @Sendable () -> Duration = Readiness.uptime) {
    (self.context, self.elapsed) = (context, elapsed)
  }

  /// Answers the question whether the server can serve.
  ///
  /// A proxy on the operator's machine has an address of the operator's, whoever asks through it, so that what it says to have passed
  /// on is not answered.
  ///
  /// - Parameter request: The question.
  /// - Returns: That it can.
  /// - Throws: `Problem`: as for a path that is not there, or `busy`.
  package nonisolated func answer(to request: ServerRequest) async throws(Problem) -> ServerResponse {
    guard context.settings.operatorAddresses.contains(request.remoteAddress),
      Self.passedOn.allSatisfy({ request.headers[$0] == nil })
    else { throw Problem(RequestRefusal.notFound) }
    guard await failure() == nil else {
      throw Problem(.busy, "The database can't be read and written. See the server's log.")
    }
    return .json(["status": "ready", "version": .string(Server.version)])
  }

  /// Why the server cannot serve; `nil` where it can.
  package func failure() async -> StorageFailure? {
    if let running { return await running.value }
    if let last, elapsed() - last.end < Self.age { return last.failure }
    let (storage, now) = (context.storage, context.clock.now)
    let task = Task { () -> StorageFailure? in
      do throws(StorageFailure) {
        try await storage.checkReadiness(at: now)
        return nil
      } catch { return error }
    }
    (running, count) = (task, count + 1)
    let failure = await task.value
    say(failure, after: last?.failure)
    (running, last) = (nil, (elapsed(), failure))
    return failure
  }

  /// The log says each change once.
  private func say(_ failure: StorageFailure?, after before: StorageFailure?) {
    if let failure {
      if before != failure { context.log.error("ready.failed", ["cause": failure.description]) }
    } else if before != nil {
      context.log.info("ready.restored")
    }
  }

  /// The time that has passed since the process first asked for it.
  package static let uptime: @Sendable () -> Duration = {
    let start = ContinuousClock.now
    return { ContinuousClock.now - start }
  }()
}
