import SignetJSON

/// A policy that requires one property of the device to be true.
///
/// It has no parameters.
package struct DevicePropertyPolicy: ImmediateAccountPolicy {
  /// `biometricAvailable`: a finger or a face can be matched.
  package static let biometricAvailable = DevicePropertyPolicy(
    name: "biometricAvailable", property: \.biometricAvailable,
    unknown: "it is unknown whether a finger or a face can be matched",
    breach: "no finger or face can be matched; enrol one")

  /// `screenLock`: the device asks its user for a passcode.
  package static let screenLock = DevicePropertyPolicy(
    name: "screenLock", property: \.screenLock,
    unknown: "it is unknown whether the device has a passcode",
    breach: "the device has no passcode; set one")

  /// The name of the policy, and of the property in the evidence.
  package let name: String
  private let property: any KeyPath<AccountEvidence, Bool?> & Sendable
  /// The reason of the indeterminate verdict.
  private let unknown: String
  /// The reason of the breach, with the remedy.
  private let breach: String

  /// Accepts any object.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try parameters.object()
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    try check(parameters)
    return switch evidence[keyPath: property] {
    case nil: .indeterminate(reason: unknown)
    case true?: .compliant
    case false?: .breached(reason: breach, evidence: [name: false])
    }
  }
}

/// `hardwareKeystore`: hardware generates the keys and does not let them out.
///
/// `{"simulated": true}` also accepts simulated hardware, for tests.
package struct HardwareKeystorePolicy: ImmediateAccountPolicy {
  package let name = "hardwareKeystore"
  package let parameterNames = ["simulated"]
  package init() {}

  /// Accepts `simulated` as `true` or `false`.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try parameters.flag("simulated")
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    let allowsSimulated = try parameters.flag("simulated")
    switch evidence.hardwareKeystore {
    case nil: return .indeterminate(reason: "it is unknown which keystore protects the keys")
    case false?:
      return .breached(
        reason: "the keys are kept in files; use a device with a TPM or a Secure Enclave",
        evidence: ["hardwareKeystore": false])
    case true? where evidence.isKeystoreSimulated == true && !allowsSimulated:
      return .breached(
        reason: "the keystore is simulated by a program; use a device with a hardware keystore",
        evidence: ["hardwareKeystore": true, "isKeystoreSimulated": true])
    case true?: return .compliant
    }
  }
}
