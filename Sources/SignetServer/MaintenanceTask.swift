import SignetProtocol
package import SignetStorage
import SignetSystem
import Synchronization

/// The server's periodic work, once a minute.
///
/// It marks expired transactions, deletes old request ids and handshake keys, and warns before the certificate expires.
final class MaintenanceTask: Sendable {
  private static let interval: Duration = .seconds(60)
  private let context: ServiceContext
  private let certificateEnd: Mutex<Int64?>
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ context: ServiceContext, certificateEnd: Int64?) {
    self.context = context
    self.certificateEnd = Mutex(certificateEnd)
  }

  func certificateEnds(at time: Int64) { certificateEnd.withLock { $0 = time } }

  func start() {
    let context = context
    let loop = Task { [self] in
      var end: Int64?
      var warning: CertificateWarning?
      await Self.checkSigningKeys(context)
      while !Task.isCancelled {
        let current = certificateEnd.withLock { $0 }
        if current != end { (end, warning) = (current, current.map(CertificateWarning.init)) }
        if let days = warning?.daysLeft(at: context.clock.now) {
          context.log.error(
            "certificate.ends",
            [
              "days": String(days),
              "advice":
                "renew it (signet-server certificate renew, or at its issuer), distribute the authority's certificate, and send SIGHUP to the server",
            ])
        }
        context.log.writeLeftOut()
        await Self.sweep(context)
        do { try context.handshakeKeys.forgetOld(at: context.clock.now) } catch {
          context.log.error("handshakes.failed", ["cause": "\(error)"])
        }
        // The sleep throws when the server stops.
        do { try await context.timer.sleep(for: Self.interval) } catch { return }
      }
    }
    task.withLock { $0 = loop }
  }

  func stop() async {
    let loop = task.withLock { $0 }
    loop?.cancel()
    await loop?.value
  }

  /// Logs signing keys whose rows were altered or removed, at the start and not only at the first signature.
  private static func checkSigningKeys(_ context: ServiceContext) async {
    do { _ = try await SigningKeyService(context).records() } catch {
      context.log.error("storage.failed", ["cause": "\(error)"])
    }
  }

  private static func sweep(_ context: ServiceContext) async {
    do throws(StorageFailure) { try await context.sweep() } catch {
      context.log.error("storage.failed", ["cause": error.description])
    }
  }
}

extension ServiceContext {
  /// Marks expired transactions and deletes rows that are no longer needed.
  ///
  /// - Parameter time: The time, in seconds since 1970; `nil` for the clock's.
  /// - Throws: `StorageFailure`.
  package func sweep(at time: Int64? = nil) async throws(StorageFailure) {
    let audit = Audit(by: .server, time: time ?? clock.now)
    _ = try await storage.sweep(at: audit.time) { audit(.transactionExpired(transaction: $0)) }
  }
}
