import SignetJSON

/// `deviceTampering`: the tamper score is below a threshold, `{"score": 0.8}`.
///
/// A score of the threshold breaks it. Without `score` the threshold is 0.8. Where there is no score, or one that is none, the
/// account is locked: whoever tampers with a device would begin with what measures it.
package struct DeviceTamperingPolicy: ImmediateAccountPolicy {
  /// The threshold where none is asked for.
  package static let standardThreshold = 0.8

  /// `deviceTampering`.
  package let name = "deviceTampering"
  /// `score`.
  package let parameterNames = ["score"]
  /// The account is locked.
  package let whenIndeterminate = IndeterminateReaction.lock
  /// The policy.
  package init() {}

  /// `score` is above 0 and at most 1.
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
      return .indeterminate(reason: "nothing has measured whether the device was tampered with")
    }
    guard score >= 0, score <= 1 else {
      return .indeterminate(reason: "the tamper score is out of its range, 0 to 1")
    }
    guard score >= threshold else { return .compliant }
    var facts: JSONObject = ["tamperScore": .number(score), "threshold": .number(threshold)]
    if let findings = evidence.json["tamperFindings"] { facts["tamperFindings"] = findings }
    return .breached(
      reason:
        "the device seems to have been tampered with: its score is \(score), allowed is less than \(threshold)",
      evidence: facts)
  }
}
