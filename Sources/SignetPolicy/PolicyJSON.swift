public import SignetJSON

// The JSON form of policies: what the server sends, the vault stores and operators write.
//
// A member that is not known is refused. A device that skipped a rule it does not understand would enforce a
// weaker policy than it was given, and nobody would notice.

extension ProtectionPolicy {
  /// Reads `{"type":"device"}`, or `{"type":"password","password":{…},"lock":{…}}`.
  ///
  /// - Parameter json: `type`, and for a password both `password` and `lock`; nothing else.
  /// - Throws: ``PolicyFailure`` with the names of the rules at fault.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    switch try json.policyType() {
    case "device":
      try json.refuseMembers(except: ["type"])
      self = .device
    case "password":
      try json.refuseMembers(except: ["type", "password", "lock"])
      let password: JSONObject
      let lock: JSONObject
      do {
        password = try json.object("password")
        lock = try json.object("lock")
      } catch {
        throw .malformed(error)
      }
      self = .password(try PasswordPolicy(password), try LockPolicy(lock))
    case let other:
      throw .unknownType(other)
    }
  }

  /// The policy as JSON; reading it gives the same policy.
  public var json: JSONObject {
    switch self {
    case .device: ["type": "device"]
    case .password(let password, let lock):
      ["type": "password", "password": .object(password.json), "lock": .object(lock.json)]
    }
  }
}

extension LockPolicy {
  /// Reads `{"type":"none"}`, or `{"type":"lock","limit":5}` with a limit in ``allowedLimits``.
  ///
  /// - Parameter json: `type`, and for a lock `limit`; nothing else.
  /// - Throws: ``PolicyFailure``.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    switch try json.policyType() {
    case "none":
      try json.refuseMembers(except: ["type"])
      self = .none
    case "lock":
      try json.refuseMembers(except: ["type", "limit"])
      guard let limit = try json.count("limit") else { throw .malformed(.missingMember("limit")) }
      guard Self.allowedLimits.contains(limit) else {
        throw .outOfRange(rule: "limit", value: limit, allowed: Self.allowedLimits)
      }
      self = .lock(limit: limit)
    case let other:
      throw .unknownType(other)
    }
  }

  /// The policy as JSON; reading it gives the same policy, if its limit is an allowed one.
  public var json: JSONObject {
    switch self {
    case .none: ["type": "none"]
    case .lock(let limit): ["type": "lock", "limit": .integer(Int64(limit))]
    }
  }
}

extension PasswordPolicy {
  /// Reads the rules by name.
  ///
  /// `minLength` and `maxLength` are required. `minUppercase`, `minLowercase`, `minLetters`, `minDigits`
  /// and `minNonAlphanumeric` are 0 and their `max…` the maximum length where absent; `allowSequences` is false
  /// and `maxRepeats` without limit where absent.
  ///
  /// - Parameter json: The rules, and nothing else.
  /// - Throws: ``PolicyFailure`` with the names of the rules at fault.
  public init(_ json: JSONObject) throws(PolicyFailure) {
    let kinds = CharacterClass.allCases
    try json.refuseMembers(
      except: kinds.map(\.minimumRule) + kinds.map(\.maximumRule) + [
        RuleName.minimumLength, RuleName.maximumLength, RuleName.allowsSequences, RuleName.maximumRepeats,
      ])
    guard let minimumLength = try json.count(RuleName.minimumLength) else {
      throw .malformed(.missingMember(RuleName.minimumLength))
    }
    guard let maximumLength = try json.count(RuleName.maximumLength) else {
      throw .malformed(.missingMember(RuleName.maximumLength))
    }
    let allowsSequences: Bool
    do { allowsSequences = try json.optionalBool(RuleName.allowsSequences) ?? false } catch {
      throw .malformed(error)
    }
    try self.init(
      minimumLength: minimumLength, maximumLength: maximumLength,
      uppercase: try json.characterCount(.uppercase), lowercase: try json.characterCount(.lowercase),
      letters: try json.characterCount(.letter), digits: try json.characterCount(.digit),
      nonAlphanumerics: try json.characterCount(.nonAlphanumeric),
      allowsSequences: allowsSequences, maximumRepeats: try json.count(RuleName.maximumRepeats))
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

  fileprivate func characterCount(_ kind: CharacterClass) throws(PolicyFailure) -> CharacterCount {
    CharacterCount(minimum: try count(kind.minimumRule) ?? 0, maximum: try count(kind.maximumRule))
  }
}
