import SignetJSON
import Testing

@Suite("Policies in signet-check", .timeLimit(.minutes(10)))
struct PolicyOperationTests {
  static let numeric =
    "UP=0;LOW=0;NUM=6;ALPHA=0;NALPHA=0;MUP=0;MLOW=0;MNUM=8;MALPHA=0;MNALPHA=0;MINLEN=6;MAXLEN=8"

  /// A password under a policy, with earlier passwords, and the rules that it breaks.
  struct PasswordCase: Sendable {
    var policy: JSONValue = .string(PolicyOperationTests.numeric)
    let password: String
    var history: [String] = []
    var violations: [String] = []
  }

  @Test(
    "passwords",
    arguments: [
      PasswordCase(password: "482915"),
      PasswordCase(password: "48291", violations: ["minLength", "minDigits"]),
      PasswordCase(password: "4829150637", violations: ["maxLength", "maxDigits"]),
      PasswordCase(password: "48a915", violations: ["maxLowercase", "maxLetters", "minDigits"]),
      PasswordCase(password: "123456", violations: ["allowSequences"]),
      PasswordCase(password: "482915", history: ["482915"]),
      PasswordCase(
        policy: .string(numeric + ";HISTNUM=2"), password: "482915", history: ["482915", "719304"],
        violations: ["maxHistory"]),
      PasswordCase(
        policy: .string(numeric + ";HISTNUM=2"), password: "482915", history: ["482915", "719304", "602847"]),
      PasswordCase(
        policy: "MINLEN=1;MAXLEN=9;HISTNUM=1", password: "cafe\u{301}", history: ["caf\u{E9}"],
        violations: ["maxHistory"]),
      PasswordCase(
        policy: "MINLEN=1;MAXLEN=9;HISTNUM=1", password: "\u{7}", history: ["\u{7}", ""],
        violations: ["disallowedCharacter"]),
      PasswordCase(
        policy: ["minLength": 4, "maxLength": 8, "maxRepeats": 2], password: "aaa",
        violations: ["minLength", "maxRepeats"]),
      PasswordCase(
        policy: [
          "type": "biometricOrPassword", "password": ["minLength": 4, "maxLength": 8],
          "lock": ["type": "none"],
        ], password: "Kx7!"),
      PasswordCase(policy: "MINLEN=1;MAXLEN=9", password: "", violations: ["minLength"]),
    ])
  func passwords(_ expected: PasswordCase) throws {
    let ok = try #require(
      try CheckTool.answer(to: [
        "op": "password-check", "policy": expected.policy, "password": .string(expected.password),
        "history": .array(expected.history.map { .string($0) }),
      ]).ok)
    #expect(try ok.strings("violations") == expected.violations)
    #expect(try ok.bool("valid") == expected.violations.isEmpty)
    #expect(try ok.array("messages").count == expected.violations.count)
  }

  @Test(
    "invalid requests are refused",
    arguments: [
      (["op": "password-check", "password": "x"], "input.missing"),
      (["op": "password-check", "policy": 5, "password": "x"], "input.invalid"),
      (["op": "password-check", "policy": "MINLEN=6"], "input.missing"),
      (["op": "password-check", "policy": "MINLEN=6", "password": 5], "input.invalid"),
      (["op": "password-check", "policy": "MINLEN=6", "password": "x", "history": "x"], "input.invalid"),
      (["op": "password-check", "policy": "NUM=8;MAXLEN=6", "password": "x"], "policy.invalid"),
      (["op": "password-check", "policy": "TYPE=device", "password": "x"], "policy.noPassword"),
      (["op": "password-check", "policy": "MINLEN=6;DICT=1", "password": "x"], "policy.dictionary"),
      (["op": "policy-lint"], "input.missing"), (["op": "policy-lint", "policy": []], "input.invalid"),
    ] as [(JSONObject, String)])
  func refusals(request: JSONObject, code: String) throws {
    #expect(try CheckTool.answer(to: request).errorCode == code)
  }

  private func lint(_ policy: JSONValue) throws -> JSONObject {
    try #require(try CheckTool.answer(to: ["op": "policy-lint", "policy": policy]).ok)
  }

  @Test("a sound policy has no finding, and what each profile says of it")
  func sound() throws {
    let ok = try lint(.string(Self.numeric))
    #expect(try ok.bool("valid"))
    #expect(try ok.array("findings").isEmpty)
    let profiles = try ok.object("profiles")
    #expect(profiles.members.map(\.name) == ["legacy-compat", "nist-aal2", "psd2", "pin-6"])
    #expect(try profiles.array("pin-6").isEmpty)
    guard case .object(let finding) = try profiles.array("legacy-compat").first else {
      Issue.record("no finding")
      return
    }
    #expect(try finding.string("clause") == "clause history")
    #expect(try finding.string("rule") == "maxHistory")
  }

  @Test("a contradiction names the two rules")
  func contradiction() throws {
    let ok = try lint("NUM=8;MINLEN=4;MAXLEN=6")
    #expect(try !ok.bool("valid"))
    #expect(
      try ok.array("findings") == [
        [
          "rule": "minDigits", "conflictsWith": "maxLength", "severity": "error",
          "message":
            "no password satisfies minDigits (NUM) 8 and maxLength (MAXLEN) 6 together; relax one of them",
        ]
      ])
    #expect(try ok.object("profiles").isEmpty)
  }

  @Test("unreadable input is a finding, and every request is answered")
  func hostile() throws {
    for policy in ["", "x", "MINLEN=1e9", "=;=;=", String(repeating: "9", count: 100_000)] {
      #expect(try lint(.string(policy)).contains("valid"))
    }
    #expect(try !lint(["type": "password", "password": [], "lock": [:]]).bool("valid"))
    #expect(try !lint(["minLength": 9_223_372_036_854_775_807, "maxLength": -1]).bool("valid"))
    #expect(try lint(["minLength": 6, "maxLength": 8]).bool("valid"))
  }
}
