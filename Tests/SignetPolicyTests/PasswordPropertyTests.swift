import Foundation
import SignetPolicy
import SignetTestKit
import Testing

/// A second implementation of the rules, as plain as they are written in `docs/policies.md`.
private struct NaiveRules {
  let rules: PasswordRules

  func broken(by password: String) -> Set<String> {
    let scalars = NaiveFormC.prepared(password)
    var broken: Set<String> = []
    if scalars.count < rules.minimumLength { broken.insert("minLength") }
    if scalars.count > rules.maximumLength { broken.insert("maxLength") }

    let isLetter: (Unicode.Scalar) -> Bool = { $0.properties.isAlphabetic }
    let isDigit: (Unicode.Scalar) -> Bool = { $0.properties.numericType == .decimal }
    let counts: [(String, CharacterCount, Int)] = [
      ("Uppercase", rules.uppercase, scalars.filter { $0.properties.isUppercase }.count),
      ("Lowercase", rules.lowercase, scalars.filter { $0.properties.isLowercase }.count),
      ("Letters", rules.letters, scalars.filter(isLetter).count),
      ("Digits", rules.digits, scalars.filter(isDigit).count),
      (
        "NonAlphanumeric", rules.nonAlphanumerics,
        scalars.filter { scalar in !isLetter(scalar) && !isDigit(scalar) }.count
      ),
    ]
    for (name, bounds, count) in counts {
      if count < bounds.minimum { broken.insert("min" + name) }
      if let maximum = bounds.maximum, count > maximum { broken.insert("max" + name) }
    }

    let folded = scalars.map { Array(String($0).lowercased().unicodeScalars) }
    for start in scalars.indices.dropLast(2) {
      let window = start..<(start + 3)
      let oneKind = scalars[window].allSatisfy(isLetter) || scalars[window].allSatisfy(isDigit)
      let values = folded[window].map { $0.count == 1 ? Int($0[0].value) : -100 }
      let rises = values[1] == values[0] + 1 && values[2] == values[1] + 1
      let falls = values[1] == values[0] - 1 && values[2] == values[1] - 1
      if oneKind, rises || falls, !rules.allowsSequences { broken.insert("allowSequences") }
    }
    if let most = rules.maximumRepeats {
      for start in scalars.indices where start + most < scalars.count {
        if Set(scalars[start...(start + most)]).count == 1 { broken.insert("maxRepeats") }
      }
    }
    if !scalars.isEmpty {
      var prepared = String.UnicodeScalarView()
      prepared.append(contentsOf: scalars)
      do { _ = try OpaqueString.prepare(String(prepared)) } catch { broken.insert("disallowedCharacter") }
    }
    return broken
  }
}

@Suite("Password policy against a second implementation")
struct PasswordPropertyTests {
  private static let alphabets: [[String]] = [
    "abcdefABCDEF0123456789!? -".map(String.init),
    "aaabbbAB1122!".map(String.init),
    "0123456789".map(String.init),
    ["a", "B", "\u{E9}", "\u{C9}", "\u{DF}", "7", "8", "9", "\u{661}", "\u{662}", "\u{663}", "\u{A7}"],
    ["\u{44F}", "\u{44E}", "\u{44D}", "\u{42F}", "\u{4E2D}", "\u{3000}", "e\u{301}", "\u{130}", "1", "x"],
  ]

  @Test("the same rules are broken, over random policies and passwords", arguments: UInt64(1)...20)
  func agrees(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var made = 0
    var accepted = 0
    while made < 50 {
      let rules = PasswordRules.random(&generator)
      let policy: PasswordPolicy
      do { policy = try PasswordPolicy(rules) } catch { continue }
      made += 1
      for _ in 0..<40 {
        let alphabet = generator.element(Self.alphabets)
        let password = (0..<generator.pick(0...16)).map { _ in generator.element(alphabet) }.joined()
        if Self.isAccepted(password, policy) { accepted += 1 }
      }
    }
    #expect(accepted > 0, "no password was accepted, so the test shows little")
  }

  @Test("the same rules are broken in every script", arguments: ScriptAlphabet.all)
  func everyScript(_ alphabet: ScriptAlphabet) {
    var generator = SplitMix64(seed: 7)
    var made = 0
    while made < 40 {
      let policy: PasswordPolicy
      do { policy = try PasswordPolicy(.random(&generator)) } catch { continue }
      made += 1
      for _ in 0..<20 { _ = Self.isAccepted(alphabet.text(&generator), policy) }
    }
  }

  /// Evaluates a password, as text and as bytes, and reports differences from the second implementation.
  private static func isAccepted(_ password: String, _ policy: PasswordPolicy) -> Bool {
    let violations = policy.violations(of: password)
    let names = violations.map(\.rule)
    let expected = NaiveRules(rules: policy.rules).broken(by: password)
    if Set(names) != expected || names.count != expected.count {
      Issue.record(
        "\(policy.rules), \(password.debugDescription): \(names.sorted()) and \(expected.sorted())")
    }
    if policy.violations(ofUTF8: Array(password.utf8)) != violations {
      Issue.record("bytes and text of \(password.debugDescription) are judged differently")
    }
    return violations.isEmpty
  }

  @Test(
    "each character of the first planes is counted in its class and allowed as in key derivation")
  func everyCharacter() throws {
    var rules = PasswordRules(minimumLength: 1, maximumLength: 256)
    for kind in CharacterClass.allCases { rules[kind] = .none }
    rules.letters = .any  // with no class at all there is no password
    let others = try PasswordPolicy(rules)
    rules.letters = .none
    rules.nonAlphanumerics = .any
    let letters = try PasswordPolicy(rules)
    for codePoint in Array(UInt32(0x20)..<0x3400) + Array(0xA600..<0xAC00) + Array(0xF900..<0x1_0500)
      + Array(0x1_D400..<0x1_D800)
    {
      guard let scalar = Unicode.Scalar(codePoint) else { continue }
      let text = String(scalar)
      guard Array(text.precomposedStringWithCanonicalMapping.unicodeScalars) == [scalar],
        scalar.properties.generalCategory != .spaceSeparator
      else { continue }
      let broken = Set((others.violations(of: text) + letters.violations(of: text)).map(\.rule))
      var expected = Set(CharacterClass.allCases.filter { $0.contains(scalar) }.map(\.maximumRule))
      do { _ = try OpaqueString.prepare(text) } catch { expected.insert("disallowedCharacter") }
      if broken != expected { Issue.record("U+\(String(codePoint, radix: 16)): \(broken), \(expected)") }
    }
  }

  @Test("contradictory rules have no valid password, others have one", arguments: UInt64(1)...10)
  func contradictions(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<400 {
      var rules = PasswordRules.random(&generator)
      (rules.age, rules.checksDictionary) = (.unlimited, false)
      let isPolicy: Bool
      do {
        _ = try PasswordPolicy(rules)
        isPolicy = true
      } catch { isPolicy = false }
      if isPolicy != Self.hasPassword(rules) { Issue.record("\(rules)") }
    }
  }

  /// Returns whether some number of letters of each kind, digits and others keeps every bound, by trying all.
  ///
  /// Sequences and repeats do not matter: there are enough letters, digits and signs to avoid them.
  private static func hasPassword(_ rules: PasswordRules) -> Bool {
    func fits(_ count: Int, _ bounds: CharacterCount) -> Bool {
      count >= bounds.minimum && count <= bounds.maximum ?? .max
    }
    guard rules.minimumLength <= rules.maximumLength else { return false }
    let counts = 0...rules.maximumLength
    for upper in counts where fits(upper, rules.uppercase) {
      for lower in counts where fits(lower, rules.lowercase) {
        for letters in counts where letters >= upper + lower && fits(letters, rules.letters) {
          for digits in counts where fits(digits, rules.digits) {
            for others in counts where fits(others, rules.nonAlphanumerics) {
              if rules.minimumLength...rules.maximumLength ~= letters + digits + others { return true }
            }
          }
        }
      }
    }
    return false
  }
}
