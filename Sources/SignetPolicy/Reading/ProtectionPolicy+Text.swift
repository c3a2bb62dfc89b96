// The policy string: the form that operators of existing systems have, such as
// `UP=0;LOW=0;NUM=6;ALPHA=0;NALPHA=0;MUP=0;MLOW=0;MNUM=8;MALPHA=0;MNALPHA=0;MINLEN=6;MAXLEN=8`.

extension ProtectionPolicy {
  /// Reads a policy string.
  ///
  /// The defaults: without `TYPE` a ``password(_:_:)``, without a lock's code ``LockPolicy/standard``, and without `MINLEN`
  /// and `MAXLEN` any length. Unknown codes are ignored; a ``PolicyReview`` names them.
  ///
  /// - Parameter string: `NAME=value` pairs joined by `;`, at most 4096 bytes.
  /// - Throws: ``PolicyFailure``: the first failure that a ``PolicyReview`` finds.
  public init(string: String) throws(PolicyFailure) {
    self = try PolicyReading(text: string).policy()
  }

  /// The policy string; reading it gives the same policy, if the lock policy is valid.
  ///
  /// Values that equal their defaults are left out, except for the minima and the lengths.
  public var string: String { string(withStandardLock: false) }

  /// The policy string that always includes the lock, even the default one.
  public var stringWithLock: String { string(withStandardLock: true) }

  private func string(withStandardLock: Bool) -> String {
    var pairs: [(rule: PolicyRule, value: String)] = []
    func add(_ rule: PolicyRule, _ value: Int) { pairs.append((rule, String(value))) }
    if typeName != "password" { pairs.append((.type, typeName.lowercased())) }
    if let policy = passwordPolicy {
      let kinds: [CharacterClass] = [.uppercase, .lowercase, .digit, .letter, .nonAlphanumeric]
      for kind in kinds { add(kind.minimum, policy.count(of: kind).minimum) }
      for kind in kinds {
        if let maximum = policy.count(of: kind).maximum { add(kind.maximum, maximum) }
      }
      add(.minLength, policy.minimumLength)
      add(.maxLength, policy.maximumLength)
      if policy.allowsSequences { add(.allowSequences, 1) }
      if let repeats = policy.maximumRepeats { add(.maxRepeats, repeats) }
      if policy.maximumHistory > 0 { add(.maxHistory, policy.maximumHistory) }
      if policy.age.minimumDays > 0 { add(.minAge, policy.age.minimumDays) }
      if policy.age.maximumDays > 0 { add(.maxAge, policy.age.maximumDays) }
      if policy.cache.isEnabled { add(.cacheEnabled, 1) }
      if policy.cache.timeout != PasswordCache.standardTimeout { add(.cacheTimeout, policy.cache.timeout) }
      if policy.checksDictionary { add(.dictionary, 1) }
      if withStandardLock || lockPolicy != .standard { pairs += lockPolicy.pairs }
    }
    return pairs.map { "\($0.rule.code)=\($0.value)" }.joined(separator: ";")
  }
}

extension LockPolicy {
  /// The default lock of a policy string: five attempts.
  public static let standard = LockPolicy.lock(limit: 5)

  fileprivate var pairs: [(rule: PolicyRule, value: String)] {
    var pairs: [(rule: PolicyRule, value: String)] = [(.lockType, typeName.lowercased())]
    switch self {
    case .none, .silent: break
    case .lock(let limit, _): pairs.append((.limit, String(limit)))
    case .delay(let seconds, let counter):
      pairs += [(.counter, String(counter)), (.delay, String(seconds))]
    case .coolDown(let waits, _): pairs.append((.waits, waits.map(String.init).joined(separator: ",")))
    }
    if consequence == .wipe { pairs.append((.atLimit, "1")) }
    return pairs
  }
}
