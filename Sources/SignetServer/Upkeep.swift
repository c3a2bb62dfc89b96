package import SignetStorage
import SignetWire
import Synchronization

/// What a server does by itself: once a minute it marks expired transactions and forgets old request ids, and it says when its
/// certificate ends soon.
final class Upkeep: Sendable {
  private static let interval: Duration = .seconds(60)
  private let context: ServiceContext
  private let certificateEnd: Int64?
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ context: ServiceContext, certificateEnd: Int64?) {
    (self.context, self.certificateEnd) = (context, certificateEnd)
  }

  func start() {
    let context = context
    let end = certificateEnd
    let loop = Task {
      var warning = end.map(CertificateWarning.init)
      while !Task.isCancelled {
        if let days = warning?.daysLeft(at: context.clock.now) {
          context.log.error(
            "certificate.ends",
            [
              "days": String(days),
              "advice":
                "renew it (signet-server certificate renew), hand out the authority, and start the server again",
            ])
        }
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
  package func sweep() async throws(StorageFailure) {
    let audit = audit(by: "server")
    _ = try await storage.sweep(at: audit.time) { audit("transaction.expired", ["transaction": $0]) }
  }
}
