import SignetPolicy
import SignetTestKit
import Testing

/// The counts of a policy, compared with a count over the standard library's properties.
@Suite("Counts of a password's characters")
struct CharacterCountTests {
  private static let alphabets: [ClosedRange<Unicode.Scalar>] = [
    " "..."~", "0"..."z", "A"..."Z", "0"..."9", "\u{A0}"..."\u{17F}", "\u{410}"..."\u{44F}",
  ]

  @Test("each class is counted exactly, as text and as bytes", arguments: UInt64(1)...20)
  func exact(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<100 {
      let alphabets = (0..<generator.pick(1...3)).map { _ in generator.element(Self.alphabets) }
      let text = Self.text(of: alphabets, &generator)
      let scalars = NaiveFormC.prepared(text)
      for kind in CharacterClass.allCases {
        let count = scalars.filter(kind.contains).count
        let broken = try [count - 1, count, count + 1].map { try Self.broken(by: text, kind, exactly: $0) }
        let expected = [count == 0 ? nil : kind.maximumRule, nil, kind.minimumRule]
        if broken != expected {
          Issue.record("\(text.debugDescription) has \(count) of \(kind), and breaks \(broken)")
        }
      }
    }
  }

  /// A text of 1 to 16 characters.
  private static func text(
    of alphabets: [ClosedRange<Unicode.Scalar>], _ generator: inout SplitMix64
  ) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<generator.pick(1...16) {
      let range = generator.element(alphabets)
      let value = generator.pick(Int(range.lowerBound.value)...Int(range.upperBound.value))
      text.append(Unicode.Scalar(UInt32(value)) ?? " ")
    }
    return String(text)
  }

  /// Returns the rule that a text breaks if a policy demands exactly this number of a class; `nil` for a negative number.
  private static func broken(by text: String, _ kind: CharacterClass, exactly count: Int) throws -> String? {
    guard count >= 0 else { return nil }
    var rules = PasswordRules(minimumLength: 1, maximumLength: 64)
    rules.allowsSequences = true
    rules[kind] = CharacterCount(minimum: count, maximum: count)
    let policy = try PasswordPolicy(rules)
    let names = policy.violations(of: text).map(\.rule)
    #expect(policy.violations(ofUTF8: Array(text.utf8)).map(\.rule) == names)
    return names.first { $0 == kind.minimumRule || $0 == kind.maximumRule }
  }

  @Test(
    "passwords that an optimised build misjudged",
    arguments: [
      ("pin-6", "482915", []),
      ("pin-6", "4829a5", ["maxLetters"]),
      ("pin-6", "48291", ["minLength"]),
      ("NUM=6;MALPHA=0;MNALPHA=0;MINLEN=6;MAXLEN=10", "4829a5", ["maxLetters", "minDigits"]),
      ("NUM=6;MALPHA=0;MNALPHA=0;MINLEN=6;MAXLEN=10", "48291", ["minLength", "minDigits"]),
      ("NALPHA=2;MNUM=0;MUP=0", "GARDEN482", ["maxUppercase", "maxDigits", "minNonAlphanumeric"]),
      ("NUM=2;UP=1;LOW=1;NALPHA=1;MINLEN=8", "Garden-42", []),
      ("NUM=2;UP=1;LOW=1;NALPHA=1;MINLEN=8", "garden-42", ["minUppercase"]),
      ("NUM=2;UP=1;LOW=1;NALPHA=1;MINLEN=8", "Garden042", ["minNonAlphanumeric"]),
    ])
  func misjudged(policy: String, password: String, expected: [String]) throws {
    let protection = try PolicyProfile(rawValue: policy)?.policy ?? ProtectionPolicy(string: policy)
    let rules = try #require(protection.passwordPolicy)
    #expect(rules.violations(of: password).map(\.rule) == expected)
    #expect(rules.violations(ofUTF8: Array(password.utf8)).map(\.rule) == expected)
  }
}
