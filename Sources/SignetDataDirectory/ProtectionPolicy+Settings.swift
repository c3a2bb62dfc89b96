import SignetJSON
import SignetPolicy
import SignetServer

extension ProtectionPolicy {
  /// Reads a policy in the operator's settings; error messages contain the path of the member.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  static func read(_ settings: SettingsObject) throws -> ProtectionPolicy {
    let type = try settings.read("type", Shape<String>.oneOf(typeNames))
    guard typeNamesWithPassword.contains(type) else {
      try settings.refuseMembers(except: ["type"])
      return try ProtectionPolicy(settings.object)
    }
    try settings.refuseMembers(except: ["type", "password", "lock"])
    let (password, lock) = (try settings.member("password"), try settings.member("lock"))
    try password.refuseMembers(except: PasswordPolicy.ruleNames)
    let lockType = try lock.read("type", Shape<String>.oneOf(LockPolicy.typeNames))
    try lock.refuseMembers(except: ["type"] + LockPolicy.ruleNames(ofType: lockType))
    if lock.object.contains("atLimit") {
      _ = try lock.read("atLimit", Shape<String>.oneOf(LimitConsequence.allCases.map(\.rawValue)))
    }
    do throws(PolicyFailure) { return try ProtectionPolicy(settings.object) } catch {
      let isOfLock = error.rules.first.map { LockPolicy.ruleNames().contains($0) } ?? false
      throw (isOfLock ? lock : password).refusal(error)
    }
  }
}

extension SettingsObject {
  /// Converts a failure of the policy reader, with the path of the rule.
  fileprivate func refusal(_ failure: PolicyFailure) -> ServerConfigurationFile.Refusal {
    switch failure {
    case .outOfRange(let rule, let value, let allowed):
      .reason("\"\(path).\(rule)\" must be \(allowed.lowerBound) to \(allowed.upperBound); found \(value)")
    case .malformed(let failure): refusal(failure)
    default: .reason("\"\(path)\": \(failure)")
    }
  }
}
