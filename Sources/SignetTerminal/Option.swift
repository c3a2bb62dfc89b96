/// What a shell offers for a value, and, for ``choices(_:)``, what the parser accepts.
public enum Completion: Hashable, Sendable {
  /// Anything; the shell offers nothing.
  case nothing
  /// The path of a file.
  case file
  /// The path of a folder.
  case directory
  /// Anything; the shell offers these words.
  case words([String])
  /// One of these words and nothing else.
  case choices([String])
}

/// An option of a command, declared once for the parser, the help, the manual and the shells.
public struct Option: Hashable, Sendable {
  /// The long name without dashes: lower-case letters, digits and dashes.
  public let name: String
  /// The one-character form without a dash, if there is one.
  public let short: Character?
  /// What it does: one phrase without a final full stop.
  public let help: String
  /// What the value is called in the help; nil for a flag.
  public let valueName: String?
  /// The value when the option is not given.
  public let defaultValue: String?
  /// Whether the command cannot run without it.
  public let isRequired: Bool
  /// Whether it may be given several times.
  public let isRepeatable: Bool
  /// Whether help, manual and completion leave it out.
  public let isHidden: Bool
  /// What the shell offers for the value.
  public let completion: Completion

  /// An option without a value; given several times it counts (``Arguments/count(_:)``).
  ///
  /// - Parameters:
  ///   - name: The long name without dashes.
  ///   - help: One phrase without a final full stop.
  ///   - short: The one-character form.
  ///   - isHidden: Whether help, manual and completion leave it out.
  /// - Returns: The declaration.
  public static func flag(
    _ name: String, _ help: String, short: Character? = nil, isHidden: Bool = false
  ) -> Option {
    Option(
      name: name, short: short, help: help, valueName: nil, defaultValue: nil, isRequired: false,
      isRepeatable: true, isHidden: isHidden, completion: .nothing)
  }

  /// An option with a value: `--name VALUE`, `--name=VALUE`, `-n VALUE` or `-nVALUE`.
  ///
  /// - Parameters:
  ///   - name: The long name without dashes.
  ///   - help: One phrase without a final full stop.
  ///   - short: The one-character form.
  ///   - valueName: What the value is called in the help; the name of the option if nil.
  ///   - defaultValue: The value when the option is not given.
  ///   - isRequired: Whether the command cannot run without it.
  ///   - isRepeatable: Whether it may be given several times (``Arguments/strings(_:)``).
  ///   - isHidden: Whether help, manual and completion leave it out.
  ///   - completion: What the shell offers; `choices` are also enforced.
  /// - Returns: The declaration.
  public static func value(
    _ name: String, _ help: String, short: Character? = nil, named valueName: String? = nil,
    default defaultValue: String? = nil, isRequired: Bool = false, isRepeatable: Bool = false,
    isHidden: Bool = false, completion: Completion = .nothing
  ) -> Option {
    Option(
      name: name, short: short, help: help, valueName: valueName ?? name, defaultValue: defaultValue,
      isRequired: isRequired, isRepeatable: isRepeatable, isHidden: isHidden, completion: completion)
  }

  var takesValue: Bool { valueName != nil }

  static let help = flag("help", "Print this help and exit", short: "h")
  static let version = flag("version", "Print the version and exit")
}

/// An operand of a command, in the order of declaration.
public struct Argument: Hashable, Sendable {
  /// How often an operand is given.
  public enum Arity: Hashable, Sendable {
    /// Exactly once.
    case one
    /// Once or not at all.
    case optional
    /// At least so often, and last in the list.
    case many(minimum: Int)
  }

  /// The name for ``Arguments`` and, in capitals, for the help.
  public let name: String
  /// What it is: one phrase without a final full stop.
  public let help: String
  /// How often it is given.
  public let arity: Arity
  /// What the shell offers; `choices` are also enforced.
  public let completion: Completion

  /// Declares an operand.
  ///
  /// - Parameters:
  ///   - name: Lower-case letters, digits and dashes.
  ///   - help: One phrase without a final full stop.
  ///   - arity: How often it is given; `optional` and `many` come after all `one`.
  ///   - completion: What the shell offers; `choices` are also enforced.
  public init(_ name: String, _ help: String, arity: Arity = .one, completion: Completion = .nothing) {
    self.name = name
    self.help = help
    self.arity = arity
    self.completion = completion
  }

  var minimumCount: Int {
    switch arity {
    case .one: 1
    case .optional: 0
    case .many(let minimum): minimum
    }
  }

  var maximumCount: Int {
    switch arity {
    case .one, .optional: 1
    case .many: .max
    }
  }
}
