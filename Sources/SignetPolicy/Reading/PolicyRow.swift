/// A rule with a value in `Root`, declared once.
///
/// Readers and printers of both forms, the linter, the sentences, the options of `signet-server init` and the table in
/// `docs/policies.md` come from the rows.
final class PolicyRow<Root: Sendable>: Sendable {  // a class, so that loops do not copy closures
  /// The condition under which the written forms contain the rule.
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
  /// The value; `nil` if an optional rule is not set.
  let value: @Sendable (Root) -> PolicyValue?
  /// Reads the value; returns false if there is none.
  let read: @Sendable (any PolicySource, inout Root) -> Bool

  let details: Details

  /// The texts of a rule, and what it limits; a flag is 1 or 0, as in a policy string.
  struct Details: Sendable {
    /// The measure of a password that the rule's number limits; `nil` if a password alone cannot break the rule.
    var bound: PasswordLimit.Bound?
    /// The sentence of a violation; `nil` if no password can break the rule.
    var violation: (@Sendable (Int) -> String)?
    /// The phrase in the sentence about new passwords.
    var phrase: (@Sendable (Int, Root) -> String?)?
    /// The sentence in a review, for a rule that is not a phrase of the sentence about new passwords.
    var sentence: (@Sendable (Int, Root, LockPolicy) -> String?)?
    /// The finding if the rule has no effect.
    var idle: (@Sendable (Root) -> (other: PolicyRule, message: String)?)?
    /// True if policy strings of other systems lack the rule.
    var isOurs = false
    /// The option of `signet-server init`.
    var option: PasswordOption?
    /// The row of the table in `docs/policies.md`.
    private(set) var meaning = "", standard: String?, unit: String?

    /// Describes the rule in the documents.
    ///
    /// - Parameters:
    ///   - meaning: The passwords that break the rule, or the meaning of a rule that none breaks.
    ///   - standard: The default in words, if the value alone is unclear.
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

/// The reader and printer of values of a type.
struct PolicyKind<Value>: Sendable {
  fileprivate var range: ClosedRange<Int>?
  fileprivate let read: @Sendable (any PolicySource, PolicyRule) -> Value?
  fileprivate let write: @Sendable (Value) -> PolicyValue?
}

extension PolicyKind {
  /// A number; without a range, the policy checks it.
  static func number(_ range: ClosedRange<Int>? = nil) -> Self where Value == Int {
    Self(range: range, read: { $0.number($1) }, write: { .number($0) })
  }

  /// An optional number.
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
  ///   - absent: The policy that is read if no rule is set.
  ///   - always: The rows that are written with any value, like required ones.
  /// - Returns: Required rules, those of `always`, and those whose value is not the default.
  func written<Root>(
    _ root: Root, absent: Root, always: PolicyRow<Root>.Presence
  ) -> [(rule: PolicyRule, value: PolicyValue)] where Element == PolicyRow<Root> {
    compactMap { row in
      guard let value = row.value(root) else { return nil }
      let isWritten = row.presence == .required || row.presence == always || value != row.value(absent)
      return isWritten ? (row.rule, value) : nil
    }
  }

  /// The numbers outside their ranges.
  func outOfRange<Root>(_ root: Root) -> [PolicyFailure] where Element == PolicyRow<Root> {
    compactMap { row in
      guard let range = row.range, let number = row.value(root)?.number, !range.contains(number) else {
        return nil
      }
      return .outOfRange(rule: row.rule.name, value: number, allowed: range)
    }
  }
}
