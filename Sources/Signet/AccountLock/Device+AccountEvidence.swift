public import SignetPolicy
import SignetVault

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Device {
  /// What is known of this device now, and of the use of one container: what its policies are evaluated over.
  ///
  /// Finding out takes as long as the system says, and no longer than ``AccountEvidenceCollector`` waits.
  ///
  /// - Parameter container: Which one.
  /// - Returns: The facts.
  /// - Throws: ``SignetFailure`` of the vault.
  public func accountEvidence(for container: Container) async throws(SignetFailure) -> AccountEvidence {
    let notes = try await accountNotes(of: container.id)
    return await evidence(for: notes, since: container.created, isOfServer: true)
  }

  /// What is known of this device now; of a use and of a server, what the notes say.
  ///
  /// - Parameters:
  ///   - notes: Those of the container or the account.
  ///   - created: When it was made, in seconds since 1970, which counts as a use and a contact.
  ///   - isOfServer: Whether there is a server that could be reached.
  /// - Returns: The facts.
  func evidence(
    for notes: AccountNotes, since created: Int64, isOfServer: Bool
  ) async -> AccountEvidence {
    var evidence = await evidenceCollector.evidence()
    let now = vault.clock.now
    let used = notes.used ?? AccountNotes.Moment(wallSeconds: created)
    evidence.secondsSinceUse = used.seconds(until: now)
    evidence.clockSetBack = used.isAhead(of: now)
    if isOfServer {
      let reached = notes.reached ?? AccountNotes.Moment(wallSeconds: created)
      evidence.secondsSinceContact = reached.seconds(until: now)
      evidence.clockSetBack = used.isAhead(of: now) || reached.isAhead(of: now)
    }
    return evidence
  }

  /// The sources that every device has.
  static func ownSources(
    vault: Vault, biometrics: (any BiometricGate)?, passcode: (any DevicePasscode)?, appVersion: String?
  ) -> [any AccountEvidenceSource] {
    [
      OwnEvidence(name: "system") {
        var evidence = AccountEvidence()
        (evidence.osName, evidence.osVersion) = (Self.platform, systemVersion)
        evidence.appVersion = appVersion
        return evidence
      },
      OwnEvidence(name: "keystore") {
        var evidence = AccountEvidence()
        let status = try await vault.keystoreStatus()
        evidence.hardwareKeystore = status.kind != .software
        evidence.isKeystoreSimulated = status.isSimulator
        return evidence
      },
      OwnEvidence(name: "biometrics") {
        var evidence = AccountEvidence()
        if case .ready? = try await biometrics?.state() {
          evidence.biometricAvailable = true
        } else {
          evidence.biometricAvailable = false
        }
        return evidence
      },
      OwnEvidence(name: "passcode") {
        var evidence = AccountEvidence()
        // A device that was given nothing to ask does not know.
        if let passcode { evidence.screenLock = await passcode.state() == .ready }
        return evidence
      },
    ]
  }

  private static var systemVersion: String {
    let version = ProcessInfo.processInfo.operatingSystemVersion
    return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
  }
}

/// What the device itself knows.
private struct OwnEvidence: AccountEvidenceSource {
  let name: String
  let find: @Sendable () async throws -> AccountEvidence

  func evidence() async throws -> AccountEvidence { try await find() }
}
