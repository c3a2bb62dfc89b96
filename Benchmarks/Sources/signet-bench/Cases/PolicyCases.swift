import BenchReport
import SignetPolicy

extension Bench {
  /// The cost of evaluating a password, and of parsing a policy.
  func policies(_ report: inout Report) async throws {
    let string = "MINLEN=8;MAXLEN=64;UP=1;LOW=1;NUM=1;REPEAT=2;LOCKTYPE=cooldown;LOCKWAITS=0,0,60,180"
    let protection = try ProtectionPolicy(string: string)
    guard let policy = protection.passwordPolicy else { preconditionFailure("the policy has a password") }
    let alphabets = [
      ("ASCII", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 !?-_"),
      ("Latin with accents", "abcde\u{E9}\u{E8}\u{FC}\u{F6}\u{DF}\u{C4}1289!"),
      ("Cyrillic", "\u{430}\u{431}\u{432}\u{433}\u{434}\u{435}\u{416}\u{417}1289!"),
      ("Chinese", "\u{4E2D}\u{6587}\u{5BC6}\u{7801}\u{8BBE}\u{7F6E}1289"),
      ("Hindi, with vowel signs", "\u{915}\u{93F}\u{924}\u{93E}\u{92C}\u{938}\u{94D}\u{902}1289"),
      ("Tamil, with signs that may join", "\u{BAA}\u{BBE}\u{B95}\u{BCD}\u{BA4}\u{BC8}\u{BAE}1289"),
      ("Arabic, with marks in any order", "\u{645}\u{64F}\u{62D}\u{64E}\u{651}\u{62F}\u{627}\u{655}1289"),
      ("Vietnamese, with marks to be joined", "e\u{323}\u{302}a\u{306}\u{301}u\u{31B}\u{300}ng1289"),
    ]
    for (name, alphabet) in alphabets {
      let passwords = Self.passwords(alphabet)
      let outcome = try race.run([Race.Contender(name, measured: Self.judging(passwords, policy))])[0]
      report.add(
        ReportRow(
          name: "passwords judged by a policy, \(name)", value: outcome.rate * Double(passwords.count),
          unit: "passwords/s", goal: .rateAtLeast(1_000_000), notes: "one core, 6 to 20 characters"))
    }

    let state = AttemptState(failedCount: 3)
    let now = BootInstant(bootID: BootID(high: 1, low: 2), millisecondsSinceBoot: 30_000)
    let outcomes = try race.run([
      Race.Contender("decision") {
        for _ in 0..<1000 { keep(protection.lockPolicy.decision(after: state, at: now)) }
      },
      Race.Contender("reading") { keep(try ProtectionPolicy(string: string)) },
      Race.Contender("review") { keep(PolicyReview(string: string)) },
    ])
    report.add([
      ReportRow(name: "lock decisions", value: outcomes[0].rate * 1000, unit: "decisions/s"),
      ReportRow(name: "policy strings read", value: outcomes[1].rate, unit: "strings/s"),
      ReportRow(name: "policy strings reviewed, four profiles", value: outcomes[2].rate, unit: "strings/s"),
    ])
  }

  /// A thousand passwords of 6 to 20 characters, the same in each run.
  private static func passwords(_ alphabet: String) -> [[UInt8]] {
    let characters = alphabet.unicodeScalars.map { String($0) }
    var state: UInt64 = 42
    func next(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    return (0..<1000).map { _ in
      Array((0..<(6 + next(15))).map { _ in characters[next(characters.count)] }.joined().utf8)
    }
  }

  /// Evaluates all passwords a number of times; returns the CPU time of this thread.
  private static func judging(_ passwords: [[UInt8]], _ policy: PasswordPolicy) -> (Int) -> Double {
    { count in
      let start = Clocks.threadCPU
      for _ in 0..<count {
        for password in passwords { keep(policy.violations(ofUTF8: password)) }
      }
      return Double(Clocks.threadCPU - start)
    }
  }
}
