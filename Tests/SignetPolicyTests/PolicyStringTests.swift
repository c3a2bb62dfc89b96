import SignetJSON
import SignetPolicy
import SignetTestKit
import Testing

@Suite("Policy strings")
struct PolicyStringTests {
  static let numericExample =
    "UP=0;LOW=0;NUM=6;ALPHA=0;NALPHA=0;MUP=0;MLOW=0;MNUM=8;MALPHA=0;MNALPHA=0;MINLEN=6;MAXLEN=8"

  @Test("the numeric example of existing systems means 6 to 8 digits and nothing else")
  func numericExample() throws {
    let policy = try ProtectionPolicy(string: Self.numericExample)
    let rules = try #require(policy.passwordPolicy)
    #expect(policy == .password(rules, .lock(limit: 5)))
    #expect(rules.minimumLength == 6)
    #expect(rules.maximumLength == 8)
    #expect(rules.count(of: .digit) == CharacterCount(minimum: 6, maximum: 8))
    for kind in [CharacterClass.uppercase, .lowercase, .letter, .nonAlphanumeric] {
      #expect(rules.count(of: kind) == CharacterCount(minimum: 0, maximum: 0))
    }
    for accepted in ["482915", "4829150", "48291506"] { #expect(rules.violations(of: accepted).isEmpty) }
    #expect(rules.violations(of: "48291") == [.tooShort(minimum: 6), .tooFew(.digit, minimum: 6)])
    #expect(rules.violations(of: "482915063") == [.tooLong(maximum: 8), .tooMany(.digit, maximum: 8)])
    #expect(
      rules.violations(of: "48291a") == [
        .tooMany(.lowercase, maximum: 0), .tooMany(.letter, maximum: 0), .tooFew(.digit, minimum: 6),
      ])
    #expect(rules.violations(of: "48291A7").map(\.rule) == ["maxUppercase", "maxLetters"])
    #expect(rules.violations(of: "48-2915") == [.tooMany(.nonAlphanumeric, maximum: 0)])
    #expect(rules.violations(of: "123456") == [.sequence])
    #expect(policy.string == Self.numericExample)
    #expect(policy.stringWithLock == Self.numericExample + ";LOCKTYPE=lock;LOCKCOUNTER=5")
    #expect(try ProtectionPolicy(string: policy.stringWithLock) == policy)
  }

  @Test("the same example's parameters: 6 to 10 digits, and omitted minima are 0")
  func numericParameters() throws {
    let policy = try ProtectionPolicy(
      string: "MINLEN=6;MAXLEN=10;NUM=6;MNUM=10;MUP=0;MLOW=0;MALPHA=0;MNALPHA=0")
    let rules = try #require(policy.passwordPolicy)
    #expect(rules.violations(of: "4829150637").isEmpty)
    #expect(rules.violations(of: "48291506371").map(\.rule) == ["maxLength", "maxDigits"])
    #expect(PolicyReview(policy).findings.filter { $0.severity != .profile }.isEmpty)
  }

  @Test("unset maxima are the maximum length, in a string as elsewhere")
  func unsetMaxima() throws {
    let rules = try #require(try ProtectionPolicy(string: "MINLEN=4;MAXLEN=9").passwordPolicy)
    for kind in CharacterClass.allCases { #expect(rules.maximum(of: kind) == 9) }
  }

  @Test("every code is read")
  func everyCode() throws {
    let policy = try ProtectionPolicy(
      string: """
        TYPE=biometricorpassword;MINLEN=8;MAXLEN=40;UP=1;LOW=2;ALPHA=4;NUM=1;NALPHA=1;MUP=10;MLOW=20;MALPHA=30;\
        MNUM=9;MNALPHA=8;HISTNUM=5;HISTMINAGE=1;HISTMAXAGE=90;CACHE=1;CACHETIMEOUT=45;SEQ=1;REPEAT=3;DICT=1;\
        LOCKTYPE=delay;LOCKCOUNTER=6;LOCKDELAY=2
        """)
    let expected = try PasswordPolicy(
      minimumLength: 8, maximumLength: 40, uppercase: CharacterCount(minimum: 1, maximum: 10),
      lowercase: CharacterCount(minimum: 2, maximum: 20), letters: CharacterCount(minimum: 4, maximum: 30),
      digits: CharacterCount(minimum: 1, maximum: 9),
      nonAlphanumerics: CharacterCount(minimum: 1, maximum: 8),
      allowsSequences: true, maximumRepeats: 3, maximumHistory: 5,
      age: PasswordAge(minimumDays: 1, maximumDays: 90), cache: PasswordCache(isEnabled: true, timeout: 45),
      checksDictionary: true)
    #expect(policy == .biometricOrPassword(expected, .delay(seconds: 2, counter: 6)))
  }

  @Test(
    "every lock is read",
    arguments: [
      ("", .lock(limit: 5)), ("LOCKTYPE=none", .none), ("LOCKTYPE=silent", .silent),
      ("LOCKTYPE=lock;LOCKCOUNTER=3", .lock(limit: 3)),
      ("LOCKTYPE=LOCK;LOCKCOUNTER=10;LOCKWIPE=1", .lock(limit: 10, atLimit: .wipe)),
      ("LOCKTYPE=lock;LOCKCOUNTER=10;LOCKWIPE=0", .lock(limit: 10)),
      ("LOCKTYPE=Delay;LOCKCOUNTER=6;LOCKDELAY=2", .delay(seconds: 2, counter: 6)),
      ("LOCKTYPE=cooldown;LOCKWAITS=0, 0,60,180", .fiveAttempts),
      ("LOCKTYPE=coolDown;LOCKWAITS=5;LOCKWIPE=true", .coolDown(waits: [5], atLimit: .wipe)),
    ] as [(String, LockPolicy)])
  func everyLock(string: String, lock: LockPolicy) throws {
    #expect(try ProtectionPolicy(string: "MINLEN=6;MAXLEN=8;" + string).lockPolicy == lock)
  }

  @Test("types are read, and types without a password need no other pair")
  func types() throws {
    #expect(try ProtectionPolicy(string: "TYPE=device") == .device)
    #expect(try ProtectionPolicy(string: "type = DEVICE ;") == .device)
    #expect(try ProtectionPolicy(string: "TYPE=biometric") == .biometric)
    #expect(try ProtectionPolicy(string: "TYPE=devicepasscode") == .devicePasscode)
    let pin = try PasswordPolicy(minimumLength: 6, maximumLength: 8)
    #expect(
      try ProtectionPolicy(string: "TYPE=devicelockorpassword;MINLEN=6;MAXLEN=8")
        == .deviceLockOrPassword(pin, .lock(limit: 5)))
  }

  @Test("order, case, spaces, line ends and empty pairs do not matter")
  func lenient() throws {
    let plain = try ProtectionPolicy(string: "MINLEN=6;MAXLEN=8;NUM=2")
    #expect(try ProtectionPolicy(string: " num = 2 ;; maxlen=8;\n\tMinLen=6;\r\n") == plain)
  }

  @Test(
    "refusals",
    arguments: [
      ("MINLEN", .notAPair("MINLEN")), ("=5", .notAPair("=5")),
      ("MINLEN=six", .notAValue(rule: "MINLEN", expected: "a whole number")),
      ("MINLEN=", .notAValue(rule: "MINLEN", expected: "a whole number")),
      ("MINLEN=+6", .notAValue(rule: "MINLEN", expected: "a whole number")),
      ("MINLEN=0x6", .notAValue(rule: "MINLEN", expected: "a whole number")),
      ("MINLEN=\u{666}", .notAValue(rule: "MINLEN", expected: "a whole number")),
      ("MINLEN=6=7", .notAValue(rule: "MINLEN", expected: "a whole number")),
      ("MINLEN=6;MINLEN=6", .repeatedRule("MINLEN")), ("MINLEN=6;minlen=7", .repeatedRule("MINLEN")),
      ("SEQ=maybe", .notAValue(rule: "SEQ", expected: "0 or 1")),
      ("LOCKTYPE=lock;LOCKCOUNTER=5;LOCKWIPE=2", .notAValue(rule: "LOCKWIPE", expected: "0 or 1")),
      ("LOCKTYPE=lock", .malformed(.missingMember("LOCKCOUNTER"))),
      ("LOCKCOUNTER=5", .malformed(.missingMember("LOCKTYPE"))),
      ("LOCKTYPE=delay;LOCKCOUNTER=6", .malformed(.missingMember("LOCKDELAY"))),
      ("LOCKTYPE=delay;LOCKDELAY=6", .malformed(.missingMember("LOCKCOUNTER"))),
      ("LOCKTYPE=cooldown", .malformed(.missingMember("LOCKWAITS"))),
      (
        "LOCKTYPE=cooldown;LOCKWAITS=0,,60", .notAValue(rule: "LOCKWAITS", expected: "a whole number")
      ),
      ("LOCKTYPE=loud", .unknownType("loud")), ("TYPE=face", .unknownType("face")),
      (
        "MINLEN=99999999999999999999999999",
        .outOfRange(rule: "minLength", value: .max, allowed: 1...256)
      ),
      (
        "MINLEN=-99999999999999999999999999",
        .outOfRange(rule: "minLength", value: .min, allowed: 1...256)
      ),
      ("NUM=8;MAXLEN=6", .contradiction(rules: ["minDigits", "maxLength"])),
      ("LOCKTYPE=lock;LOCKCOUNTER=101", .outOfRange(rule: "limit", value: 101, allowed: 1...100)),
    ] as [(String, PolicyFailure)])
  func refusals(string: String, failure: PolicyFailure) {
    #expect(throws: failure) { try ProtectionPolicy(string: string) }
  }

  @Test("a string of more than 4096 bytes is refused before parsing")
  func tooLong() {
    #expect(throws: PolicyFailure.tooLong(byteCount: 4097, limit: 4096)) {
      try ProtectionPolicy(string: String(repeating: ";", count: 4097))
    }
    #expect(throws: Never.self) { try ProtectionPolicy(string: String(repeating: ";", count: 4096)) }
  }

  @Test("random policies survive a round trip", arguments: UInt64(1)...10)
  func roundTrip(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let policy = ProtectionPolicy.random(&generator)
      let again = try ProtectionPolicy(string: policy.string)
      if again != policy { Issue.record("\(policy.string)") }
      #expect(again.string == policy.string)
      if try ProtectionPolicy(policy.json) != policy { Issue.record("\(policy.json.text)") }
      #expect(PolicyReview(string: policy.string).policy == policy)
    }
  }

  @Test("any text is read or refused, over random mutations", arguments: UInt64(1)...10)
  func total(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let alphabet = Array("=;,-0123456789MINLEXTYPOCKDAUS \n\u{0}\u{E9}").map(String.init)
    for _ in 0..<300 {
      var pieces = ProtectionPolicy.random(&generator).string.map(String.init)
      for _ in 0..<generator.pick(1...6) where !pieces.isEmpty {
        let place = generator.pick(0...(pieces.count - 1))
        if generator.chance(50) {
          pieces[place] = generator.element(alphabet)
        } else {
          pieces.remove(at: place)
        }
      }
      let review = PolicyReview(string: pieces.joined())
      #expect(review.isValid == (review.policy != nil))
      for finding in review.findings { #expect(!finding.description.isEmpty) }
    }
  }
}
