import SignetJSON

/// `inactivity`: the account was used within the last days, `{"days": 30}`, 1 to 90 of 24 hours each.
///
/// Being refused is no use: an account that is locked by this stays so until it is unlocked. While the wall clock is behind what
/// it has shown before, nobody can tell.
package struct InactivityPolicy: ImmediateAccountPolicy {
  /// `inactivity`.
  package let name = "inactivity"
  /// The policy.
  package init() {}

  /// `days` is 1 to 90.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try days(parameters)
  }

  private func days(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) -> Int64 {
    try parameters.integer("days", in: 1...90)
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    let days = try days(parameters)
    guard let seconds = evidence.secondsSinceUse, seconds >= 0 else {
      return .indeterminate(reason: "nobody can tell when the account was used")
    }
    if seconds > days * 86_400 {
      return .breached(
        reason: "the account was not used for \(seconds / 86_400) days; allowed are \(days)",
        evidence: ["secondsSinceUse": .integer(seconds), "days": .integer(days)])
    }
    if evidence.clockSetBack == true {
      return .indeterminate(reason: "the clock was set back, so nobody can tell when the account was used")
    }
    return .compliant
  }
}

/// `offlinePeriod`: the server of the account was reached within the last hours, `{"hours": 72}`, 1 to 8,760.
///
/// Where the wall clock was set back since then, the policy is broken, too: it is mended by reaching the server.
package struct OfflinePeriodPolicy: ImmediateAccountPolicy {
  /// `offlinePeriod`.
  package let name = "offlinePeriod"
  /// The policy.
  package init() {}

  /// `hours` is 1 to 8,760.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try hours(parameters)
  }

  private func hours(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) -> Int64 {
    try parameters.integer("hours", in: 1...8_760)
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    let hours = try hours(parameters)
    guard let seconds = evidence.secondsSinceContact, seconds >= 0 else {
      return .indeterminate(reason: "nobody can tell when the server was reached")
    }
    var facts: JSONObject = ["secondsSinceContact": .integer(seconds), "hours": .integer(hours)]
    if seconds > hours * 3_600 {
      return .breached(
        reason:
          "the server was not reached for \(seconds / 3_600) hours, allowed are \(hours); connect to it",
        evidence: facts)
    }
    if evidence.clockSetBack == true {
      facts["clockSetBack"] = true
      return .breached(
        reason: "the clock was set back since the server was reached; connect to it", evidence: facts)
    }
    return .compliant
  }
}
