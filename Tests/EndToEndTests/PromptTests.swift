import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// The prompts of `signet` at a real terminal: passwords have no echo, and texts are shown before anything is signed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PromptTests {
  private let password = "winter-garden-42"

  @Test func activateAndApprove() async throws {
    let server = try await RunningServer.startWithShop(["--minimum-length", "8", "--minimum-digits", "1"])
    let device = server.device()
    let code = try await server.codeFile("alice")
    let terminal = try ControllingTerminal(device, ["activate", "--code-file", code])
    // A password that breaks the rules is asked for again, until it is valid and both entries are equal.
    try terminal.expect("Choose a password: 8 to 64 characters, at least 1 digit")
    try terminal.expect("New password: ")
    try terminal.expect("Still: use at least 8 characters; use at least 1 digit.")
    try terminal.answer("", "short", newline: false)
    try terminal.answer("Still: use at least 8 characters; use at least 1 digit.", "5", newline: false)
    try terminal.answer("Still: use at least 8 characters.", "\u{7F}\n", newline: false)
    // The repetition is not asked for before the rules are met.
    try terminal.expect("Not allowed: ")
    try terminal.answer("New password: ", password, newline: false)
    try terminal.answer("These rules are met.", "\n", newline: false)
    try terminal.answer("Repeat it: ", password)
    let activated = try await terminal.end()
    #expect(activated.status == 0, "\(activated.shown)")
    #expect(activated.shown.components(separatedBy: "Repeat it: ").count == 2, "\(activated.shown)")
    #expect(activated.shown.contains("Activated alice at 127.0.0.1:\(server.port)/main."))
    #expect(!activated.shown.contains(password) && !activated.shown.contains("short"))
    #expect(try await device.containers().map(\.isConfirmed) == [true])

    let id = try await server.ask("alice", "Pay 250.00 EUR\nto Jane Doe")
    let approval = try ControllingTerminal(device, ["approve"])
    try approval.expect("You are about to approve:")
    try approval.expect("| Pay 250.00 EUR")
    try approval.expect("| to Jane Doe")
    try approval.expect("alice")
    #expect(try await server.transaction(id).string("status") == "pending")
    // The prompt for an existing password shows no rules.
    try approval.answer("Password for alice at 127.0.0.1:\(server.port)/main: ", password)
    let approved = try await approval.end()
    #expect(approved.status == 0 && approved.shown.contains("Accepted \(id)."), "\(approved.shown)")
    #expect(!approved.shown.contains(password) && !approved.shown.contains("Still"))
    let ended = try ControllingTerminal(device, ["otp"])
    try ended.answer("Password for", "\u{4}", newline: false)
    let stopped = try await ended.end()
    #expect(stopped.status == 130 && stopped.shown.contains("stopped"), "\(stopped)")
    try SignedDecisionCheck.expectAccepted(await server.transaction(id))
    await server.stop()
  }

  @Test func mismatchInterruptAndNo() async throws {
    let server = try await RunningServer.startWithShop()
    let device = server.device()
    let code = try await server.codeFile("alice")
    let interrupted = try ControllingTerminal(device, ["activate", "--code-file", code])
    try interrupted.answer("New password: ", password)
    try interrupted.answer("Repeat it: ", password + "x")
    try interrupted.expect("The two entries differ")
    try interrupted.answer("New password: ", "\u{3}", newline: false)
    let stopped = try await interrupted.end()
    // The signal ends it like any other program, and the terminal's settings are restored.
    #expect(stopped.status != 0 && !stopped.shown.contains("Activated"), "\(stopped)")
    #expect(try await server.json("container", "list", "alice").array("containers").isEmpty)
    #expect(try await device.containers().isEmpty)
    await server.stop()

    let open = try await RunningServer.startWithShop(["--protection", "device"])
    let other = open.device()
    _ = try await other.json("activate", "--code-file", open.codeFile("bob"))
    let id = try await open.ask("bob", "Pay")
    let declined = try ControllingTerminal(other, ["approve", id])
    try declined.answer("Sign this? [y/N] ", "")
    let unsigned = try await declined.end()
    #expect(unsigned.status == 1 && unsigned.shown.contains("Nothing was signed."), "\(unsigned)")
    #expect(try await open.transaction(id).string("status") == "pending")
    let agreed = try ControllingTerminal(other, ["approve", id])
    try agreed.answer("Sign this? [y/N] ", "y")
    #expect(try await agreed.end().status == 0)
    try SignedDecisionCheck.expectAccepted(await open.transaction(id))
    await open.stop()
  }

  @Test("typed values are read until an empty line, and shown before the answer")
  func typedValues() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let form = try server.write(
      """
      {"template":"payment","fields":[{"type":"amount","value":"250.00","currency":"EUR"},
      {"type":"payee","name":"Jane Doe","account":"DE02 1203 0000"}]}
      """, to: "form.json")
    let made = try await server.json(
      "transaction", "create", "alice", "--form", form, "--typed", "--typed-field", "0", "--typed-field", "1",
      "--key-file", server.shopKey)
    let id = try made.string("id")
    let asked = try await server.json("transaction", "typed", id, "--key-file", server.shopKey)
    let words = ["approve", "--typed", try asked.string("challenge")]

    let declined = try ControllingTerminal(device, words)
    try declined.answer("Value 1, or Enter if there is none: ", "250.00 EUR")
    try declined.answer("Value 2, or Enter if there is none: ", "")
    try declined.expect("  | 250EUR")
    try declined.answer("Approve this? [y/N] ", "")
    let unsigned = try await declined.end()
    #expect(unsigned.status == 1 && unsigned.shown.contains("Nothing was approved."), "\(unsigned)")

    let wrong = try ControllingTerminal(device, words)
    try wrong.answer("Value 1, or Enter if there is none: ", "1.250")
    try wrong.answer("Value 2, or Enter if there is none: ", "")
    let refused = try await wrong.end()
    #expect(refused.status == 65 && refused.shown.contains("value 1"), "\(refused)")

    let terminal = try ControllingTerminal(device, words)
    try terminal.answer("Value 1, or Enter if there is none: ", "250.00 EUR")
    try terminal.answer("Value 2, or Enter if there is none: ", "DE02 1203 0000")
    try terminal.answer("Value 3, or Enter if there is none: ", "")
    try terminal.expect("You are approving a request that this device cannot display")
    try terminal.expect("  | 250EUR")
    try terminal.expect("  | DE0212030000")
    try terminal.answer("Approve this? [y/N] ", "y")
    try terminal.expect("Type these digits where the challenge was shown:")
    let approved = try await terminal.end()
    #expect(approved.status == 0, "\(approved)")
    let digits = try #require(
      approved.shown.split(separator: "\n").last { $0.utf8.count == 8 && Int($0) != nil }.map(String.init))
    _ = try await server.json("transaction", "answer", id, digits, "--typed", "--key-file", server.shopKey)
    #expect(try await server.transaction(id).string("status") == "accepted")
    await server.stop()
  }

  @Test("a second activation warns of the loss, and continues only after a confirmation")
  func activatesAgain() async throws {
    let server = try await RunningServer.startWithShop(["--minimum-length", "8"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [password])
    let first = try await device.containers()
    let sealed = "\(server.folder.path)/sealed"
    let encrypted = try await device.run(
      "data", "encrypt", "--label", "x", server.write("kept", to: "plain"), sealed, passwords: [password])
    try #require(encrypted.status == 0, encrypted.summary)

    let again = try server.write(await server.invite("alice").text, to: "again")
    let words = ["activate", "--code-file", again]
    let loss =
      "replaces alice at 127.0.0.1:\(server.port)/main; what apps encrypted with it becomes unreadable; "
      + "to keep it use signet renew or signet recovery reset"
    let alone = try await device.run(words, passwords: [password])
    #expect(alone.isRefusal(64, "this \(loss); to replace it, add --yes"), alone.summary)
    let unsure = try ControllingTerminal(device, words)
    try unsure.answer("This \(loss). Go on? [y/N] ", "")
    let declined = try await unsure.end()
    #expect(declined.status == 1 && declined.shown.contains("Nothing was changed."), "\(declined)")
    #expect(!declined.shown.contains("password: "), "\(declined)")
    #expect(try await device.containers() == first)
    #expect(
      try await device.run(
        "data", "decrypt", "--label", "x", sealed, "\(sealed).open", passwords: [password]
      ).status == 0)

    let sure = try ControllingTerminal(device, words)
    try sure.answer("Go on? [y/N] ", "y")
    try sure.answer("New password: ", password)
    try sure.answer("Repeat it: ", password)
    let agreed = try await sure.end()
    #expect(agreed.status == 0, "\(agreed.shown)")
    let second = try await device.containers()
    #expect(second.count == 1 && second != first)
    // A container of another user at the same server replaces none.
    _ = try await device.json("activate", "--code-file", server.codeFile("bob"), passwords: [password])
    #expect(try await device.run("activate", "--help").output.contains("replaces the container"))
    await server.stop()
  }

  @Test func everyJSONOutputParses() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    let activated = try await device.json("activate", "--code-file", server.codeFile("zoë \"x\""))
    #expect(try activated.string("user") == "zoë \"x\"")
    let listed = try await device.json("list").array("containers")
    var known = activated
    known["lock"] = .object(["state": "unlocked"])
    // AccountLockCommandTests has the server's part of the state.
    guard case .object(let shown)? = listed.first, case .object(let account)? = shown["account"] else {
      Issue.record("the list says nothing of the server's part")
      return
    }
    #expect(try !account.bool("isLocked"))
    known["account"] = .object(account)
    #expect(listed == [.object(known)])
    let code = try await device.json("otp")
    #expect(try code.integer("validUntil") - code.integer("validFrom") == 30)
    #expect(try await device.json("pending").array("transactions").isEmpty)
    for (word, status) in [("approve", "accepted"), ("deny", "denied")] {
      let id = try await server.ask("zoë \"x\"", "Line one\nLine \"two\"")
      guard case .object(let waiting)? = try await device.json("pending").array("transactions").first else {
        Issue.record("nothing waits")
        continue
      }
      #expect(
        try waiting.string("content") == #"{"from":"shop","text":"Line one\nLine \"two\""}"#)
      let decided = try await device.json(word, id, "--yes")
      #expect(try decided.string("id") == id && decided.string("status") == status)
    }
    await server.stop()
  }

  @Test("an invite code that is not on the command line is asked for")
  func inviteCode() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    try await server.addUser("alice")
    let code = try await server.invite("alice")
    let device = server.device()
    let terminal = try ControllingTerminal(device, ["activate", "--user", "alice", "--server", server.url])
    try terminal.answer("Invite code: ", code.invite.typedForm)
    let activated = try await terminal.end()
    #expect(activated.status == 0, "\(activated.shown)")
    #expect(try await device.containers().map(\.isConfirmed) == [true])
    await server.stop()
  }
}
