import SignetJSON

/// A policy that limits the time since an event; the limit is its only parameter.
package protocol ElapsedTimePolicy: ImmediateAccountPolicy {
  /// The parameter: its name, which is also its unit, and its allowed values.
  var limit: (name: String, allowed: ClosedRange<Int64>) { get }

  /// The event, such as `the account was used`.
  var event: String { get }

  /// Returns the seconds since the event; `nil` if unknown.
  func secondsSinceEvent(_ evidence: AccountEvidence) -> Int64?

  /// Evaluates the policy.
  ///
  /// - Parameters:
  ///   - seconds: Seconds since the event, 0 or more.
  ///   - limit: The limit, in the parameter's unit.
  ///   - clockSetBack: True if the wall clock was set back since the event.
  /// - Returns: The verdict.
  func verdict(seconds: Int64, limit: Int64, clockSetBack: Bool) -> AccountPolicyVerdict
}

extension ElapsedTimePolicy {
  package var parameterNames: [String] { [limit.name] }

  /// Requires the parameter to be present and in its range.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try parameters.integer(limit.name, in: limit.allowed)
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    let allowed = try parameters.integer(limit.name, in: limit.allowed)
    guard let seconds = secondsSinceEvent(evidence), seconds >= 0 else {
      return .indeterminate(reason: "it is unknown when \(event)")
    }
    return verdict(seconds: seconds, limit: allowed, clockSetBack: evidence.clockSetBack == true)
  }
}

/// `inactivity`: the account was used within the last days, `{"days": 30}`, 1 to 90 days of 24 hours.
///
/// A refused operation does not count as use: a lock by this policy stays until it is unlocked. While the wall clock is
/// behind a time that it has shown before, the policy has no result.
package struct InactivityPolicy: ElapsedTimePolicy {
  package static let policyName = "inactivity"
  package let name = policyName
  /// `days`, 1 to 90.
  package let limit = (name: "days", allowed: Int64(1)...90)
  package let event = "the account was used"
  package init() {}

  package func secondsSinceEvent(_ evidence: AccountEvidence) -> Int64? { evidence.secondsSinceUse }

  package func verdict(seconds: Int64, limit days: Int64, clockSetBack: Bool) -> AccountPolicyVerdict {
    if seconds > days * 86_400 {
      return .breached(
        reason: "the account was not used for \(seconds / 86_400) days; allowed are \(days)",
        evidence: ["secondsSinceUse": .integer(seconds), "days": .integer(days)])
    }
    if clockSetBack {
      return .indeterminate(reason: "the clock was set back, so it is unknown when \(event)")
    }
    return .compliant
  }
}

/// `offlinePeriod`: the server of the account was reached within the last hours, `{"hours": 72}`, 1 to 8,760.
///
/// The policy is also broken if the wall clock was set back since then. Contact with the server repairs both.
package struct OfflinePeriodPolicy: ElapsedTimePolicy {
  package static let policyName = "offlinePeriod"
  package let name = policyName
  /// `hours`, 1 to 8,760.
  package let limit = (name: "hours", allowed: Int64(1)...8_760)
  package let event = "the server was reached"
  package init() {}

  package func secondsSinceEvent(_ evidence: AccountEvidence) -> Int64? { evidence.secondsSinceContact }

  package func verdict(seconds: Int64, limit hours: Int64, clockSetBack: Bool) -> AccountPolicyVerdict {
    var details: JSONObject = ["secondsSinceContact": .integer(seconds), "hours": .integer(hours)]
    if seconds > hours * 3_600 {
      return .breached(
        reason:
          "the server was not reached for \(seconds / 3_600) hours, allowed are \(hours); connect to it",
        evidence: details)
    }
    if clockSetBack {
      details["clockSetBack"] = true
      return .breached(
        reason: "the clock was set back since \(event); connect to it", evidence: details)
    }
    return .compliant
  }
}
