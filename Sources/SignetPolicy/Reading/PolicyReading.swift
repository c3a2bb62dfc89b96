import SignetJSON

/// The result of reading a policy, valid or not.
///
/// All policies from external text pass through here: the strict readers throw the first failure, and ``PolicyReview``
/// reports all.
struct PolicyReading {
  /// The type, as in the JSON form; `nil` if only the rules of a password were read.
  var type: String?
  /// The rules of a password; `nil` if the type has none.
  var password: PasswordRules?
  /// The lock policy; `nil` if the type has no password, or the lock could not be read.
  var lock: LockPolicy?
  /// Errors in the form, then numbers out of range, then contradictions.
  var failures: [PolicyFailure] = []
  /// Doubtful points in the form.
  var remarks: [PolicyFinding] = []

  /// Reads the JSON form of a protection policy.
  init(_ json: JSONObject) {
    let source = JSONPolicySource(json)
    defer { failures = source.failures + failures + contradictions() }
    guard let type = source.word(.type) else {
      source.missing(.type, default: nil)
      return
    }
    self.type = type
    guard let row = ProtectionType.rows.first(where: { $0.name == type }) else {
      source.failures.append(.unknownType(type))
      return
    }
    guard row.alone == nil else {
      source.allow(only: [PolicyRule.type.member])
      return
    }
    source.allow(only: [PolicyRule.type.member, "password", "lock"])
    if let object = source.object("password") {
      let inner = JSONPolicySource(object)
      password = PasswordRules(reading: inner)
      failures += inner.failures
    }
    if let object = source.object("lock") {
      let inner = JSONPolicySource(object)
      lock = LockPolicy(reading: inner)
      failures += inner.failures
    }
  }

  /// Reads the JSON form of a password policy.
  init(passwordRules json: JSONObject) {
    let source = JSONPolicySource(json)
    password = PasswordRules(reading: source)
    failures = source.failures + contradictions()
  }

  init(text: String) {
    let source = TextPolicySource(text)
    defer {
      failures = source.failures + contradictions()
      remarks = source.remarks
    }
    let type = source.word(.type) ?? "password"
    self.type = type
    guard let row = ProtectionType.rows.first(where: { $0.name == type }) else {
      source.failures.append(.unknownType(type))
      return
    }
    guard row.alone == nil else {
      source.allow(only: [.type], among: PolicyRule.all)
      return
    }
    password = PasswordRules(reading: source)
    lock = source.hasLock ? LockPolicy(reading: source) : .standard
  }

  /// Records that the text could not be read.
  init(failure: PolicyFailure) { failures = [failure] }

  init(_ policy: ProtectionPolicy) {
    type = policy.typeName
    password = policy.passwordPolicy?.rules
    lock = password == nil ? nil : policy.lockPolicy
    failures = contradictions()
  }

  /// Returns the policy; throws the first failure.
  func policy() throws(PolicyFailure) -> ProtectionPolicy {
    if let failure = failures.first { throw failure }
    let row = ProtectionType.rows.first { $0.name == type }
    if let alone = row?.alone { return alone }
    guard let make = row?.withPassword, let password, let lock else {
      throw .malformed(.missingMember(PolicyRule.type.member))
    }
    return make(try PasswordPolicy(password), lock)
  }

  private func contradictions() -> [PolicyFailure] {
    (password?.failures ?? []) + (lock?.failures ?? [])
  }
}
