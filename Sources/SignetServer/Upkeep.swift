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
    let audit = context.audit(by: "server")
    do throws(StorageFailure) {
      _ = try await context.storage.sweep(at: context.clock.now) {
        audit("transaction.expired", ["transaction": $0])
      }
    } catch {
      context.log.error("storage.failed", ["cause": error.description])
    }
  }
}
