/// The shell completion of a value; for ``choices(_:)`` also the values that the parser accepts.
package enum ShellCompletion: Hashable, Sendable {
  /// Any value; the shell offers nothing.
  case nothing
  /// The path of a file.
  case file
  /// The path of a folder.
  case directory
  /// Any value; the shell offers these words.
  case words([String])
  /// Only these words.
  case choices([String])
}

/// An option of a command, declared once for the parser, the help, the manual and the shells.
package struct Option: Hashable, Sendable {
  /// The long name without dashes: lower-case letters, digits and dashes.
  package let name: String
  /// The one-character form without a dash, if there is one.
  package let short: Character?
  /// The effect: one phrase without a final full stop.
  package let help: String
  /// The placeholder for the value in the help; `nil` for a flag.
  package let valueName: String?
  /// The value if the option is not given.
  package let defaultValue: String?
  /// True if the option must be given.
  package let isRequired: Bool
  /// True if the option may be given several times.
  package let isRepeatable: Bool
  /// True if help, manual and completion omit the option.
  package let isHidden: Bool
  /// The shell completion of the value.
  package let completion: ShellCompletion

  /// An option without a value; repetitions are counted (``Arguments/count(_:)``).
  ///
  /// - Parameters:
  ///   - name: The long name without dashes.
  ///   - help: One phrase without a final full stop.
  ///   - short: The one-character form.
  ///   - isHidden: True to omit the option from help, manual and completion.
  /// - Returns: The declaration.
  package static func flag(
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
  ///   - valueName: The placeholder for the value in the help; the name of the option if `nil`.
  ///   - defaultValue: The value if the option is not given.
  ///   - isRequired: True if the option must be given.
  ///   - isRepeatable: True if the option may be given several times (``Arguments/strings(_:)``).
  ///   - isHidden: True to omit the option from help, manual and completion.
  ///   - completion: The shell completion; the parser also enforces `choices`.
  /// - Returns: The declaration.
  package static func value(
    _ name: String, _ help: String, short: Character? = nil, named valueName: String? = nil,
    default defaultValue: String? = nil, isRequired: Bool = false, isRepeatable: Bool = false,
    isHidden: Bool = false, completion: ShellCompletion = .nothing
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
package struct Argument: Hashable, Sendable {
  /// The number of times that an operand is given.
  package enum Arity: Hashable, Sendable {
    /// Exactly once.
    case one
    /// Once or not at all.
    case optional
    /// At least this many times; the operand must be the last one.
    case many(minimum: Int)
  }

  /// The name for ``Arguments``; the help shows it in capitals.
  package let name: String
  /// The meaning: one phrase without a final full stop.
  package let help: String
  /// The number of times that it is given.
  package let arity: Arity
  /// The shell completion; the parser also enforces `choices`.
  package let completion: ShellCompletion

  /// Declares an operand.
  ///
  /// - Parameters:
  ///   - name: Lower-case letters, digits and dashes.
  ///   - help: One phrase without a final full stop.
  ///   - arity: The number of times that it is given; `optional` and `many` come after all `one`.
  ///   - completion: The shell completion; the parser also enforces `choices`.
  package init(_ name: String, _ help: String, arity: Arity = .one, completion: ShellCompletion = .nothing) {
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
