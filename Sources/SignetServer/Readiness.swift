import SignetStorage
import SignetWire

/// Whether the server can serve: what it stores can be read, a change is on the disk, and there is a key for handshakes.
///
/// Each answer is of a look at most a second old: who asks often makes no more changes than that, and asks who waits together are
/// one look.
package actor Readiness {
  private let context: ServiceContext
  private var running: Task<String?, Never>?
  private var last: (end: Duration, failure: String?)?
  /// How many looks there were; tests compare it with the number of questions.
  package private(set) var count = 0

  /// How long an answer is good.
  private static let age: Duration = .seconds(1)

  /// - Parameter context: Whose storage and keys it is about.
  package init(_ context: ServiceContext) { self.context = context }

  /// Says that the server can serve.
  ///
  /// - Throws: `Problem`: `busy`.
  nonisolated func answer() async throws -> ServerState {
    guard await failure() == nil else {
      throw Problem(
        .busy,
        "The database, or what keeps the keys of handshakes, can't be read and written. See the server's log."
      )
    }
    return ServerState(status: "ready", version: Server.version)
  }

  /// Why the server cannot serve; `nil` where it can.
  package func failure() async -> String? {
    if let running { return await running.value }
    if let last, context.elapsed() - last.end < Self.age { return last.failure }
    let (context, now) = (context, context.clock.now)
    let task = Task { () -> String? in
      do throws(StorageFailure) { try await context.storage.checkReadiness(at: now) } catch {
        return error.description
      }
      do { _ = try context.handshakeKeys.current(at: now) } catch { return "keys of handshakes: \(error)" }
      return nil
    }
    (running, count) = (task, count + 1)
    let failure = await task.value
    say(failure, after: last?.failure)
    (running, last) = (nil, (context.elapsed(), failure))
    return failure
  }

  /// The log says each change once.
  private func say(_ failure: String?, after before: String?) {
    if let failure {
      if before != failure { context.log.error("ready.failed", ["cause": failure]) }
    } else if before != nil {
      context.log.info("ready.restored")
    }
  }
}
