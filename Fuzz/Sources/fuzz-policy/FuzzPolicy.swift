import LibFuzzer
import SignetJSON
import SignetPolicy

@main struct FuzzPolicy {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkOpaqueString(input)
    checkPolicies(input)
    checkPolicyString(input)
    checkAccountPolicies(input)
    _ = policy.violations(ofUTF8: input).map(\.description)
  }

  private static func checkOpaqueString(_ input: [UInt8]) {
    let prepared = accepted { () throws(OpaqueStringFailure) in try OpaqueString.prepare(utf8: input) }
    if let text = String(validating: input, as: UTF8.self) {
      let same = accepted { () throws(OpaqueStringFailure) in try OpaqueString.prepare(text) }
      require(same == prepared, "bytes and text are prepared alike")
    } else {
      require(prepared == nil, "what is not UTF-8 is refused")
    }
    guard let prepared, prepared.count <= OpaqueString.maximumByteCount else { return }
    let again = made("what is prepared can be prepared") { () throws(OpaqueStringFailure) in
      try OpaqueString.prepare(utf8: prepared)
    }
    require(again == prepared, "preparing twice is preparing once")
  }

  private static func checkAccountPolicies(_ input: [UInt8]) {
    if let set = accepted({ () throws(AccountPolicyFailure) in try AccountPolicySet(parsing: input) }) {
      let again = made("printed account policies") { () throws(AccountPolicyFailure) in
        try AccountPolicySet(set.json)
      }
      require(again == set, "printing account policies loses nothing")
      let report = AccountPolicyEvaluator().evaluateAtOnce(set, AccountEvidence())
      var lock = AccountLock()
      lock.apply(report, at: 1)
      require(lock.isLocked == !report.isCompliant, "what is broken locks")
      let copy = made("a printed lock") { () throws(JSONFailure) in try AccountLock(lock.json) }
      require(copy == lock, "printing a lock loses nothing")
    }
    guard let json = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }) else { return }
    if let evidence = accepted({ () throws(JSONFailure) in try AccountEvidence(json) }) {
      let set = made("policies") { () throws(AccountPolicyFailure) in
        try AccountPolicySet(["deviceTampering": [:], "osVersion": ["linux": ["minimum": "6"]]])
      }
      _ = AccountPolicyEvaluator().evaluateAtOnce(set, evidence).breaches.map(\.description)
    }
    if let text = String(validating: input, as: UTF8.self), let version = SoftwareVersion(text) {
      require(!(version < version), "no version is before itself")
    }
  }

  private static func checkPolicyString(_ input: [UInt8]) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    let review = PolicyReview(string: text)
    require(review.isValid == (review.policy != nil), "a policy string is a policy unless an error is found")
    require(review.findings.count <= 2 * 4096, "a review is bounded")
    require(review.findings.allSatisfy { $0.description.utf8.count < 1000 }, "a finding is a sentence")
    let policy = accepted { () throws(PolicyFailure) in try ProtectionPolicy(string: text) }
    require(policy == review.policy, "the strict reader and the linter agree")
    guard let policy else { return }
    let again = made("a printed policy string") { () throws(PolicyFailure) in
      try ProtectionPolicy(string: policy.string)
    }
    require(again == policy, "printing a policy string loses nothing")
    require(again.string == policy.string, "a policy has one policy string")
    let fromJSON = made("a policy in JSON") { () throws(PolicyFailure) in try ProtectionPolicy(policy.json) }
    require(fromJSON == policy, "both forms say the same")
    checkPassword(policy.passwordPolicy, input)
  }

  private static func checkPolicies(_ input: [UInt8]) {
    guard let json = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }) else { return }
    if let policy = accepted({ () throws(PolicyFailure) in try ProtectionPolicy(json) }) {
      let again = made("a printed policy") { () throws(PolicyFailure) in try ProtectionPolicy(policy.json) }
      require(again == policy, "printing a protection policy loses nothing")
      checkPassword(policy.passwordPolicy, input)
    }
    if let policy = accepted({ () throws(PolicyFailure) in try PasswordPolicy(json) }) {
      let again = made("a printed policy") { () throws(PolicyFailure) in try PasswordPolicy(policy.json) }
      require(again == policy, "printing a password policy loses nothing")
      checkPassword(policy, input)
    }
    let review = PolicyReview(json)
    require(review.isValid || review.policy == nil, "an object with errors is no policy")
    _ = review.findings.map(\.description)
    if let policy = accepted({ () throws(PolicyFailure) in try LockPolicy(json) }) {
      let again = made("a printed policy") { () throws(PolicyFailure) in try LockPolicy(policy.json) }
      require(again == policy, "printing a lock policy loses nothing")
      let start = BootInstant(bootID: BootID(high: 1, low: 2), millisecondsSinceBoot: 0)
      for failed in [0, 1, 99, 100, 101, Int.max] {
        _ = policy.decision(after: AttemptState(failedCount: failed, lastAttempt: start), at: start)
      }
    }
  }

  private static func checkPassword(_ policy: PasswordPolicy?, _ input: [UInt8]) {
    guard let policy else { return }
    require(policy.minimumLength <= policy.maximumLength, "lengths are in order")
    let password = Array(input.suffix(policy.maximumLength))
    let violations = policy.violations(ofUTF8: password)
    _ = violations.map(\.description)
    if let text = String(validating: password, as: UTF8.self) {
      require(policy.violations(of: text) == violations, "bytes and text are judged alike")
    }
  }

  private static let policy = made("a policy") { () throws(PolicyFailure) in
    try PasswordPolicy(
      minimumLength: 4, maximumLength: 64, uppercase: CharacterCount(minimum: 1),
      digits: CharacterCount(minimum: 1, maximum: 8), maximumRepeats: 2)
  }
}
