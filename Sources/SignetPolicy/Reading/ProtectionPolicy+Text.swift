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
    var pairs: [String] = []
    func add(_ values: [(rule: PolicyRule, value: PolicyValue)]) {
      pairs += values.map { "\($0.rule.code)=\($0.value.text)" }
    }
    if typeName != "password" { pairs.append("\(PolicyRule.type.code)=\(typeName.lowercased())") }
    if let policy = passwordPolicy {
      add(PasswordRules.textRows.written(policy.rules, absent: .absent, always: .alwaysInText))
      if withStandardLock || lockPolicy != .standard {
        pairs.append("\(PolicyRule.lockType.code)=\(lockPolicy.typeName.lowercased())")
        // In a string the codes of a lock are in alphabetical order.
        add(LockRules(lockPolicy).written(always: .alwaysInText).sorted { $0.rule.code < $1.rule.code })
      }
    }
    return pairs.joined(separator: ";")
  }
}

extension LockPolicy {
  /// The default lock of a policy string: five attempts.
  public static let standard = LockPolicy.lock(limit: 5)
}
