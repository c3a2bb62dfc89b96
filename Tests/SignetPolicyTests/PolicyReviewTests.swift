import SignetJSON
import SignetPolicy
import Testing

@Suite("Policy linter")
struct PolicyReviewTests {
  private func found(_ string: String, _ severity: PolicyFinding.Severity) -> [[String]] {
    PolicyReview(string: string).findings.filter { $0.severity == severity }.map(\.rules)
  }

  @Test(
    "contradictory rules are named",
    arguments: [
      ("MINLEN=6;MAXLEN=6;NUM=8", [["minDigits", "maxLength"]]),
      ("MINLEN=9;MAXLEN=8", [["minLength", "maxLength"]]),
      ("MINLEN=4;MAXLEN=8;NUM=3;MNUM=2", [["minDigits", "maxDigits"]]),
      ("MINLEN=4;MAXLEN=8;UP=3;MALPHA=2", [["minUppercase", "maxLetters"]]),
      ("MINLEN=4;MAXLEN=8;UP=2;LOW=2;MALPHA=3", [["minUppercase", "minLowercase", "maxLetters"]]),
      (
        "MINLEN=4;MAXLEN=8;UP=3;NUM=3;NALPHA=3",
        [["minUppercase", "minDigits", "minNonAlphanumeric", "maxLength"]]
      ),
      (
        "MINLEN=8;MAXLEN=9;MALPHA=2;MNUM=2;MNALPHA=2",
        [["maxLetters", "maxDigits", "maxNonAlphanumeric", "minLength"]]
      ),
      ("MINLEN=4;MAXLEN=8;HISTMINAGE=30;HISTMAXAGE=30", [["minAge", "maxAge"]]),
      ("MINLEN=4;MAXLEN=5;DICT=1", [["dictionary", "maxLength"]]),
      (
        "MINLEN=9;MAXLEN=8;NUM=9;HISTMINAGE=2;HISTMAXAGE=1",
        [["minLength", "maxLength"], ["minDigits", "maxLength"], ["minAge", "maxAge"]]
      ),
    ] as [(String, [[String]])])
  func clashes(string: String, rules: [[String]]) {
    #expect(found(string, .error) == rules)
    #expect(PolicyReview(string: string).policy == nil)
    #expect(!PolicyReview(string: string).isValid)
  }

  @Test("a contradiction names both rules with their codes and numbers")
  func sentence() throws {
    let finding = try #require(PolicyReview(string: "MINLEN=4;MAXLEN=6;NUM=8").findings.first)
    #expect(finding.rule == "minDigits")
    #expect(finding.conflictsWith == ["maxLength"])
    #expect(
      finding.description
        == "no password satisfies minDigits (NUM) 8 and maxLength (MAXLEN) 6 together; relax one of them")
  }

  @Test("an unset length gives a warning with the effective number")
  func lengths() {
    #expect(
      PolicyReview(string: "NALPHA=2;MNUM=0;MUP=0").findings.filter { $0.severity == .warning }.map(\.message)
        == [
          "MINLEN is not set and counts as 1; set it", "MAXLEN is not set and counts as 256; set it",
          "passwords of 2 characters are guessed in a few tries; ask for 4 or more",
        ])
  }

  @Test("all errors are reported at once, in each form")
  func everything() {
    let review = PolicyReview(
      string: "MINLEN=x;MAXLEN=8;MAXLEN=9;NUM=300;FOO=1;LOCKTYPE=lock;LOCKCOUNTER=0;bar")
    #expect(
      review.findings.map(\.rules) == [["MAXLEN"], [], ["MINLEN"], ["minDigits"], ["limit"], ["FOO"]])
  }

  @Test(
    "warnings",
    arguments: [
      ("MINLEN=3;MAXLEN=8", [["minLength"]]),
      ("MINLEN=6;MAXLEN=8;ALPHA=4;MUP=1;MLOW=2", [["minLetters", "maxUppercase", "maxLowercase"]]),
      ("MINLEN=6;MAXLEN=8;MUP=1;MLOW=2;MNUM=1;MNALPHA=1", [["minLength", "maxUppercase", "maxLowercase"]]),
      ("MINLEN=6;MAXLEN=8;MUP=0;MLOW=0", [["maxLetters", "maxUppercase", "maxLowercase"]]),
      ("MINLEN=6;MAXLEN=8;MNUM=9", [["maxDigits", "maxLength"]]),
      ("MINLEN=6;MAXLEN=8;REPEAT=8", [["maxRepeats", "maxLength"]]),
      ("MINLEN=6;MAXLEN=8;CACHETIMEOUT=60", [["cacheTimeout", "cacheEnabled"]]),
      ("MINLEN=6;MAXLEN=8;HISTNUM=5", [["maxHistory", "minAge"]]),
      ("MINLEN=5;MAXLEN=8;DICT=1", [["dictionary", "minLength"]]),
      ("MINLEN=6;MAXLEN=8;LOCKTYPE=none", [["lockType"]]),
      ("MINLEN=6;MAXLEN=8;HISTMAXAGE=90;LOCKTYPE=silent", [["maxAge", "lockType"]]),
      ("MINLEN=6;MAXLEN=8;LOCKTYPE=delay;LOCKCOUNTER=6;LOCKDELAY=2", [["lockType"]]),
      ("MINLEN=6;MAXLEN=8;LOCKTYPE=cooldown;LOCKWAITS=0,0,60,180", []),
      ("MINLEN=6;MAXLEN=8;LOCKTYPE=cooldown;LOCKWAITS=60,0", [["waits"]]),
      ("MINLEN=6;MAXLEN=8;LOCKTYPE=cooldown;LOCKWAITS=0,0", [["waits"]]),
      ("MINLEN=6;MAXLEN=8;LOCKTYPE=none;LOCKCOUNTER=5", [["LOCKCOUNTER"], ["lockType"]]),
      ("MINLEN=6;MAXLEN=8;XYZZY=1", [["XYZZY"]]), ("MAXLEN=8;MINLEN=6", []),
      ("TYPE=device;MINLEN=6;LOCKTYPE=none", [["LOCKTYPE"], ["MINLEN"]]),
      ("NUM=4;MAXLEN=8", [["minLength"]]), ("NUM=3;MAXLEN=8", [["minLength"], ["minLength"]]),
      ("NUM=4;LOW=2;MINLEN=1;MAXLEN=8;DICT=1", []), ("MINLEN=6", [["maxLength"]]),
      (PolicyStringTests.numericExample, []),
    ] as [(String, [[String]])])
  func warnings(string: String, rules: [[String]]) {
    #expect(found(string, .warning) == rules)
    #expect(found(string, .error) == [])
    #expect(PolicyReview(string: string).isValid)
  }

  @Test("the JSON form is reviewed, whole or for the password alone")
  func json() {
    let alone = PolicyReview(["minLength": 6, "maxLength": 4, "minDigits": 5, "color": "red"] as JSONObject)
    #expect(
      alone.findings.map(\.rules) == [["color"], ["minLength", "maxLength"], ["minDigits", "maxLength"]])
    #expect(alone.passwordPolicy == nil)
    let sound = PolicyReview(["minLength": 6, "maxLength": 8] as JSONObject)
    #expect(sound.isValid)
    #expect(sound.passwordPolicy?.minimumLength == 6)
    #expect(sound.policy == nil)
    let whole = PolicyReview(
      [
        "type": "password", "password": ["minLength": 9, "maxLength": 8],
        "lock": ["type": "lock", "limit": 500], "extra": 1,
      ] as JSONObject)
    #expect(whole.findings.map(\.rules) == [["extra"], ["minLength", "maxLength"], ["limit"]])
    #expect(PolicyReview(["type": "device"] as JSONObject).policy == .device)
    #expect(PolicyReview(["type": 5] as JSONObject).findings.map(\.rules) == [["type"]])
    #expect(
      PolicyReview(["type": "password"] as JSONObject).findings.map(\.rules) == [["password"], ["lock"]])
    #expect(!PolicyReview(JSONObject()).isValid)
  }

  @Test("a hostile policy is answered with a bounded review")
  func hostile() {
    let pairs = (0..<500).map { "X\($0)=9" }.joined(separator: ";")
    #expect(PolicyReview(string: pairs).findings.count <= 510)
    let waits = Array(repeating: "999999999999999999999", count: 190).joined(separator: ",")
    let review = PolicyReview(string: "LOCKTYPE=cooldown;LOCKWAITS=" + waits)
    #expect(!review.isValid)
    #expect(review.findings.count <= 110)
    let long = PolicyReview(string: String(repeating: "A", count: 4000) + "=1")
    #expect(long.findings.allSatisfy { $0.description.count < 300 })
  }
}

@Suite("Policy profiles")
struct PolicyProfileTests {
  @Test("the policy of each profile meets it and has no warning", arguments: PolicyProfile.allCases)
  func ownPolicy(profile: PolicyProfile) throws {
    let review = PolicyReview(profile.policy)
    #expect(review.violations(of: profile).isEmpty)
    #expect(review.findings.filter { $0.severity == .warning }.isEmpty)
    #expect(try ProtectionPolicy(string: profile.policy.string) == profile.policy)
  }

  @Test(
    "violations of a profile are named with the clause",
    arguments: [
      (
        .nistAAL2, "MINLEN=5;MAXLEN=64;LOCKTYPE=lock;LOCKCOUNTER=5", ["SP 800-63B-4 section 3.2.10 minLength"]
      ),
      (.nistAAL2, "MINLEN=8;MAXLEN=64;UP=1;NUM=1", ["SP 800-63B-4 section 3.1.1.2 minUppercase"]),
      (.nistAAL2, "MINLEN=8;MAXLEN=64;HISTMAXAGE=90", ["SP 800-63B-4 section 3.1.1.2 maxAge"]),
      (.nistAAL2, "MINLEN=8;MAXLEN=64;SEQ=1", ["SP 800-63B-4 section 3.2.10 dictionary"]),
      (.nistAAL2, "MINLEN=8;MAXLEN=64;SEQ=1;DICT=1", []),
      (
        .nistAAL2, "MINLEN=8;MAXLEN=64;LOCKTYPE=lock;LOCKCOUNTER=11", ["SP 800-63B-4 section 3.2.10 lockType"]
      ),
      (
        .nistAAL2, "MINLEN=8;MAXLEN=64;LOCKTYPE=delay;LOCKCOUNTER=6;LOCKDELAY=2",
        ["SP 800-63B-4 section 3.2.10 lockType"]
      ),
      (.nistAAL2, "MINLEN=8;MAXLEN=64;LOCKTYPE=silent", ["SP 800-63B-4 section 3.2.10 lockType"]),
      (.nistAAL2, PolicyStringTests.numericExample, []),
      (.nistAAL2, "TYPE=device", ["SP 800-63B-4 section 2.2.1 type"]),
      (.nistAAL2, "TYPE=biometric", []),
      (.psd2, "MINLEN=6;MAXLEN=8", []),
      (
        .psd2, "MINLEN=6;MAXLEN=8;LOCKTYPE=lock;LOCKCOUNTER=6",
        ["Regulation (EU) 2018/389 Article 4(3)(b) lockType"]
      ),
      (.psd2, "MINLEN=6;MAXLEN=8;LOCKTYPE=none", ["Regulation (EU) 2018/389 Article 4(3)(b) lockType"]),
      (.psd2, "MINLEN=6;MAXLEN=8;LOCKTYPE=silent", ["Regulation (EU) 2018/389 Article 4(3)(b) lockType"]),
      (.psd2, "MINLEN=6;MAXLEN=8;LOCKTYPE=delay;LOCKCOUNTER=6;LOCKDELAY=2", []),
      (
        .psd2, "MINLEN=6;MAXLEN=8;LOCKTYPE=cooldown;LOCKWAITS=0,0,0,0,0,60",
        ["Regulation (EU) 2018/389 Article 4(3)(b) lockType"]
      ),
      (
        .psd2, "MINLEN=6;MAXLEN=8;CACHE=1;CACHETIMEOUT=301",
        ["Regulation (EU) 2018/389 Article 4(3)(d) cacheTimeout"]
      ),
      (.psd2, "MINLEN=6;MAXLEN=8;CACHE=1;CACHETIMEOUT=300", []),
      (.psd2, "TYPE=device", ["Regulation (EU) 2018/389 Article 4(1) type"]),
      (.psd2, "TYPE=devicelockorpassword;MINLEN=6;MAXLEN=8", ["Regulation (EU) 2018/389 Article 4(1) type"]),
      (.pin6, PolicyStringTests.numericExample, []),
      (
        .pin6, "MINLEN=4;MAXLEN=8;MALPHA=0;MNALPHA=0;MUP=0;MLOW=0;SEQ=1;LOCKTYPE=lock;LOCKCOUNTER=11",
        ["clause attempts lockType", "clause length minLength", "clause sequences allowSequences"]
      ),
      (.pin6, "MINLEN=6;MAXLEN=8", ["clause digits maxLetters"]),
      (.pin6, "TYPE=device", ["clause digits type"]),
      (.legacyCompatible, "MINLEN=8;MAXLEN=64;ALPHA=1;NUM=1;HISTNUM=1;HISTMINAGE=1;HISTMAXAGE=90", []),
      (
        .legacyCompatible, "MINLEN=8;MAXLEN=64;DICT=1;REPEAT=2;LOCKTYPE=cooldown;LOCKWAITS=60",
        [
          "clause locks lockType", "clause composition minLetters", "clause history maxHistory",
          "clause age maxAge",
          "clause codes maxRepeats", "clause codes dictionary",
        ]
      ),
      (
        .legacyCompatible,
        "MINLEN=8;MAXLEN=64;ALPHA=1;NUM=1;HISTNUM=1;HISTMINAGE=1;HISTMAXAGE=90;LOCKTYPE=lock;LOCKCOUNTER=5;LOCKWIPE=1",
        ["clause locks lockType"]
      ),
      (.legacyCompatible, "TYPE=biometric", ["clause types type"]),
    ] as [(PolicyProfile, String, [String])])
  func violations(profile: PolicyProfile, string: String, expected: [String]) {
    let violations = PolicyReview(string: string).violations(of: profile)
    #expect(violations.map { "\($0.clause ?? "?") \($0.rule ?? "?")" } == expected)
    for violation in violations {
      #expect(violation.severity == .profile)
      #expect(violation.description.hasPrefix(profile.rawValue + ", "))
    }
  }

  @Test("password rules alone are measured without a lock")
  func passwordAlone() {
    let review = PolicyReview(
      ["minLength": 6, "maxLength": 8, "maxLetters": 0, "maxNonAlphanumeric": 0] as JSONObject)
    #expect(review.violations(of: .pin6).isEmpty)
    #expect(review.violations(of: .psd2).isEmpty)
  }

  @Test("a policy with errors is not measured")
  func errors() {
    #expect(PolicyReview(string: "MINLEN=9;MAXLEN=8").findings.allSatisfy { $0.profile == nil })
  }

  @Test(
    "warnings about other rules are reported beside an error",
    arguments: [
      ("MINLEN=3;MAXLEN=8;HISTMINAGE=9;HISTMAXAGE=9", [["minAge", "maxAge"], ["minLength"]]),
      // An invalid rule causes no further findings.
      ("MINLEN=3;MAXLEN=2", [["minLength", "maxLength"]]),
      ("MINLEN=6;MAXLEN=5;LOCKTYPE=none", [["minLength", "maxLength"], ["lockType"]]),
      // Numbers out of range are not used in comparisons.
      ("MINLEN=1;MAXLEN=9223372036854775807;LOCKTYPE=none", [["maxLength"], ["lockType"]]),
      ("MINLEN=x;MAXLEN=8;LOCKTYPE=none", [["MINLEN"], ["lockType"]]),
    ] as [(String, [[String]])])
  func warningsBesideErrors(string: String, expected: [[String]]) {
    #expect(PolicyReview(string: string).findings.map(\.rules) == expected)
  }

  @Test(
    "a command-line word is recognised as a policy or a profile name",
    arguments: [
      ("NUM=6", true), ("num=", true), ("{", true), ("{}", true), ("psd2", false), ("./a=b", false),
      ("a/b=c", false),
      ("=6", false), ("", false), ("-", false),
    ])
  func words(word: String, isPolicy: Bool) {
    #expect(PolicyReview.isPolicy(word) == isPolicy)
  }
}
