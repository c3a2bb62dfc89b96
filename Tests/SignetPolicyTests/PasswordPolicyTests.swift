import SignetPolicy
import SignetTestKit
import Testing

@Suite("Password policy")
struct PasswordPolicyTests {
  static let mixed = Result {
    try PasswordPolicy(
      minimumLength: 8, maximumLength: 12,
      uppercase: CharacterCount(minimum: 1, maximum: 3), lowercase: CharacterCount(minimum: 1),
      letters: CharacterCount(minimum: 4), digits: CharacterCount(minimum: 2, maximum: 4),
      nonAlphanumerics: CharacterCount(minimum: 1, maximum: 2), maximumRepeats: 2)
  }

  @Test("a password that keeps every rule has no violations")
  func accepted() throws {
    #expect(try Self.mixed.get().violations(of: "Kx7!tt9wB").isEmpty)
  }

  @Test(
    "each broken rule is named",
    arguments: [
      ("Kx7!t9w", [.tooShort(minimum: 8)]),
      ("Kx7!t9wkx7!t9", [.tooLong(maximum: 12)]),
      ("kx7!tt9wb", [.tooFew(.uppercase, minimum: 1)]),
      ("KX7!TW9ÀB", [.tooMany(.uppercase, maximum: 3), .tooFew(.lowercase, minimum: 1)]),
      ("kKx77!!49", [.tooFew(.letter, minimum: 4)]),
      ("Kxw!ttqwB", [.tooFew(.digit, minimum: 2)]),
      ("Kx7!tt97420", [.tooMany(.digit, maximum: 4)]),
      ("Kx7tt9wBq", [.tooFew(.nonAlphanumeric, minimum: 1)]),
      ("Kx7!tt9wB? ", [.tooMany(.nonAlphanumeric, maximum: 2)]),
      ("Kx7!tt9aBc", [.sequence]),
      ("Kx7!ttw321", [.sequence]),
      ("Kx7!ttt9wB", [.repetition(maximum: 2)]),
      ("Kx7!tt9w\u{7}B", [.disallowedCharacter]),
    ] as [(String, [PasswordViolation])])
  func eachRule(password: String, expected: [PasswordViolation]) throws {
    #expect(try Self.mixed.get().violations(of: password) == expected)
    #expect(try Self.mixed.get().violations(ofUTF8: Array(password.utf8)) == expected)
  }

  @Test("all broken rules are reported at once, and their names are unique")
  func everyRule() throws {
    let violations = try Self.mixed.get().violations(of: "111")
    #expect(
      violations == [
        .tooShort(minimum: 8), .tooFew(.uppercase, minimum: 1), .tooFew(.lowercase, minimum: 1),
        .tooFew(.letter, minimum: 4), .tooFew(.nonAlphanumeric, minimum: 1), .repetition(maximum: 2),
      ])
    #expect(
      violations.map(\.rule) == [
        "minLength", "minUppercase", "minLowercase", "minLetters", "minNonAlphanumeric", "maxRepeats",
      ])
    #expect(try Self.mixed.get().violations(of: "").count == 6)
  }

  @Test("sentences name the required number and no typed text")
  func sentences() {
    #expect(PasswordViolation.tooShort(minimum: 8).description == "use at least 8 characters")
    #expect(PasswordViolation.tooMany(.digit, maximum: 4).description == "use at most 4 digits")
    #expect(PasswordViolation.tooMany(.letter, maximum: 0).description == "use no letters")
    #expect(
      PasswordViolation.tooFew(.nonAlphanumeric, minimum: 1).description
        == "use at least 1 character that is neither a letter nor a digit")
    #expect(
      PasswordViolation.tooFew(.uppercase, minimum: 1).description == "use at least 1 upper-case letter")
    #expect(PasswordViolation.tooShort(minimum: 1).description == "use at least 1 character")
    #expect(PasswordViolation.tooLong(maximum: 1).description == "use at most 1 character")
    #expect(
      PasswordViolation.repetition(maximum: 1).description == "do not use the same character twice in a row")
    #expect(
      PasswordViolation.reused(history: 1).description == "choose another password than the current one")
    #expect(
      PasswordViolation.reused(history: 5).description == "choose a password that is not among your last 5")
    #expect(PasswordViolation.custom(rule: "mine", message: "no").description == "no")
    #expect(PasswordViolation.custom(rule: "mine", message: "no").rule == "mine")
    #expect(PasswordViolation.reused(history: 1).rule == "maxHistory")
    #expect(PasswordViolation.inDictionary.rule == "dictionary")
    #expect(PasswordViolation.tooLong(maximum: 12).rule == "maxLength")
    #expect(PasswordViolation.tooMany(.uppercase, maximum: 3).rule == "maxUppercase")
    #expect(PasswordViolation.sequence.rule == "allowSequences")
    #expect(PasswordViolation.disallowedCharacter.rule == "disallowedCharacter")
    #expect(PasswordViolation.notUTF8.rule == "encoding")
  }

  @Test("unset maxima are the maximum length")
  func unsetMaxima() throws {
    let policy = try Self.mixed.get()
    #expect(policy.maximum(of: .lowercase) == 12)
    #expect(policy.maximum(of: .uppercase) == 3)
    #expect(policy.minimum(of: .nonAlphanumeric) == 1)
    #expect(policy.count(of: .letter) == CharacterCount(minimum: 4))
  }

  @Test("a PIN policy takes digits only")
  func pin() throws {
    let policy = try PasswordPolicy.pin(6...8)
    #expect(policy.violations(of: "294716").isEmpty)
    #expect(policy.violations(of: "111111").isEmpty)
    #expect(policy.violations(of: "29471").contains(.tooShort(minimum: 6)))
    #expect(policy.violations(of: "29471x").contains(.tooMany(.letter, maximum: 0)))
    #expect(policy.violations(of: "29471-").contains(.tooMany(.nonAlphanumeric, maximum: 0)))
    #expect(policy.violations(of: "294123") == [.sequence])
    #expect(policy.violations(of: "\u{662}\u{669}\u{664}\u{667}\u{661}\u{666}").isEmpty)
  }

  @Test(
    "sequences are recognised",
    arguments: [
      ("abc", true), ("cba", true), ("aBC", true), ("789", true), ("321", true), ("xabcx", true),
      ("ab", false), ("abab", false), ("aba", false), ("121", false), ("ace", false), ("135", false),
      ("@AB", false), ("/01", false), ("!\"#", false), ("яюэ", true), ("012", true), ("z{|", false),
      ("ab12", false), ("abcb", true), ("abac", false), ("abdc", false), ("", false),
      ("\u{0}\u{1}\u{2}", false),
    ])
  func sequences(password: String, isSequence: Bool) throws {
    let policy = try PasswordPolicy(minimumLength: 1, maximumLength: 256)
    #expect(policy.violations(of: password).contains(.sequence) == isSequence)
    let lenient = try PasswordPolicy(minimumLength: 1, maximumLength: 256, allowsSequences: true)
    #expect(!lenient.violations(of: password).contains(.sequence))
  }

  @Test("consecutive repeats are counted, case-sensitively")
  func repeats() throws {
    let policy = try PasswordPolicy(minimumLength: 1, maximumLength: 20, maximumRepeats: 1)
    #expect(policy.violations(of: "aAaA").isEmpty)
    #expect(policy.violations(of: "abab").isEmpty)
    #expect(policy.violations(of: "abba") == [.repetition(maximum: 1)])
  }

  @Test("lengths are code points after NFC")
  func lengths() throws {
    let policy = try PasswordPolicy(minimumLength: 4, maximumLength: 4)
    #expect(policy.violations(of: "e\u{301}e\u{301}e\u{301}e\u{301}").isEmpty)
    #expect(policy.violations(of: "\u{1F600}\u{1F601}\u{1F602}\u{1F603}").isEmpty)
    #expect(policy.violations(of: "\u{1F600}\u{1F601}\u{1F602}") == [.tooShort(minimum: 4)])
  }

  @Test("bytes that are not UTF-8, and more than anyone types, are refused before counting")
  func hostileBytes() throws {
    let policy = try Self.mixed.get()
    #expect(policy.violations(ofUTF8: [0x4B, 0xFF, 0x78]) == [.notUTF8])
    let huge = [UInt8](repeating: 0x61, count: OpaqueString.maximumByteCount + 1)
    #expect(policy.violations(ofUTF8: huge) == [.tooLong(maximum: 12)])
    #expect(policy.violations(of: String(repeating: "a", count: huge.count)) == [.tooLong(maximum: 12)])
  }

  @Test("every accepted password can be prepared")
  func acceptedMeansPreparable() throws {
    let policy = try PasswordPolicy(minimumLength: 1, maximumLength: 256, allowsSequences: true)
    var generator = SeededRandom(test: "what a policy accepts can be prepared")
    for _ in 0..<2000 {
      var bytes = (0..<Int.random(in: 0..<24, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      if Bool.random(using: &generator) { bytes = Array(String(decoding: bytes, as: UTF8.self).utf8) }
      let isAccepted = policy.violations(ofUTF8: bytes).isEmpty
      let isPreparable = (try? OpaqueString.prepare(utf8: bytes)) != nil
      #expect(isAccepted == isPreparable, "bytes \(bytes)")
    }
  }
}

@Suite("Password policy contradictions")
struct PasswordPolicyContradictionTests {
  @Test(
    "single values are bounded",
    arguments: [
      (0, 8, "minLength", 0), (1, 257, "maxLength", 257), (1, 0, "maxLength", 0), (-5, 8, "minLength", -5),
    ])
  func lengthBounds(minimum: Int, maximum: Int, rule: String, value: Int) {
    #expect(throws: PolicyFailure.outOfRange(rule: rule, value: value, allowed: 1...256)) {
      try PasswordPolicy(minimumLength: minimum, maximumLength: maximum)
    }
  }

  @Test("counts and repeats are bounded")
  func countBounds() {
    #expect(throws: PolicyFailure.outOfRange(rule: "minDigits", value: -1, allowed: 0...256)) {
      try PasswordPolicy(minimumLength: 4, maximumLength: 8, digits: CharacterCount(minimum: -1))
    }
    #expect(throws: PolicyFailure.outOfRange(rule: "maxLetters", value: 257, allowed: 0...256)) {
      try PasswordPolicy(minimumLength: 4, maximumLength: 8, letters: CharacterCount(maximum: 257))
    }
    #expect(throws: PolicyFailure.outOfRange(rule: "maxRepeats", value: 0, allowed: 1...256)) {
      try PasswordPolicy(minimumLength: 4, maximumLength: 8, maximumRepeats: 0)
    }
    #expect(throws: PolicyFailure.outOfRange(rule: "minUppercase", value: .max, allowed: 0...256)) {
      try PasswordPolicy(minimumLength: 4, maximumLength: 8, uppercase: CharacterCount(minimum: .max))
    }
  }

  @Test("minimum above maximum")
  func crossed() {
    #expect(throws: PolicyFailure.contradiction(rules: ["minLength", "maxLength"])) {
      try PasswordPolicy(minimumLength: 9, maximumLength: 8)
    }
    #expect(throws: PolicyFailure.contradiction(rules: ["minUppercase", "maxLetters"])) {
      try PasswordPolicy(
        minimumLength: 4, maximumLength: 8, uppercase: CharacterCount(minimum: 3),
        letters: CharacterCount(maximum: 2))
    }
    #expect(throws: PolicyFailure.contradiction(rules: ["dictionary", "maxLength"])) {
      try PasswordPolicy(minimumLength: 4, maximumLength: 5, checksDictionary: true)
    }
    #expect(throws: PolicyFailure.contradiction(rules: ["minAge", "maxAge"])) {
      try PasswordPolicy(
        minimumLength: 4, maximumLength: 8, age: PasswordAge(minimumDays: 30, maximumDays: 7))
    }
    #expect(throws: PolicyFailure.contradiction(rules: ["minDigits", "maxDigits"])) {
      try PasswordPolicy(minimumLength: 4, maximumLength: 8, digits: CharacterCount(minimum: 3, maximum: 2))
    }
  }

  @Test("more digits than the maximum length: the reference product's example")
  func moreThanFits() {
    #expect(throws: PolicyFailure.contradiction(rules: ["minDigits", "maxLength"])) {
      try PasswordPolicy(minimumLength: 4, maximumLength: 6, digits: CharacterCount(minimum: 8))
    }
  }

  @Test("classes that do not fit together")
  func sums() {
    #expect(throws: PolicyFailure.contradiction(rules: ["minUppercase", "minLowercase", "maxLetters"])) {
      try PasswordPolicy(
        minimumLength: 4, maximumLength: 8, uppercase: CharacterCount(minimum: 2),
        lowercase: CharacterCount(minimum: 2), letters: CharacterCount(maximum: 3))
    }
    #expect(throws: PolicyFailure.contradiction(rules: ["minUppercase", "minLowercase", "maxLength"])) {
      try PasswordPolicy(
        minimumLength: 4, maximumLength: 8, uppercase: CharacterCount(minimum: 5),
        lowercase: CharacterCount(minimum: 5), letters: CharacterCount(maximum: 20))
    }
    #expect(throws: PolicyFailure.contradiction(rules: ["minDigits", "minNonAlphanumeric", "maxLength"])) {
      try PasswordPolicy(
        minimumLength: 4, maximumLength: 8, digits: CharacterCount(minimum: 5),
        nonAlphanumerics: CharacterCount(minimum: 4))
    }
    #expect(throws: PolicyFailure.contradiction(rules: ["minUppercase", "minDigits", "maxLength"])) {
      try PasswordPolicy(
        minimumLength: 4, maximumLength: 8, uppercase: CharacterCount(minimum: 5),
        digits: CharacterCount(minimum: 4))
    }
    #expect(throws: PolicyFailure.contradiction(rules: ["minLetters", "minNonAlphanumeric", "maxLength"])) {
      try PasswordPolicy(
        minimumLength: 4, maximumLength: 8, letters: CharacterCount(minimum: 5),
        nonAlphanumerics: CharacterCount(minimum: 4))
    }
  }

  @Test("maxima that leave the minimum length out of reach")
  func tooTight() {
    #expect(
      throws: PolicyFailure.contradiction(rules: [
        "maxLetters", "maxDigits", "maxNonAlphanumeric", "minLength",
      ])
    ) {
      try PasswordPolicy(
        minimumLength: 8, maximumLength: 10, letters: CharacterCount(maximum: 3),
        digits: CharacterCount(maximum: 3), nonAlphanumerics: CharacterCount(maximum: 1))
    }
  }

  @Test("rules that only just fit are allowed")
  func justFits() throws {
    let policy = try PasswordPolicy(
      minimumLength: 8, maximumLength: 8, uppercase: CharacterCount(minimum: 2),
      lowercase: CharacterCount(minimum: 2), letters: CharacterCount(minimum: 4, maximum: 4),
      digits: CharacterCount(minimum: 2, maximum: 2), nonAlphanumerics: CharacterCount(minimum: 2))
    #expect(policy.violations(of: "TVxz24!?").isEmpty)
    // A maximum above the length is irrelevant, not a contradiction.
    _ = try PasswordPolicy(minimumLength: 6, maximumLength: 8, digits: CharacterCount(maximum: 10))
  }

  @Test("sentences name the rules")
  func sentences() {
    #expect(
      PolicyFailure.contradiction(rules: ["minLength", "maxLength"]).description
        == "no password satisfies minLength, maxLength together; relax one of them")
    #expect(
      PolicyFailure.outOfRange(rule: "minLength", value: 0, allowed: 1...256).description
        == "minLength is 0; use 1 to 256")
    #expect(
      PolicyFailure.unknownType("biometricorpassword").description
        == "policy type \"biometricorpassword\" is unknown here; write \"biometricOrPassword\"")
    let long = String(repeating: "x", count: 1000)
    #expect(PolicyFailure.unknownRule(long).description.count < 120)
  }
}
