public import SignetJSON

// The JSON form of policies: what the server sends, the vault stores and operators write.
//
// A member that is not known is refused. A device that skipped a rule it does not understand would enforce a
// weaker policy than it was given, and nobody would notice.

extension ProtectionPolicy {
  /// Reads `{"type":"device"}`, or `{"type":"password","password":{…},"lock":{…}}`.
  ///
  /// The types are `device`, `biometric`, `devicePasscode`, and with a password `password`,
  /// `biometricOrPassword` and `deviceLockOrPassword`.
  ///
  /// - Parameter json: `type`, and for the types with a password both `password` and `lock`; nothing else.
  /// - Throws: ``PolicyFailure`` with the names of the rules at fault.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    let type = try json.policyType()
    switch type {
    case "device": self = .device
    case "biometric": self = .biometric
    case "devicePasscode": self = .devicePasscode
    case "password", "biometricOrPassword", "deviceLockOrPassword":
      try json.refuseMembers(except: ["type", "password", "lock"])
      let password = try PasswordPolicy(try json.policy("password"))
      let lock = try LockPolicy(try json.policy("lock"))
      switch type {
      case "password": self = .password(password, lock)
      case "biometricOrPassword": self = .biometricOrPassword(password, lock)
      default: self = .deviceLockOrPassword(password, lock)
      }
      return
    default: throw .unknownType(type)
    }
    try json.refuseMembers(except: ["type"])
  }

  /// The policy as JSON; reading it gives the same policy.
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
  /// Reads `{"type":"lock","limit":5}` and the like.
  ///
  /// | type | members |
  /// |---|---|
  /// | `none`, `silent` | none |
  /// | `lock` | `limit`, in ``allowedLimits``; `atLimit`: `lockOut` (where absent) or `wipe` |
  /// | `delay` | `delay` in seconds, `counter` in ``allowedCounters`` |
  /// | `coolDown` | `waits`: seconds after each failure but the last, 1 to 99 numbers; `atLimit` |
  ///
  /// - Parameter json: `type` and the members above; nothing else.
  /// - Throws: ``PolicyFailure``.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    let type = try json.policyType()
    switch type {
    case "none":
      try json.refuseMembers(except: ["type"])
      self = .none
    case "silent":
      try json.refuseMembers(except: ["type"])
      self = .silent
    case "lock":
      try json.refuseMembers(except: ["type", LockRule.limit.rawValue, LockRule.atLimit.rawValue])
      self = .lock(limit: try json.requiredCount(LockRule.limit.rawValue), atLimit: try json.consequence())
    case "delay":
      try json.refuseMembers(except: ["type", LockRule.delay.rawValue, LockRule.counter.rawValue])
      self = .delay(
        seconds: try json.requiredCount(LockRule.delay.rawValue),
        counter: try json.requiredCount(LockRule.counter.rawValue))
    case "coolDown":
      try json.refuseMembers(except: ["type", LockRule.waits.rawValue, LockRule.atLimit.rawValue])
      self = .coolDown(waits: try json.counts(LockRule.waits.rawValue), atLimit: try json.consequence())
    default: throw .unknownType(type)
    }
    try validate()
  }

  /// The policy as JSON; reading it gives the same policy, if it is valid.
  public var json: JSONObject {
    var json: JSONObject = ["type": .string(typeName)]
    switch self {
    case .none, .silent: break
    case .lock(let limit, _): json[LockRule.limit.rawValue] = .integer(Int64(limit))
    case .delay(let seconds, let counter):
      json[LockRule.delay.rawValue] = .integer(Int64(seconds))
      json[LockRule.counter.rawValue] = .integer(Int64(counter))
    case .coolDown(let waits, _):
      json[LockRule.waits.rawValue] = .array(waits.map { .integer(Int64($0)) })
    }
    if consequence != .lockOut { json[LockRule.atLimit.rawValue] = .string(consequence.rawValue) }
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
  /// `minLength` and `maxLength` are required. `minUppercase`, `minLowercase`, `minLetters`, `minDigits`
  /// and `minNonAlphanumeric` are 0 and their `max…` the maximum length where absent; `allowSequences` is false
  /// and `maxRepeats` without limit where absent. `maxHistory`, `minAge` and `maxAge` (days) are 0, `cacheEnabled`
  /// and `dictionary` false, and `cacheTimeout` is 30 seconds where absent.
  ///
  /// - Parameter json: The rules, and nothing else.
  /// - Throws: ``PolicyFailure`` with the names of the rules at fault.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    let kinds = CharacterClass.allCases
    try json.refuseMembers(
      except: kinds.map(\.minimumRule) + kinds.map(\.maximumRule) + [
        RuleName.minimumLength, RuleName.maximumLength, RuleName.allowsSequences, RuleName.maximumRepeats,
        RuleName.maximumHistory, RuleName.minimumAge, RuleName.maximumAge, RuleName.cacheEnabled,
        RuleName.cacheTimeout, RuleName.dictionary,
      ])
    let minimumLength = try json.requiredCount(RuleName.minimumLength)
    let maximumLength = try json.requiredCount(RuleName.maximumLength)
    try self.init(
      minimumLength: minimumLength, maximumLength: maximumLength,
      uppercase: try json.characterCount(.uppercase), lowercase: try json.characterCount(.lowercase),
      letters: try json.characterCount(.letter), digits: try json.characterCount(.digit),
      nonAlphanumerics: try json.characterCount(.nonAlphanumeric),
      allowsSequences: try json.flag(RuleName.allowsSequences),
      maximumRepeats: try json.count(RuleName.maximumRepeats),
      maximumHistory: try json.count(RuleName.maximumHistory) ?? 0,
      age: PasswordAge(
        minimumDays: try json.count(RuleName.minimumAge) ?? 0,
        maximumDays: try json.count(RuleName.maximumAge) ?? 0),
      cache: PasswordCache(
        isEnabled: try json.flag(RuleName.cacheEnabled),
        timeout: try json.count(RuleName.cacheTimeout) ?? PasswordCache.standardTimeout),
      checksDictionary: try json.flag(RuleName.dictionary))
  }

  /// The rules that are set, in a fixed order; reading it gives the same policy.
  public var json: JSONObject {
    var json: JSONObject = [
      RuleName.minimumLength: .integer(Int64(minimumLength)),
      RuleName.maximumLength: .integer(Int64(maximumLength)),
    ]
    for kind in CharacterClass.allCases {
      let count = count(of: kind)
      if count.minimum > 0 { json[kind.minimumRule] = .integer(Int64(count.minimum)) }
      if let maximum = count.maximum { json[kind.maximumRule] = .integer(Int64(maximum)) }
    }
    json[RuleName.allowsSequences] = .bool(allowsSequences)
    if let maximumRepeats { json[RuleName.maximumRepeats] = .integer(Int64(maximumRepeats)) }
    if maximumHistory > 0 { json[RuleName.maximumHistory] = .integer(Int64(maximumHistory)) }
    if age.minimumDays > 0 { json[RuleName.minimumAge] = .integer(Int64(age.minimumDays)) }
    if age.maximumDays > 0 { json[RuleName.maximumAge] = .integer(Int64(age.maximumDays)) }
    if cache.isEnabled { json[RuleName.cacheEnabled] = true }
    if cache.timeout != PasswordCache.standardTimeout {
      json[RuleName.cacheTimeout] = .integer(Int64(cache.timeout))
    }
    if checksDictionary { json[RuleName.dictionary] = true }
    return json
  }
}

extension JSONObject {
  fileprivate func policyType() throws(PolicyFailure) -> String {
    do { return try string("type") } catch { throw .malformed(error) }
  }

  fileprivate func refuseMembers(except known: [String]) throws(PolicyFailure) {
    for member in members where !known.contains(member.name) { throw .unknownRule(member.name) }
  }

  /// A whole number, or nil where absent; what does not fit an `Int` is out of every range as its nearest one.
  fileprivate func count(_ name: String) throws(PolicyFailure) -> Int? {
    do { return try optionalInteger(name).map { Int(clamping: $0) } } catch { throw .malformed(error) }
  }

  fileprivate func flag(_ name: String) throws(PolicyFailure) -> Bool {
    do { return try optionalBool(name) ?? false } catch { throw .malformed(error) }
  }

  fileprivate func requiredCount(_ name: String) throws(PolicyFailure) -> Int {
    guard let count = try count(name) else { throw .malformed(.missingMember(name)) }
    return count
  }

  /// An array of whole numbers, not longer than any policy's.
  fileprivate func counts(_ name: String) throws(PolicyFailure) -> [Int] {
    let values: [JSONValue]
    do { values = try array(name) } catch { throw .malformed(error) }
    var counts: [Int] = []
    for value in values {
      guard case .integer(let number) = value else {
        throw .malformed(.wrongType(member: name, expected: .integer))
      }
      counts.append(Int(clamping: number))
    }
    return counts
  }

  fileprivate func policy(_ name: String) throws(PolicyFailure) -> JSONObject {
    do { return try object(name) } catch { throw .malformed(error) }
  }

  fileprivate func consequence() throws(PolicyFailure) -> LimitConsequence {
    let text: String?
    do { text = try optionalString(LockRule.atLimit.rawValue) } catch { throw .malformed(error) }
    guard let text else { return .lockOut }
    guard let consequence = LimitConsequence(rawValue: text) else { throw .unknownType(text) }
    return consequence
  }

  fileprivate func characterCount(_ kind: CharacterClass) throws(PolicyFailure) -> CharacterCount {
    CharacterCount(minimum: try count(kind.minimumRule) ?? 0, maximum: try count(kind.maximumRule))
  }
}
