import SignetJSON

/// `deviceTampering`: the tamper score must be below a threshold, `{"score": 0.8}`.
///
/// A score equal to the threshold breaks the policy. The default threshold is 0.8. Without a valid score the account is
/// locked: an attacker who tampers with a device would first disable the measurement.
package struct DeviceTamperingPolicy: ImmediateAccountPolicy {
  package static let standardThreshold = 0.8

  package let name = "deviceTampering"
  package let parameterNames = ["score"]
  /// The account is locked if the score is missing or out of range.
  package let whenIndeterminate = IndeterminateReaction.lock
  package init() {}

  /// Accepts a `score` above 0 and at most 1.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try threshold(parameters)
  }

  private func threshold(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) -> Double {
    try parameters.number(
      "score", where: { $0 > 0 && $0 <= 1 }, expected: "a number above 0 and at most 1")
      ?? Self.standardThreshold
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    let threshold = try threshold(parameters)
    guard let score = evidence.tamperScore else {
      return .indeterminate(reason: "no tamper score of the device is available")
    }
    guard score >= 0, score <= 1 else {
      return .indeterminate(reason: "the tamper score is out of its range, 0 to 1")
    }
    guard score >= threshold else { return .compliant }
    var details: JSONObject = ["tamperScore": .number(score), "threshold": .number(threshold)]
    if let findings = evidence.json["tamperFindings"] { details["tamperFindings"] = findings }
    return .breached(
      reason:
        "the device seems to have been tampered with: its score is \(score), allowed is less than \(threshold)",
      evidence: details)
  }
}
