import SignetStorage
import SignetWire
import Synchronization

/// What a server does by itself: once a minute it marks expired transactions and forgets old request ids.
final class Upkeep: Sendable {
  private static let interval: Duration = .seconds(60)
  private let context: ServiceContext
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ context: ServiceContext) { self.context = context }

  func start() {
    let context = context
    let loop = Task {
      while !Task.isCancelled {
        await Self.sweep(context)
        do { try await Task.sleep(for: Self.interval) } catch { return }  // cancelled: the server stops
      }
    }
    task.withLock { $0 = loop }
  }

  func stop() async {
    let loop = task.withLock { $0 }
    loop?.cancel()
    await loop?.value
  }

  private static func sweep(_ context: ServiceContext) async {
    do throws(StorageFailure) { try await context.sweep() } catch {
      context.log.error("storage.failed", ["cause": error.description])
    }
  }
}

extension ServiceContext {
  /// Marks the transactions that have expired by now, and forgets what is not needed any more.
  func sweep() async throws(StorageFailure) {
    let audit = audit(by: "server")
    _ = try await storage.sweep(at: audit.time) { audit("transaction.expired", ["transaction": $0]) }
  }
}
