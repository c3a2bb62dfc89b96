public import SignetPolicy
import SignetVault

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Device {
  /// Returns the evidence over which the policies of a container are evaluated: that of this device and of the use of the container.
  ///
  /// The sources take as long as the system takes to answer, up to the time limit of ``AccountEvidenceCollector``.
  ///
  /// - Parameter container: The container.
  /// - Returns: The evidence.
  /// - Throws: ``SignetError`` of the vault.
  public func accountEvidence(for container: Container) async throws(SignetError) -> AccountEvidence {
    let state = try await accountState(of: container.id)
    return await evidence(for: state, since: container.created, isOfServer: true)
  }

  /// Collects evidence about this device; that about use and contact comes from the stored state.
  ///
  /// - Parameters:
  ///   - state: The stored state of the container or account.
  ///   - created: The creation time, in seconds since 1970; it counts as a use and a contact.
  ///   - isOfServer: True if there is a server that can be contacted.
  /// - Returns: The evidence.
  func evidence(
    for state: AccountState, since created: Int64, isOfServer: Bool
  ) async -> AccountEvidence {
    var evidence = await evidenceCollector.evidence()
    let now = vault.clock.now
    let used = state.used ?? AccountState.Moment(wallSeconds: created)
    evidence.secondsSinceUse = used.seconds(until: now)
    evidence.clockSetBack = used.isAhead(of: now)
    if isOfServer {
      let reached = state.reached ?? AccountState.Moment(wallSeconds: created)
      evidence.secondsSinceContact = reached.seconds(until: now)
      evidence.clockSetBack = used.isAhead(of: now) || reached.isAhead(of: now)
    }
    return evidence
  }

  /// The built-in sources of every device.
  static func builtInSources(
    vault: Vault, biometrics: (any BiometricGate)?, passcode: (any DevicePasscode)?, appVersion: String?
  ) -> [any AccountEvidenceSource] {
    [
      BuiltInEvidence(name: "system") {
        var evidence = AccountEvidence()
        (evidence.osName, evidence.osVersion) = (Self.platform, systemVersion)
        evidence.appVersion = appVersion
        return evidence
      },
      BuiltInEvidence(name: "keystore") {
        var evidence = AccountEvidence()
        let status = try await vault.keystoreStatus()
        evidence.hardwareKeystore = status.kind != .software
        evidence.isKeystoreSimulated = status.isSimulator
        return evidence
      },
      BuiltInEvidence(name: "biometrics") {
        var evidence = AccountEvidence()
        if case .ready? = try await biometrics?.state() {
          evidence.biometricAvailable = true
        } else {
          evidence.biometricAvailable = false
        }
        return evidence
      },
      BuiltInEvidence(name: "passcode") {
        var evidence = AccountEvidence()
        // Without a passcode gate, the device does not know the fact.
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

/// A source of the device itself.
private struct BuiltInEvidence: AccountEvidenceSource {
  let name: String
  let find: @Sendable () async throws -> AccountEvidence

  func evidence() async throws -> AccountEvidence { try await find() }
}
