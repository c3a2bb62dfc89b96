import SignetJSON

/// A policy that asks for one fact of the device.
///
/// It takes no parameters.
package struct DeviceFactPolicy: ImmediateAccountPolicy {
  /// `biometricAvailable`: a finger or a face can be matched.
  package static let biometricAvailable = DeviceFactPolicy(
    name: "biometricAvailable", fact: \.biometricAvailable,
    unknown: "nobody can tell whether a finger or a face can be matched",
    breach: "no finger or face can be matched; enrol one")

  /// `screenLock`: the device asks its user for a passcode.
  package static let screenLock = DeviceFactPolicy(
    name: "screenLock", fact: \.screenLock,
    unknown: "nobody can tell whether the device has a passcode",
    breach: "the device has no passcode; set one")

  /// The name of the policy, and of the fact in the evidence.
  package let name: String
  private let fact: any KeyPath<AccountEvidence, Bool?> & Sendable
  /// Why there is no result where the fact is not known.
  private let unknown: String
  /// What is wrong where the fact does not hold, and what to do.
  private let breach: String

  /// Accepts an object, whatever is in it.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try parameters.object()
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    try check(parameters)
    return switch evidence[keyPath: fact] {
    case nil: .indeterminate(reason: unknown)
    case true?: .compliant
    case false?: .breached(reason: breach, evidence: [name: false])
    }
  }
}

/// `hardwareKeystore`: keys are made by hardware that does not let them out.
///
/// `{"simulated": true}` accepts hardware that is a program, which is for tests.
package struct HardwareKeystorePolicy: ImmediateAccountPolicy {
  /// `hardwareKeystore`.
  package let name = "hardwareKeystore"
  /// `simulated`.
  package let parameterNames = ["simulated"]
  /// The policy.
  package init() {}

  /// `simulated` is `true` or `false`.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try parameters.flag("simulated")
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    let allowsSimulated = try parameters.flag("simulated")
    switch evidence.hardwareKeystore {
    case nil: return .indeterminate(reason: "nobody can tell what keeps the keys")
    case false?:
      return .breached(
        reason: "the keys are kept in files; use a device with a TPM or a Secure Enclave",
        evidence: ["hardwareKeystore": false])
    case true? where evidence.isKeystoreSimulated == true && !allowsSimulated:
      return .breached(
        reason: "the hardware that keeps the keys is a program",
        evidence: ["hardwareKeystore": true, "isKeystoreSimulated": true])
    case true?: return .compliant
    }
  }
}
