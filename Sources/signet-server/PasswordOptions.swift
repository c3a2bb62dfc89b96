import SignetPolicy
import SignetTerminal

/// The options of `init` for the password rules; named as in `docs/protocol.md` section 3.4.
enum PasswordOptions {
  private static let classes: [(CharacterClass, name: String, help: String)] = [
    (.uppercase, "uppercase", "upper-case letters"), (.lowercase, "lowercase", "lower-case letters"),
    (.letter, "letters", "letters"), (.digit, "digits", "digits"),
    (.nonAlphanumeric, "non-alphanumerics", "other characters"),
  ]

  static let all: [Option] =
    [
      .value("minimum-length", "The least characters of a password", named: "n", default: "6"),
      .value("maximum-length", "The most characters of a password", named: "n", default: "64"),
    ]
    + classes.flatMap { (_, name, help) -> [Option] in
      [
        .value("minimum-\(name)", "The least \(help) in a password", named: "n"),
        .value("maximum-\(name)", "The most \(help) in a password; 0 forbids them", named: "n"),
      ]
    } + [
      .flag("allow-sequences", "Allow runs such as abc or 321 in a password"),
      .value("maximum-repeats", "How often a character may follow itself", named: "n"),
    ]

  static func policy(_ arguments: Arguments) throws -> PasswordPolicy {
    let lengths = PasswordPolicy.allowedLengths
    var counts: [CharacterClass: CharacterCount] = [:]
    for (kind, name, _) in classes {
      counts[kind] = CharacterCount(
        minimum: try arguments.optionalInteger("minimum-\(name)", in: 0...lengths.upperBound) ?? 0,
        maximum: try arguments.optionalInteger("maximum-\(name)", in: 0...lengths.upperBound))
    }
    do {
      return try PasswordPolicy(
        minimumLength: arguments.integer("minimum-length", in: lengths),
        maximumLength: arguments.integer("maximum-length", in: lengths),
        uppercase: counts[.uppercase] ?? .any, lowercase: counts[.lowercase] ?? .any,
        letters: counts[.letter] ?? .any, digits: counts[.digit] ?? .any,
        nonAlphanumerics: counts[.nonAlphanumeric] ?? .any,
        allowsSequences: arguments.isSet("allow-sequences"),
        maximumRepeats: arguments.optionalInteger("maximum-repeats", in: lengths))
    } catch let failure as PolicyFailure {
      throw UsageFailure.refused(TerminalText(failure.description))
    }
  }
}
