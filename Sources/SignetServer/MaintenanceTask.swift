package import SignetStorage
import SignetWire
import Synchronization

/// What a server does by itself: once a minute it marks expired transactions and forgets old request ids and keys of handshakes, and it
/// says when its certificate ends soon.
final class MaintenanceTask: Sendable {
  private static let interval: Duration = .seconds(60)
  private let context: ServiceContext
  private let certificateEnd: Mutex<Int64?>
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ context: ServiceContext, certificateEnd: Int64?) {
    self.context = context
    self.certificateEnd = Mutex(certificateEnd)
  }

  /// The server shows a certificate with another end from now on.
  func certificateEnds(at time: Int64) { certificateEnd.withLock { $0 = time } }

  func start() {
    let context = context
    let loop = Task { [self] in
      var end: Int64?
      var warning: CertificateWarning?
      await Self.lookAtSigningKeys(context)
      while !Task.isCancelled {
        let present = certificateEnd.withLock { $0 }
        if present != end { (end, warning) = (present, present.map(CertificateWarning.init)) }
        if let days = warning?.daysLeft(at: context.clock.now) {
          context.log.error(
            "certificate.ends",
            [
              "days": String(days),
              "advice":
                "renew it (signet-server certificate renew, or where it comes from), hand out the authority, and send SIGHUP to the server",
            ])
        }
        context.log.writeLeftOut()
        await Self.sweep(context)
        do { try context.handshakeKeys.forgetOld(at: context.clock.now) } catch {
          context.log.error("handshakes.failed", ["cause": "\(error)"])
        }
        // Cancelled where the server stops.
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

  /// Has the log name signing keys whose rows were altered or removed at the start, and not when something is to be signed.
  private static func lookAtSigningKeys(_ context: ServiceContext) async {
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
  /// Marks the transactions that have expired by now, and forgets what is not needed any more.
  ///
  /// - Parameter time: When now is, in seconds since 1970; what the clock says unless told.
  /// - Throws: `StorageFailure`.
  package func sweep(at time: Int64? = nil) async throws(StorageFailure) {
    let audit = Audit(by: .server, time: time ?? clock.now)
    _ = try await storage.sweep(at: audit.time) { audit(.transactionExpired(transaction: $0)) }
  }
}
