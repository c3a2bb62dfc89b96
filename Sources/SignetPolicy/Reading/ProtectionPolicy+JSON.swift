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
  public var typeName: String {
    switch self {
    case .device: "device"
    case .password: "password"
    case .biometricOrPassword: "biometricOrPassword"
    case .deviceLockOrPassword: "deviceLockOrPassword"
    case .biometric: "biometric"
    case .devicePasscode: "devicePasscode"
    }
  }
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
    var source = JSONPolicySource(json)
    let lock = LockPolicy(reading: &source)
    if let failure = source.failures.first { throw failure }
    guard let lock else { throw .malformed(.missingMember(PolicyRule.type.rawValue)) }
    try lock.validate()
    self = lock
  }

  /// The JSON form; reading it gives the same policy, if the policy is valid.
  public var json: JSONObject {
    var json: JSONObject = ["type": .string(typeName)]
    switch self {
    case .none, .silent: break
    case .lock(let limit, _): json[.limit] = .integer(Int64(limit))
    case .delay(let seconds, let counter):
      json[.delay] = .integer(Int64(seconds))
      json[.counter] = .integer(Int64(counter))
    case .coolDown(let waits, _): json[.waits] = .array(waits.map { .integer(Int64($0)) })
    }
    if consequence != .lockOut { json[.atLimit] = .string(consequence.rawValue) }
    return json
  }

  /// The `type` of the JSON form.
  public var typeName: String {
    switch self {
    case .none: "none"
    case .lock: "lock"
    case .delay: "delay"
    case .coolDown: "coolDown"
    case .silent: "silent"
    }
  }
}

extension PasswordPolicy {
  /// Reads the rules by name.
  ///
  /// `minLength` and `maxLength` are required. The defaults: `minUppercase`, `minLowercase`, `minLetters`, `minDigits` and
  /// `minNonAlphanumeric` are 0, and their `max…` is the maximum length. `allowSequences` is false and `maxRepeats`
  /// unlimited. `maxHistory`, `minAge` and `maxAge` (days) are 0. `cacheEnabled` and `dictionary` are false, and
  /// `cacheTimeout` is 30 seconds.
  ///
  /// - Parameter json: The rules, and nothing else.
  /// - Throws: ``PolicyFailure`` with the names of the rules at fault.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    var source = JSONPolicySource(json)
    let rules = PasswordRules(reading: &source)
    if let failure = source.failures.first { throw failure }
    try self.init(rules)
  }

  /// The rules that are set, in a fixed order; reading them gives the same policy.
  public var json: JSONObject {
    var json = JSONObject()
    json[.minLength] = .integer(Int64(minimumLength))
    json[.maxLength] = .integer(Int64(maximumLength))
    for kind in CharacterClass.allCases {
      let count = count(of: kind)
      if count.minimum > 0 { json[kind.minimum] = .integer(Int64(count.minimum)) }
      if let maximum = count.maximum { json[kind.maximum] = .integer(Int64(maximum)) }
    }
    json[.allowSequences] = .bool(allowsSequences)
    if let maximumRepeats { json[.maxRepeats] = .integer(Int64(maximumRepeats)) }
    if maximumHistory > 0 { json[.maxHistory] = .integer(Int64(maximumHistory)) }
    if age.minimumDays > 0 { json[.minAge] = .integer(Int64(age.minimumDays)) }
    if age.maximumDays > 0 { json[.maxAge] = .integer(Int64(age.maximumDays)) }
    if cache.isEnabled { json[.cacheEnabled] = true }
    if cache.timeout != PasswordCache.standardTimeout {
      json[.cacheTimeout] = .integer(Int64(cache.timeout))
    }
    if checksDictionary { json[.dictionary] = true }
    return json
  }
}

extension JSONObject {
  fileprivate subscript(rule: PolicyRule) -> JSONValue? {
    get { self[rule.rawValue] }
    set { self[rule.rawValue] = newValue }
  }
}
