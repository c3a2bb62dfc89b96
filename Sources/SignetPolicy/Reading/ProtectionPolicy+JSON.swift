public import SignetJSON

// The JSON form of policies: the server sends it, the vault stores it, and operators write it.

extension ProtectionPolicy {
  /// Reads `{"type":"device"}`, or `{"type":"password","password":{…},"lock":{…}}`.
  ///
  /// The types are `device`, `biometric`, `devicePasscode`, and with a password `password`, `biometricOrPassword` and
  /// `deviceLockOrPassword`.
  ///
  /// - Parameter json: `type`, and for the types with a password both `password` and `lock`; nothing else.
  /// - Throws: ``PolicyFailure`` with the names of the rules at fault: the first failure that a ``PolicyReview`` finds.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    self = try PolicyReading(json).policy()
  }

  /// The JSON form; reading it gives the same policy.
  public var json: JSONObject {
    guard let passwordPolicy else { return ["type": .string(typeName)] }
    return [
      "type": .string(typeName), "password": .object(passwordPolicy.json), "lock": .object(lockPolicy.json),
    ]
  }

  /// The `type` of the JSON form.
  public var typeName: String { type.name }
}

extension LockPolicy {
  /// Reads a lock policy, such as `{"type":"lock","limit":5}`.
  ///
  /// | type | members |
  /// |---|---|
  /// | `none`, `silent` | none |
  /// | `lock` | `limit`, in ``allowedLimits``; `atLimit`: `lockOut` (the default) or `wipe` |
  /// | `delay` | `delay` in seconds, `counter` in ``allowedCounters`` |
  /// | `coolDown` | `waits`: seconds after each failure but the last, 1 to 99 numbers; `atLimit` |
  ///
  /// - Parameter json: `type` and the members above; nothing else.
  /// - Throws: ``PolicyFailure``.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    let source = JSONPolicySource(json)
    let lock = LockPolicy(reading: source)
    if let failure = source.failures.first { throw failure }
    guard let lock else { throw .malformed(.missingMember(PolicyRule.lockType.member)) }
    try lock.validate()
    self = lock
  }

  /// The JSON form; reading it gives the same policy, if the policy is valid.
  public var json: JSONObject {
    LockRules(self).written(always: .alwaysInJSON).reduce(into: ["type": .string(typeName)]) {
      $0[$1.rule.member] = $1.value.json
    }
  }

  /// The `type` of the JSON form.
  public var typeName: String { LockRules(self).type }
}

extension PasswordPolicy {
  /// Reads the rules by name.
  ///
  /// `minLength` and `maxLength` are required; `docs/policies.md` has all rules with their defaults.
  ///
  /// - Parameter json: The rules, and nothing else.
  /// - Throws: ``PolicyFailure`` with the names of the rules at fault.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    let source = JSONPolicySource(json)
    let rules = PasswordRules(reading: source)
    if let failure = source.failures.first { throw failure }
    try self.init(rules)
  }

  /// The rules that are set, in a fixed order; reading them gives the same policy.
  public var json: JSONObject {
    PasswordRules.rows.written(rules, absent: .absent, always: .alwaysInJSON).reduce(into: JSONObject()) {
      $0[$1.rule.member] = $1.value.json
    }
  }
}
