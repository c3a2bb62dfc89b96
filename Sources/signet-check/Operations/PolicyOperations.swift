import SignetJSON
import SignetPolicy

let policyOperations = [
  Operation(name: "password-check") { request in
    let policy = try request.passwordPolicy()
    let password = try request.string("password")
    let history = try request.members.optionalStrings("history") ?? []
    var violations = policy.violations(of: password)
    if policy.reuses(password, history: history) {
      let general = violations.firstIndex(of: .disallowedCharacter) ?? violations.endIndex
      violations.insert(.reused(history: policy.maximumHistory), at: general)
    }
    return [
      "valid": .bool(violations.isEmpty), "violations": .array(violations.map { .string($0.rule) }),
      "messages": .array(violations.map { .string($0.description) }),
    ]
  },
  Operation(name: "policy-lint") { request in
    let review = try request.policyReview()
    var profiles = JSONObject()
    if review.isValid {
      for profile in PolicyProfile.allCases {
        profiles[profile.rawValue] = .array(review.violations(of: profile).map { .object($0.json) })
      }
    }
    let findings = review.findings.filter { $0.severity != .profile }
    return [
      "valid": .bool(review.isValid), "findings": .array(findings.map { .object($0.json) }),
      "profiles": .object(profiles),
    ]
  },
]

extension PasswordPolicy {
  /// Decides whether a password is among the latest that must not be reused.
  ///
  /// - Parameters:
  ///   - password: The new one.
  ///   - history: Earlier ones, the oldest first.
  /// - Returns: Whether one of the last ``PasswordRules/maximumHistory`` has the same prepared form.
  fileprivate func reuses(_ password: String, history: [String]) -> Bool {
    guard let prepared = password.prepared else { return false }
    return history.suffix(rules.maximumHistory).contains { $0.prepared == prepared }
  }
}

extension String {
  /// The prepared form for key derivation; `nil` for a text that cannot be a password and so equals no earlier one.
  fileprivate var prepared: [UInt8]? {
    do { return try OpaqueString.prepare(self) } catch { return nil }
  }
}

extension Request {
  /// Reviews a policy string, or an object in the JSON form: a protection policy, or a password policy.
  fileprivate func policyReview() throws -> PolicyReview {
    switch try members.value("policy") {
    case .string(let text): PolicyReview(string: text)
    case .object(let object): PolicyReview(object)
    default: throw CheckFailure(invalid: "policy", "use a policy string or an object")
    }
  }

  /// Returns the policy for checking passwords; throws if it is invalid or has none.
  fileprivate func passwordPolicy() throws -> PasswordPolicy {
    let review = try policyReview()
    if let error = review.findings.first(where: { $0.severity == .error }) {
      throw CheckFailure("policy.invalid", error.description)
    }
    guard let policy = review.passwordPolicy else {
      throw CheckFailure("policy.noPassword", "the policy asks for no password")
    }
    guard !policy.checksDictionary else {
      throw CheckFailure("policy.dictionary", "there is no dictionary here; leave that rule out")
    }
    return policy
  }
}

extension PolicyFinding {
  fileprivate var json: JSONObject {
    var json = JSONObject()
    if let rule { json["rule"] = .string(rule) }
    if !conflictsWith.isEmpty { json["conflictsWith"] = .string(conflictsWith.joined(separator: ", ")) }
    json["severity"] = .string(severity.rawValue)
    if let clause { json["clause"] = .string(clause) }
    json["message"] = .string(message)
    return json
  }
}
