/// A rule with a value in `Root`, declared once.
///
/// Readers and printers of both forms, the linter, the sentences, the options of `signet-server init` and the table in
/// `docs/policies.md` come from the rows.
final class PolicyRow<Root: Sendable>: Sendable {  // a class, so that loops do not copy closures
  /// When a policy has the rule in its written forms.
  enum Presence {
    /// In both forms. Without it the JSON form is refused; a string without it is too, unless the rule has a default.
    case required
    /// In the JSON form; in a string unless it has its default.
    case alwaysInJSON
    /// In a string; in the JSON form unless it has its default.
    case alwaysInText
    /// In either form unless it has its default.
    case unlessDefault
  }

  let rule: PolicyRule
  let presence: Presence
  /// The allowed numbers; `nil` for a rule that is no single number, or has other bounds for each policy.
  let range: ClosedRange<Int>?
  /// The value; `nil` where an optional rule is not set.
  let value: @Sendable (Root) -> PolicyValue?
  /// Reads the value, and returns whether there was one.
  let read: @Sendable (any PolicySource, inout Root) -> Bool

  let details: Details

  /// What there is to say of a rule beside its forms; numbers are the rule's, 1 and 0 for a flag, as in a policy string.
  struct Details: Sendable {
    /// Whether a password breaks the rule; `nil` where the password alone does not tell.
    var isBroken: (@Sendable (PasswordTally, Int) -> Bool)?
    /// The sentence of a violation; `nil` where no password breaks the rule.
    var violation: (@Sendable (Int) -> String)?
    /// The phrase in the sentence about new passwords.
    var phrase: (@Sendable (Int, Root) -> String?)?
    /// The sentence of its own.
    var sentence: (@Sendable (Int, Root, LockPolicy) -> String?)?
    /// What the linter says where the rule has no effect.
    var idle: (@Sendable (Root) -> (other: PolicyRule, message: String)?)?
    /// Whether policy strings of other systems have no such rule.
    var isOurs = false
    /// The option of `signet-server init`.
    var option: PasswordOption?
    /// What the documents say of it.
    private(set) var meaning = "", standard: String?, unit: String?

    /// Describes the rule in the documents.
    ///
    /// - Parameters:
    ///   - meaning: Which passwords break the rule, or else its meaning.
    ///   - standard: The default, where the value itself says less.
    ///   - unit: The unit of its number.
    mutating func document(_ meaning: String, default standard: String? = nil, unit: String? = nil) {
      self.meaning = meaning
      self.standard = standard
      self.unit = unit
    }
  }

  /// Declares a rule.
  ///
  /// - Parameters:
  ///   - rule: Its names.
  ///   - get: Gives the property. A literal such as `\.age` is a function here: a stored key path is several times slower.
  ///   - set: Sets the property.
  ///   - kind: The kind of its value.
  ///   - presence: When it is written.
  ///   - describe: Sets its details.
  init<Value>(
    _ rule: PolicyRule, _ get: @escaping @Sendable (Root) -> Value,
    _ set: @escaping @Sendable (inout Root, Value) -> Void, _ kind: PolicyKind<Value>,
    _ presence: Presence = .unlessDefault, describe: (inout Details) -> Void = { _ in }
  ) {
    var details = Details()
    describe(&details)
    self.details = details
    self.rule = rule
    self.presence = presence
    range = kind.range
    value = { kind.write(get($0)) }
    read = { source, root in
      guard let value = kind.read(source, rule) else { return false }
      set(&root, value)
      return true
    }
  }
}

/// How values of a type are read and written.
struct PolicyKind<Value>: Sendable {
  fileprivate var range: ClosedRange<Int>?
  fileprivate let read: @Sendable (any PolicySource, PolicyRule) -> Value?
  fileprivate let write: @Sendable (Value) -> PolicyValue?
}

extension PolicyKind {
  /// A number; without a range, the policy itself knows which are allowed.
  static func number(_ range: ClosedRange<Int>? = nil) -> Self where Value == Int {
    Self(range: range, read: { $0.number($1) }, write: { .number($0) })
  }

  /// A number that need not be set.
  static func optionalNumber(_ range: ClosedRange<Int>) -> Self where Value == Int? {
    Self(range: range, read: { $0.number($1).map(Optional.some) }, write: { $0.map { .number($0) } })
  }

  static func numbers() -> Self where Value == [Int] {
    Self(read: { $0.numbers($1) }, write: { .numbers($0) })
  }

  static func flag() -> Self where Value == Bool { Self(read: { $0.flag($1) }, write: { .flag($0) }) }

  static func consequence() -> Self where Value == LimitConsequence {
    Self(read: { $0.consequence($1) }, write: { .consequence($0) })
  }
}

extension Array {
  /// The rules to write in a form of a policy, with their values.
  ///
  /// - Parameters:
  ///   - root: The policy.
  ///   - absent: The policy that is read where no rule is set.
  ///   - always: The rows that are written whatever their value, beside required ones.
  /// - Returns: Required rules, those of `always`, and those that have not their default.
  func written<Root>(
    _ root: Root, absent: Root, always: PolicyRow<Root>.Presence
  ) -> [(rule: PolicyRule, value: PolicyValue)] where Element == PolicyRow<Root> {
    compactMap { row in
      guard let value = row.value(root) else { return nil }
      let isWritten = row.presence == .required || row.presence == always || value != row.value(absent)
      return isWritten ? (row.rule, value) : nil
    }
  }

  /// The numbers that are not in their ranges.
  func outOfRange<Root>(_ root: Root) -> [PolicyFailure] where Element == PolicyRow<Root> {
    compactMap { row in
      guard let range = row.range, let number = row.value(root)?.number, !range.contains(number) else {
        return nil
      }
      return .outOfRange(rule: row.rule.name, value: number, allowed: range)
    }
  }
}
