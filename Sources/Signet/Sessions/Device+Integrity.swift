import SignetIntegrity
import SignetVault
import Synchronization

extension Device {
  /// Checks for tampering before keys are opened, if the app has set up integrity guards.
  ///
  /// If the reaction is to lock or to wipe, all sessions of this device are locked and the password cache is wiped.
  ///
  /// - Throws: ``SignetError/integrity(_:)`` if the reaction is more than to report.
  package func requireIntegrity() async throws(SignetError) {
    guard let integrity else { return }
    do throws(IntegrityFailure) {
      try await integrity.admit(locking: {
        clearPasswordCache(because: .tampered)
        for session in sessions.all { session.lock(because: .tampered) }
      })
    } catch { throw .integrity(error) }
  }
}

/// The sessions of a device that are still in use.
final class OpenSessions: Sendable {
  private struct Reference { weak var session: Session? }
  private let references = Mutex<[Reference]>([])

  func add(_ session: Session) {
    references.withLock { references in
      references.removeAll { $0.session == nil }
      references.append(Reference(session: session))
    }
  }

  var all: [Session] { references.withLock { $0.compactMap(\.session) } }
}
