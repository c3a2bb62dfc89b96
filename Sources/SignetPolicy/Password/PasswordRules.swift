/// The rules of a password policy before validation; no password may satisfy them.
///
/// ``PasswordPolicy/init(_:)`` validates them and rejects contradictions; ``PolicyReview`` lists all errors.
public struct PasswordRules: Sendable, Hashable {
  /// The minimum number of code points.
  public var minimumLength: Int
  /// The maximum number of code points.
  public var maximumLength: Int
  /// The bounds on upper-case letters.
  public var uppercase = CharacterCount.any
  /// The bounds on lower-case letters.
  public var lowercase = CharacterCount.any
  /// The bounds on letters, those with case included.
  public var letters = CharacterCount.any
  /// The bounds on decimal digits.
  public var digits = CharacterCount.any
  /// The bounds on characters that are neither letters nor digits.
  public var nonAlphanumerics = CharacterCount.any
  /// True if sequences such as `abc`, `321` or `Xyz` are allowed.
  ///
  /// A sequence is ``PasswordPolicy/sequenceLength`` or more letters or digits, each one code point after the previous or
  /// each one before it. Case is ignored.
  public var allowsSequences = false
  /// The longest run of one character: 2 allows `aa` and rejects `aaa`.
  ///
  /// `nil` sets no limit. Case matters here.
  public var maximumRepeats: Int?
  /// The number of latest passwords, the current one included, that a new one must differ from; 0 allows any.
  public var maximumHistory = 0
  /// The minimum and maximum age of a password.
  public var age = PasswordAge.unlimited
  /// The rule for one later signature with a verified password.
  public var cache = PasswordCache.disabled
  /// True if dictionary words and simple variants of them are rejected.
  public var checksDictionary = false

  /// Creates rules that limit the length and forbid sequences.
  public init(minimumLength: Int, maximumLength: Int) {
    self.minimumLength = minimumLength
    self.maximumLength = maximumLength
  }

  /// The bounds of a class as they were set.
  public subscript(kind: CharacterClass) -> CharacterCount {
    get {
      switch kind {
      case .uppercase: uppercase
      case .lowercase: lowercase
      case .letter: letters
      case .digit: digits
      case .nonAlphanumeric: nonAlphanumerics
      }
    }
    set {
      switch kind {
      case .uppercase: uppercase = newValue
      case .lowercase: lowercase = newValue
      case .letter: letters = newValue
      case .digit: digits = newValue
      case .nonAlphanumeric: nonAlphanumerics = newValue
      }
    }
  }

  /// The minimum number of characters of `kind`.
  public func minimum(of kind: CharacterClass) -> Int { self[kind].minimum }

  /// The maximum number of characters of `kind`; at most the maximum length.
  public func maximum(of kind: CharacterClass) -> Int {
    min(self[kind].maximum ?? maximumLength, maximumLength)
  }
}

extension PolicyRule {
  static let minLength = PolicyRule("minLength", code: "MINLEN")
  static let maxLength = PolicyRule("maxLength", code: "MAXLEN")
  static let allowSequences = PolicyRule("allowSequences", code: "SEQ")
  static let maxRepeats = PolicyRule("maxRepeats", code: "REPEAT")
  static let maxHistory = PolicyRule("maxHistory", code: "HISTNUM")
  static let minAge = PolicyRule("minAge", code: "HISTMINAGE")
  static let maxAge = PolicyRule("maxAge", code: "HISTMAXAGE")
  static let cacheEnabled = PolicyRule("cacheEnabled", code: "CACHE")
  static let cacheTimeout = PolicyRule("cacheTimeout", code: "CACHETIMEOUT")
  static let dictionary = PolicyRule("dictionary", code: "DICT")
}

// The table of the rules.
extension PasswordRules {
  /// The rules of a policy string that names none.
  static let absent = PasswordRules(
    minimumLength: PasswordPolicy.allowedLengths.lowerBound,
    maximumLength: PasswordPolicy.allowedLengths.upperBound)

  /// Reads the rules, whether or not they make a policy.
  init(reading source: any PolicySource) {
    source.allow(only: Self.rules, among: Self.rules)
    self = .absent
    for row in Self.rows where !row.read(source, &self) && row.presence == .required {
      source.missing(row.rule, default: row.value(.absent)?.number)
    }
  }

  /// All rows, in the order of the JSON form.
  static let rows = lengths + CharacterClass.allCases.flatMap { [minimum(of: $0), maximum(of: $0)] } + others

  /// The limits that these rules set on a password.
  var limits: [PasswordLimit] {
    Self.rows.enumerated().compactMap { index, row in
      guard let bound = row.details.bound, let number = row.value(self)?.asNumber else { return nil }
      return PasswordLimit(row: index, bound: bound, number: number)
    }
  }

  /// The rules, in the order of the JSON form.
  static let rules = rows.map(\.rule)

  /// All rows, in the order of the policy string.
  static let textRows: [PolicyRow<PasswordRules>] = {
    let kinds: [CharacterClass] = [.uppercase, .lowercase, .digit, .letter, .nonAlphanumeric]
    return kinds.map { minimum(of: $0) } + kinds.map { maximum(of: $0) } + lengths + others
  }()

  /// All rows, in the order in which numbers out of range are reported.
  static let checkedRows = lengths + others + rows.dropFirst(lengths.count).dropLast(others.count)

  private static let length = PolicyKind.number(PasswordPolicy.allowedLengths)
  private static let count = PolicyKind.number(PasswordPolicy.allowedCounts)
  private static let days = PolicyKind.number(PasswordAge.allowedDays)

  private static let lengths: [PolicyRow<PasswordRules>] = [
    PolicyRow(.minLength, \.minimumLength, { $0.minimumLength = $1 }, length, .required) {
      $0.bound = .atLeast(.length)
      $0.violation = { "use at least \(counted($0, "character", "characters"))" }
      $0.option = PasswordOption("minimum-length", "Minimum password length", default: 6)
      $0.document("fewer characters", default: "required in JSON; 1 and a warning in a string")
    },
    PolicyRow(.maxLength, \.maximumLength, { $0.maximumLength = $1 }, length, .required) {
      $0.bound = .atMost(.length)
      $0.violation = { "use at most \(counted($0, "character", "characters"))" }
      $0.option = PasswordOption("maximum-length", "Maximum password length", default: 64)
      $0.document("more characters", default: "required in JSON; 256 and a warning in a string")
    },
  ]

  private static func minimum(of kind: CharacterClass) -> PolicyRow<PasswordRules> {
    PolicyRow(.minimum(kind), { $0[kind].minimum }, { $0[kind].minimum = $1 }, count, .alwaysInText) {
      $0.bound = .atLeast(.count(of: kind))
      $0.violation = { "use at least \($0) \(kind.noun($0))" }
      $0.option = PasswordOption(
        "minimum-\(kind.words.option)", "Minimum number of \(kind.words.plural)")
      $0.document("fewer \(kind.words.plural)")
    }
  }

  private static func maximum(of kind: CharacterClass) -> PolicyRow<PasswordRules> {
    PolicyRow(
      .maximum(kind), { $0[kind].maximum }, { $0[kind].maximum = $1 },
      .optionalNumber(PasswordPolicy.allowedCounts)
    ) {
      $0.bound = .atMost(.count(of: kind))
      $0.violation = { $0 == 0 ? "use no \(kind.noun(0))" : "use at most \($0) \(kind.noun($0))" }
      $0.idle = { rules in
        guard let maximum = rules[kind].maximum, maximum > rules.maximumLength else { return nil }
        return (.maxLength, "a maximum above the length has no effect; leave it out")
      }
      $0.option = PasswordOption(
        "maximum-\(kind.words.option)", "Maximum number of \(kind.words.plural); 0 forbids them")
      $0.document("more \(kind.words.plural)", default: "`maxLength`")
    }
  }

  private static let others: [PolicyRow<PasswordRules>] = [
    PolicyRow(.allowSequences, \.allowsSequences, { $0.allowsSequences = $1 }, .flag(), .alwaysInJSON) {
      $0.bound = .atMost(.sequence)
      $0.violation = { _ in
        "avoid \(PasswordPolicy.sequenceLength) or more letters or digits in order, such as abc or 321"
      }
      $0.phrase = { allowed, rules in
        allowed == 1 ? nil : "no sequences such as 123 or \(rules.isNumeric ? "321" : "cba")"
      }
      $0.option = PasswordOption("allow-sequences", "Allow sequences such as abc or 321")
      $0.document(
        "three letters or three digits in ascending or descending order, ignoring case: `abc`, `321`, `Xyz`")
    },
    PolicyRow(
      .maxRepeats, \.maximumRepeats, { $0.maximumRepeats = $1 },
      .optionalNumber(PasswordPolicy.allowedLengths)
    ) {
      $0.bound = .atMost(.longestRepeat)
      $0.violation = { maximum in
        maximum == 1
          ? "do not use the same character twice in a row"
          : "use the same character at most \(maximum) times in a row"
      }
      $0.phrase = { maximum, _ in
        maximum == 1 ? "no character twice in a row" : "no character more than \(maximum) times in a row"
      }
      $0.idle = { rules in
        guard let maximum = rules.maximumRepeats, maximum >= rules.maximumLength else { return nil }
        return (.maxLength, "the limit is not below the maximum length, so it has no effect; leave it out")
      }
      $0.isOurs = true
      $0.option = PasswordOption("maximum-repeats", "Longest run of one character")
      $0.document("a longer run of one character", default: "no limit")
    },
    PolicyRow(
      .maxHistory, \.maximumHistory, { $0.maximumHistory = $1 }, .number(PasswordPolicy.allowedHistory)
    ) {
      $0.violation = { history in
        history == 1
          ? "choose another password than the current one"
          : "choose a password that is not among your last \(history)"
      }
      $0.phrase = { history, _ in
        history == 0 ? nil : history == 1 ? "not the current one" : "none of the last \(history)"
      }
      $0.document(
        "one of that many latest passwords, the current one included", default: "0: any may be used again")
    },
    PolicyRow(.minAge, \.age.minimumDays, { $0.age.minimumDays = $1 }, days) {
      $0.sentence = { days, _, _ in
        days == 0 ? nil : "A changed password can be changed again after \(counted(days, "day", "days"))."
      }
      $0.document(
        "minimum age of a password that is changed; does not apply to the first password of a container",
        default: "0: at once", unit: "days")
    },
    PolicyRow(.maxAge, \.age.maximumDays, { $0.age.maximumDays = $1 }, days) {
      $0.sentence = { days, _, lock in
        days == 0 || lock == .silent
          ? nil : "A password must be changed after \(counted(days, "day", "days"))."
      }
      $0.document(
        "maximum age of a password; no effect with a silent lock", default: "0: never",
        unit: "days")
    },
    PolicyRow(.cacheEnabled, \.cache.isEnabled, { $0.cache.isEnabled = $1 }, .flag()) {
      $0.sentence = { enabled, rules, _ in
        let seconds = counted(rules.cache.timeout, "second", "seconds")
        return enabled == 0
          ? nil : "A verified password can be used for one more signature within \(seconds)."
      }
      $0.document("whether a verified password can be used for one later signature")
    },
    PolicyRow(
      .cacheTimeout, \.cache.timeout, { $0.cache.timeout = $1 }, .number(PasswordCache.allowedTimeouts)
    ) {
      $0.idle = { rules in
        guard !rules.cache.isEnabled, rules.cache.timeout != PasswordCache.standardTimeout else { return nil }
        return (.cacheEnabled, "the cache is off, so its timeout has no effect")
      }
      $0.document("how long a verified password can be used", unit: "seconds")
    },
    PolicyRow(.dictionary, \.checksDictionary, { $0.checksDictionary = $1 }, .flag()) {
      $0.violation = { _ in "choose a password that is not made from a word or an obvious series" }
      $0.phrase = { checks, _ in checks == 0 ? nil : "not made from a word or an obvious series" }
      $0.isOurs = true
      $0.document(
        "a word or series that [the dictionary check](#the-dictionary-check) rejects; fewer than 6 characters"
      )
    },
  ]
}

/// "1 day", "2 days".
func counted(_ count: Int, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}
