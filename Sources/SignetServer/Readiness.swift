import SignetProtocol
import SignetStorage
import SignetSystem

/// The server's readiness: the storage can be read, a change was stored durably, and there is a handshake key.
///
/// Each answer is from a check at most one second old, so frequent queries cause no further changes. Concurrent queries
/// share one check.
package actor Readiness {
  private let context: ServiceContext
  private var running: Task<String?, Never>?
  private var last: (end: Duration, failure: String?)?
  /// The number of checks, for tests.
  package private(set) var count = 0

  /// The time for which an answer is valid.
  private static let age: Duration = .seconds(1)

  /// - Parameter context: The context with the storage and the keys to check.
  package init(_ context: ServiceContext) { self.context = context }

  /// Returns the state of a server that is ready.
  ///
  /// - Throws: `Problem`: `busy`.
  nonisolated func answer() async throws -> ServerState {
    guard await failure() == nil else {
      throw Problem(
        .busy,
        "The database or the store of handshake keys cannot be read and written. See the server's log."
      )
    }
    return ServerState(status: "ready", version: Server.version)
  }

  /// Returns the reason why the server is not ready; `nil` if it is.
  package func failure() async -> String? {
    if let running { return await running.value }
    if let last, context.elapsed() - last.end < Self.age { return last.failure }
    let (context, now) = (context, context.clock.now)
    let task = Task { () -> String? in
      do throws(StorageFailure) { try await context.storage.checkReadiness(at: now) } catch {
        return error.description
      }
      do { _ = try context.handshakeKeys.current(at: now) } catch { return "handshake keys: \(error)" }
      return nil
    }
    (running, count) = (task, count + 1)
    let failure = await task.value
    logChange(failure, after: last?.failure)
    (running, last) = (nil, (context.elapsed(), failure))
    return failure
  }

  /// Logs each change once.
  private func logChange(_ failure: String?, after previous: String?) {
    if let failure {
      if previous != failure { context.log.error("ready.failed", ["cause": failure]) }
    } else if previous != nil {
      context.log.info("ready.restored")
    }
  }
}
