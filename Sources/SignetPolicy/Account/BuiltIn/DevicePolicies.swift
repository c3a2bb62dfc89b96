import SignetJSON

/// `biometricAvailable`: a finger or a face can be matched.
///
/// It takes no parameters.
package struct BiometricAvailablePolicy: ImmediateAccountPolicy {
  /// `biometricAvailable`.
  package let name = "biometricAvailable"
  /// The policy.
  package init() {}

  /// Accepts an object, whatever is in it.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try parameters.object()
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    try check(parameters)
    return switch evidence.biometricAvailable {
    case nil: .indeterminate(reason: "nobody can tell whether a finger or a face can be matched")
    case true?: .compliant
    case false?:
      .breached(
        reason: "no finger or face can be matched; enrol one", evidence: ["biometricAvailable": false])
    }
  }
}

/// `screenLock`: the device asks its user for a passcode.
///
/// It takes no parameters.
package struct ScreenLockPolicy: ImmediateAccountPolicy {
  /// `screenLock`.
  package let name = "screenLock"
  /// The policy.
  package init() {}

  /// Accepts an object, whatever is in it.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try parameters.object()
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    try check(parameters)
    return switch evidence.screenLock {
    case nil: .indeterminate(reason: "nobody can tell whether the device has a passcode")
    case true?: .compliant
    case false?: .breached(reason: "the device has no passcode; set one", evidence: ["screenLock": false])
    }
  }
}

/// `hardwareKeystore`: keys are made by hardware that does not let them out.
///
/// `{"simulated": true}` accepts hardware that is a program, which is for tests.
package struct HardwareKeystorePolicy: ImmediateAccountPolicy {
  /// `hardwareKeystore`.
  package let name = "hardwareKeystore"
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
