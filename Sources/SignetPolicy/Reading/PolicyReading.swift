import SignetJSON

/// A policy as it was read, sound or not.
///
/// Everything that makes a policy from outside text goes through here: the strict readers throw the first failure, and
/// ``PolicyReview`` reports all of them.
struct PolicyReading {
  /// What opens the object, as in the JSON form; `nil` where only the rules of a password were given.
  var type: String?
  /// The rules of a password; `nil` where the type has none.
  var password: PasswordRules?
  /// What failures cost; `nil` where the type has no password, or the lock could not be read.
  var lock: LockPolicy?
  /// What is wrong with the form, then with single numbers, then contradictions.
  var failures: [PolicyFailure] = []
  /// What is doubtful about the form.
  var remarks: [PolicyFinding] = []

  static let typesWithPassword = ["password", "biometricOrPassword", "deviceLockOrPassword"]
  static let typesWithout = ["device", "biometric", "devicePasscode"]

  /// Reads the JSON form of a protection policy.
  init(_ json: JSONObject) {
    var source = JSONPolicySource(json)
    defer { failures = source.failures + failures + contradictions() }
    guard let type = source.word(.type) else {
      source.missing(.type)
      return
    }
    self.type = type
    guard Self.typesWithPassword.contains(type) else {
      guard Self.typesWithout.contains(type) else {
        source.failures.append(.unknownType(type))
        return
      }
      source.allow(only: [PolicyRule.type.rawValue])
      return
    }
    source.allow(only: [PolicyRule.type.rawValue, "password", "lock"])
    if let object = source.object("password") {
      var inner = JSONPolicySource(object)
      password = PasswordRules(reading: &inner)
      failures += inner.failures
    }
    if let object = source.object("lock") {
      var inner = JSONPolicySource(object)
      lock = LockPolicy(reading: &inner)
      failures += inner.failures
    }
  }

  /// Reads the JSON form of a password policy alone.
  init(passwordRules json: JSONObject) {
    var source = JSONPolicySource(json)
    password = PasswordRules(reading: &source)
    failures = source.failures + contradictions()
  }

  /// Reads a policy string.
  init(text: String) {
    var source = TextPolicySource(text)
    defer {
      failures = source.failures + contradictions()
      remarks = source.remarks
    }
    let type = source.word(.type) ?? "password"
    self.type = type
    if Self.typesWithPassword.contains(type) {
      password = PasswordRules(reading: &source)
      lock = source.hasLock ? LockPolicy(reading: &source) : .standard
    } else if Self.typesWithout.contains(type) {
      source.allow(only: [.type], among: PolicyRule.allCases)
    } else {
      source.failures.append(.unknownType(type))
    }
  }

  /// What could not be read at all.
  init(failure: PolicyFailure) { failures = [failure] }

  /// Takes a policy that is sound.
  init(_ policy: ProtectionPolicy) {
    type = policy.typeName
    password = policy.passwordPolicy?.rules
    lock = password == nil ? nil : policy.lockPolicy
    failures = contradictions()
  }

  /// The policy, unless something is wrong.
  func policy() throws(PolicyFailure) -> ProtectionPolicy {
    if let failure = failures.first { throw failure }
    switch type {
    case "device": return .device
    case "biometric": return .biometric
    case "devicePasscode": return .devicePasscode
    default: break
    }
    guard let password, let lock else { throw .malformed(.missingMember(PolicyRule.type.rawValue)) }
    let passwordPolicy = try PasswordPolicy(password)
    switch type {
    case "password": return .password(passwordPolicy, lock)
    case "biometricOrPassword": return .biometricOrPassword(passwordPolicy, lock)
    case "deviceLockOrPassword": return .deviceLockOrPassword(passwordPolicy, lock)
    default: throw .malformed(.missingMember(PolicyRule.type.rawValue))
    }
  }

  private func contradictions() -> [PolicyFailure] {
    (password?.failures ?? []) + (lock?.failures ?? [])
  }
}
