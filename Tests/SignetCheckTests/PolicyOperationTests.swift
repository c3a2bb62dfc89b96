import SignetJSON
import Testing

@Suite("Policies in signet-check", .timeLimit(.minutes(10)))
struct PolicyOperationTests {
  private static let numeric =
    "UP=0;LOW=0;NUM=6;ALPHA=0;NALPHA=0;MUP=0;MLOW=0;MNUM=8;MALPHA=0;MNALPHA=0;MINLEN=6;MAXLEN=8"

  @Test(
    "passwords",
    arguments: [
      (.string(numeric), "482915", [], []),
      (.string(numeric), "48291", [], ["minLength", "minDigits"]),
      (.string(numeric), "4829150637", [], ["maxLength", "maxDigits"]),
      (.string(numeric), "48a915", [], ["maxLowercase", "maxLetters", "minDigits"]),
      (.string(numeric), "123456", [], ["allowSequences"]),
      (.string(numeric), "482915", ["482915"], []),
      (.string(numeric + ";HISTNUM=2"), "482915", ["482915", "719304"], ["maxHistory"]),
      (.string(numeric + ";HISTNUM=2"), "482915", ["482915", "719304", "602847"], []),
      (.string("MINLEN=1;MAXLEN=9;HISTNUM=1"), "cafe\u{301}", ["caf\u{E9}"], ["maxHistory"]),
      (.string("MINLEN=1;MAXLEN=9;HISTNUM=1"), "\u{7}", ["\u{7}", ""], ["disallowedCharacter"]),
      (["minLength": 4, "maxLength": 8, "maxRepeats": 2], "aaa", [], ["minLength", "maxRepeats"]),
      (
        [
          "type": "biometricOrPassword", "password": ["minLength": 4, "maxLength": 8],
          "lock": ["type": "none"],
        ], "Kx7!", [], []
      ),
      (.string("MINLEN=1;MAXLEN=9"), "", [], ["minLength"]),
    ] as [(JSONValue, String, [String], [String])])
  func passwords(policy: JSONValue, password: String, history: [String], violations: [String]) throws {
    let ok = try #require(
      try CheckTool.answer(to: [
        "op": "password-check", "policy": policy, "password": .string(password),
        "history": .array(history.map { .string($0) }),
      ]).ok)
    #expect(try ok.strings("violations") == violations)
    #expect(try ok.bool("valid") == violations.isEmpty)
    #expect(try ok.array("messages").count == violations.count)
  }

  @Test(
    "requests that have no answer",
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

  @Test("what cannot be read is a finding too, and whatever is sent is answered")
  func hostile() throws {
    for policy in ["", "x", "MINLEN=1e9", "=;=;=", String(repeating: "9", count: 100_000)] {
      #expect(try lint(.string(policy)).contains("valid"))
    }
    #expect(try !lint(["type": "password", "password": [], "lock": [:]]).bool("valid"))
    #expect(try !lint(["minLength": 9_223_372_036_854_775_807, "maxLength": -1]).bool("valid"))
    #expect(try lint(["minLength": 6, "maxLength": 8]).bool("valid"))
  }
}
