import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// New passwords that `signet` accepts and rejects; the expectations come from docs/policies.md.
@Suite("Passwords typed under a server's policy", .serialized, .timeLimit(.minutes(10)))
struct PasswordPolicyCommandTests {
  struct Policy: Sendable, CustomTestStringConvertible {
    /// A policy string, or the name of a profile.
    let name: String
    let accepted: String
    /// Rejected passwords, each with all reasons in order.
    let refused: [(password: String, reasons: [String])]

    var testDescription: String { name }
  }

  private static let noUppercase = "use at least 1 upper-case letter"
  private static let noLowercase = "use at least 1 lower-case letter"
  private static let noDigit = "use at least 1 digit"
  private static let noSign = "use at least 1 character that is neither a letter nor a digit"
  private static let sequence = "avoid 3 or more letters or digits in order, such as abc or 321"
  private static let word = "choose a password that is not made from a word or an obvious series"
  private static let disallowed =
    "leave out control, invisible, private-use and unassigned characters, and others that RFC 8264 disallows"

  /// Each kind of sentence under each profile; SignetPolicyTests has the complete rules.
  private static let policies = [
    Policy(
      name: "pin-6", accepted: "482915",
      refused: [
        ("4829a5", ["use no letters"]),
        ("48291", ["use at least 6 characters"]),
        ("48291573046", ["use at most 10 characters"]),
        ("482915-", ["use no characters that are neither letters nor digits"]),
        ("482345", [sequence]),
      ]),
    Policy(
      name: "NALPHA=2;MNUM=0;MUP=0", accepted: "garden!?",
      refused: [
        (
          "GARDEN482",
          [
            "use no upper-case letters", "use no digits",
            "use at least 2 characters that are neither letters nor digits",
          ]
        ),
        (
          "\u{C4}rgernis!",
          ["use no upper-case letters", "use at least 2 characters that are neither letters nor digits"]
        ),
      ]),
    Policy(
      name: "NUM=2;UP=1;LOW=1;NALPHA=1;MINLEN=8", accepted: "Garden-42",
      refused: [
        ("garden-42", [noUppercase]), ("Garden042", [noSign]), ("GARDEN-42", [noLowercase]),
        ("", ["use at least 8 characters", noUppercase, noLowercase, "use at least 2 digits", noSign]),
      ]),
    Policy(
      name: "legacy-compat", accepted: "Garden42",
      refused: [
        ("Garde42", ["use at least 8 characters"]),
        (String(repeating: "Ga4-", count: 16) + "x", ["use at most 64 characters"]),
        ("garden42", [noUppercase]), ("GARDEN42", [noLowercase]), ("Gardenia", [noDigit]),
        ("Garden4234", [sequence]), ("Garden42\u{7}", [disallowed]),
      ]),
    Policy(
      name: "psd2", accepted: "gard3n",
      refused: [
        ("gard3", ["use at least 6 characters"]),
        (String(repeating: "Ga4-", count: 16) + "x", ["use at most 64 characters"]),
        ("gardcba", [sequence]), ("gard3n\u{640}", [disallowed]),
      ]),
    Policy(
      // Sequences too.
      name: "nist-aal2", accepted: "vQ7-mZ2345",
      refused: [
        ("vQ7-mZ2", ["use at least 8 characters"]),
        (String(repeating: "vQ7-mZ2+", count: 32) + "x", ["use at most 256 characters"]),
        ("password", [word]), ("vQ7-mZ2+\u{7}", [disallowed]),
      ]),
  ]

  @Test("a password is accepted or refused, and the refusal names every broken rule", arguments: policies)
  func judged(_ policy: Policy) async throws {
    let server = try await RunningServer.start(["--policy", policy.name])
    let device = server.device()
    let code = try await server.codeFile("alice")
    for (password, reasons) in policy.refused {
      let result = try await device.run("activate", "--code-file", code, passwords: [password])
      let said = "the password is not allowed: " + reasons.joined(separator: "; ")
      #expect(result.isRefusal(65, said), "\(password.debugDescription): \(result.summary)")
      let last = result.errorOutput.split(separator: "\n").last ?? ""
      #expect(last.hasSuffix(said) || last.hasSuffix(said + "."), "\(password.debugDescription): \(last)")
    }
    #expect(try await device.containers().isEmpty)
    let activated = try await device.json("activate", "--code-file", code, passwords: [policy.accepted])
    #expect(try activated.bool("confirmed"))
    await server.stop()
  }

  @Test(
    "a password is refused with each rule that it breaks; a valid one is then accepted",
    arguments: policies.prefix(2) + [
      Policy(name: "nist-aal2", accepted: "vQ7-mZ2345", refused: [("sunshine", [word])])
    ])
  func typed(_ policy: Policy) async throws {
    let server = try await RunningServer.start(["--policy", policy.name])
    let device = server.device()
    let terminal = try ControllingTerminal(
      device, ["activate", "--code-file", try await server.codeFile("alice")])
    let refused = try #require(policy.refused.first)
    try terminal.answer("New password: ", refused.password)
    for reason in refused.reasons { try terminal.expect("Not allowed: \(reason).") }
    try terminal.answer("New password: ", policy.accepted)
    try terminal.answer("Repeat it: ", policy.accepted)
    let activated = try await terminal.end()
    #expect(activated.status == 0 && !activated.shown.contains(refused.password), "\(activated.shown)")
    #expect(try await device.containers().map(\.isConfirmed) == [true])
    let otp = try await device.run("otp", passwords: [policy.accepted])
    #expect(otp.status == 0, otp.summary)
    await server.stop()
  }

  @Test("bytes that are no UTF-8 are refused as a password, and cost no try")
  func noText() async throws {
    let server = try await RunningServer.start(["--minimum-length", "8", "--attempts", "3"])
    let (device, right) = (server.device(), Array("winter-garden-42".utf8))
    func run(_ words: [String], _ lines: [UInt8]...) async throws -> ServerCommand.Result {
      var command = try device.process(words + ["--password-fd", "0"])
      command.input = .bytes(lines.flatMap { $0 + [0x0A] })
      return try await command.finish()
    }
    let code = try await server.codeFile("alice")
    // An invalid byte, a truncated character, an overlong digit in two bytes, and half of a surrogate pair.
    let hostile: [[UInt8]] = [
      right + [0xFF], right + [0xC3], right.dropLast() + [0xC0, 0xB2], right + [0xED, 0xA0, 0x80],
    ]
    for bytes in hostile {
      let refused = try await run(["activate", "--code-file", code], bytes)
      #expect(refused.isRefusal(65, "enter the password as UTF-8 text"), "\(bytes): \(refused.summary)")
    }
    #expect(try await device.containers().isEmpty)
    let activated = try await run(["activate", "--code-file", code], right)
    #expect(activated.status == 0, activated.summary)
    // More than the allowed attempts.
    for bytes in hostile {
      let refused = try await run(["otp"], bytes)
      #expect(
        refused.isRefusal(65, "the password is not UTF-8; enter it as UTF-8 text"),
        "\(bytes): \(refused.summary)")
      let unchanged = try await run(["password", "change"], bytes, right)
      #expect(unchanged.isRefusal(65, "as UTF-8 text"), "\(bytes): \(unchanged.summary)")
    }
    let wrong = try await device.run("otp", passwords: ["summer-garden-42"])
    #expect(wrong.isRefusal(77, "2 tries are left"), wrong.summary)
    for bytes in hostile {
      let unchanged = try await run(["password", "change"], right, bytes)
      #expect(unchanged.isRefusal(65, "as UTF-8 text"), "\(bytes): \(unchanged.summary)")
    }
    let otp = try await run(["otp"], right)
    #expect(otp.status == 0, otp.summary)
    await server.stop()
  }

  @Test("legacy-compat remembers passwords, and keeps a changed one for a day")
  func history() async throws {
    let server = try await RunningServer.startWithShop(["--policy", "legacy-compat"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: ["Garden42"])
    let same = try await device.run("password", "change", passwords: ["Garden42", "Garden42"])
    #expect(same.isRefusal(65, "the password is one of the last 5"), same.summary)
    let short = try await device.run("password", "change", passwords: ["Garden42", "Garden4"])
    #expect(short.isRefusal(65, "the password is not allowed: use at least 8 characters"), short.summary)
    #expect(
      try await device.json("password", "change", passwords: ["Garden42", "Orchard73"]).bool("changed"))
    let again = try await device.run("password", "change", passwords: ["Orchard73", "Meadow915"])
    #expect(again.isRefusal(65, "changed not long ago; change it again from "), again.summary)
    await server.stop()
  }
}
