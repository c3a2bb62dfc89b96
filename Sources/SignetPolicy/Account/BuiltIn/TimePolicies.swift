import SignetJSON

/// A policy of how much time may pass since something, which is its one parameter.
package protocol ElapsedTimePolicy: ImmediateAccountPolicy {
  /// The parameter: its name, which is the unit that it counts in, and what it may be.
  var limit: (name: String, allowed: ClosedRange<Int64>) { get }

  /// What the time has passed since, such as `the account was used`.
  var event: String { get }

  /// How long ago that is, in seconds; `nil` where nobody can tell.
  func secondsSinceEvent(_ evidence: AccountEvidence) -> Int64?

  /// Decides.
  ///
  /// - Parameters:
  ///   - seconds: How long ago it is, 0 or more.
  ///   - limit: How many of the unit are allowed.
  ///   - clockSetBack: Whether the wall clock was set back since then.
  /// - Returns: The verdict.
  func verdict(seconds: Int64, limit: Int64, clockSetBack: Bool) -> AccountPolicyVerdict
}

extension ElapsedTimePolicy {
  /// That of the limit.
  package var parameterNames: [String] { [limit.name] }

  /// The parameter is there, and in its range.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try parameters.integer(limit.name, in: limit.allowed)
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    let allowed = try parameters.integer(limit.name, in: limit.allowed)
    guard let seconds = secondsSinceEvent(evidence), seconds >= 0 else {
      return .indeterminate(reason: "nobody can tell when \(event)")
    }
    return verdict(seconds: seconds, limit: allowed, clockSetBack: evidence.clockSetBack == true)
  }
}

/// `inactivity`: the account was used within the last days, `{"days": 30}`, 1 to 90 of 24 hours each.
///
/// Being refused is no use: an account that is locked by this stays so until it is unlocked. While the wall clock is behind what
/// it has shown before, nobody can tell.
package struct InactivityPolicy: ElapsedTimePolicy {
  /// `inactivity`.
  package static let policyName = "inactivity"
  package let name = policyName
  /// `days`, 1 to 90.
  package let limit = (name: "days", allowed: Int64(1)...90)
  package let event = "the account was used"
  /// The policy.
  package init() {}

  package func secondsSinceEvent(_ evidence: AccountEvidence) -> Int64? { evidence.secondsSinceUse }

  package func verdict(seconds: Int64, limit days: Int64, clockSetBack: Bool) -> AccountPolicyVerdict {
    if seconds > days * 86_400 {
      return .breached(
        reason: "the account was not used for \(seconds / 86_400) days; allowed are \(days)",
        evidence: ["secondsSinceUse": .integer(seconds), "days": .integer(days)])
    }
    if clockSetBack {
      return .indeterminate(reason: "the clock was set back, so nobody can tell when \(event)")
    }
    return .compliant
  }
}

/// `offlinePeriod`: the server of the account was reached within the last hours, `{"hours": 72}`, 1 to 8,760.
///
/// Where the wall clock was set back since then, the policy is broken, too: it is mended by reaching the server.
package struct OfflinePeriodPolicy: ElapsedTimePolicy {
  /// `offlinePeriod`.
  package static let policyName = "offlinePeriod"
  package let name = policyName
  /// `hours`, 1 to 8,760.
  package let limit = (name: "hours", allowed: Int64(1)...8_760)
  package let event = "the server was reached"
  /// The policy.
  package init() {}

  package func secondsSinceEvent(_ evidence: AccountEvidence) -> Int64? { evidence.secondsSinceContact }

  package func verdict(seconds: Int64, limit hours: Int64, clockSetBack: Bool) -> AccountPolicyVerdict {
    var facts: JSONObject = ["secondsSinceContact": .integer(seconds), "hours": .integer(hours)]
    if seconds > hours * 3_600 {
      return .breached(
        reason:
          "the server was not reached for \(seconds / 3_600) hours, allowed are \(hours); connect to it",
        evidence: facts)
    }
    if clockSetBack {
      facts["clockSetBack"] = true
      return .breached(
        reason: "the clock was set back since \(event); connect to it", evidence: facts)
    }
    return .compliant
  }
}
