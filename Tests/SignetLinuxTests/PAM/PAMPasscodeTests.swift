import Foundation
import SignetCrypto
import SignetLinux
import SignetTesting
import SignetVault
import Synchronization
import Testing

@Suite(
  "Device passcode with the real PAM", .timeLimit(.minutes(10)),
  .enabled(if: PAMFixture.isPossible, "needs libpam-wrapper"))
struct PAMPasscodeTests {
  @Test("a service without a file is an error; PAM does not fall back to other rules")
  func notCapable() async throws {
    let passcode = try PAMFixture(
      "auth required pam_permit.so", "account required pam_permit.so", name: "other")
    #expect(await passcode.state() == .notCapable)
    await #expect(throws: DevicePasscodeFailure.notCapable) {
      try await passcode.verify("Sign in", conversation: ScriptedPasscodeConversation())
    }
  }

  @Test("the right passcode is right, asked for once and without echo")
  func right() async throws {
    let passcode = try PAMFixture("auth required MATRIX", "account required MATRIX")
    let person = ScriptedPasscodeConversation(PAMFixture.answer)
    #expect(await passcode.state() == .ready)
    try await passcode.verify("Sign in", conversation: person)
    #expect(
      person.exchanges == [.prompt(PasscodePrompt(reason: "Sign in", text: "Password: ", echoes: false))])
  }

  @Test(
    "a wrong passcode is a mismatch, and so is one with NUL",
    arguments: ["wrong", "", "right passcode ", "right passcode\0", String(repeating: "x", count: 512)])
  func wrong(_ answer: String) async throws {
    let passcode = try PAMFixture("auth required MATRIX", "account required MATRIX")
    await #expect(throws: DevicePasscodeFailure.mismatch) {
      try await passcode.verify("Sign in", conversation: ScriptedPasscodeConversation(answer))
    }
  }

  @Test("visible prompts are marked as such, and PAM's messages are passed on in order")
  func severalPrompts() async throws {
    let passcode = try PAMFixture(
      "auth required CHATTY info error num_lines=1", "auth required MATRIX echo",
      "auth required MATRIX", "account required MATRIX")
    let person = ScriptedPasscodeConversation(PAMFixture.answer, PAMFixture.answer)
    try await passcode.verify("Sign in", conversation: person)
    let said = PasscodeMessage(text: "Authentication succeeded", isError: false)
    let complained = PasscodeMessage(text: "Authentication generated an error", isError: true)
    // pam_chatty sends each of them several times.
    #expect(Set(person.exchanges.dropLast(2)) == [.message(said), .message(complained)])
    #expect(
      person.exchanges.suffix(2) == [
        .prompt(PasscodePrompt(reason: "Sign in", text: "Password: ", echoes: true)),
        .prompt(PasscodePrompt(reason: "Sign in", text: "Password: ", echoes: false)),
      ])
  }

  @Test(
    "reasons to refuse an account are distinguished",
    arguments: [
      ("auth=auth_err", DevicePasscodeFailure.mismatch), ("auth=cred_insufficient", .mismatch),
      ("auth=maxtries", .lockedOut), ("auth=user_unknown", .accountRefused),
      ("auth=perm_denied", .accountRefused), ("acct=acct_expired", .accountRefused),
      ("acct=perm_denied", .accountRefused), ("acct=new_authtok_reqd", .passcodeExpired),
      ("acct=authtok_expired", .passcodeExpired), ("acct=cred_expired", .passcodeExpired),
      ("auth=authinfo_unavail", .unavailable("Authentication service cannot retrieve authentication info")),
      ("auth=abort", .unavailable("Critical error - immediate abort")),
    ])
  func refusals(_ argument: String, _ failure: DevicePasscodeFailure) async throws {
    let passcode = try PAMFixture(
      "auth required pam_debug.so \(argument)", "account required pam_debug.so \(argument)")
    await #expect(throws: failure) {
      try await passcode.verify("Sign in", conversation: ScriptedPasscodeConversation())
    }
  }

  @Test("a missing PAM module refuses everyone")
  func missingModule() async throws {
    let passcode = try PAMFixture("auth required pam_there_is_none.so", "account required pam_permit.so")
    let failure = await #expect(throws: DevicePasscodeFailure.self) {
      try await passcode.verify("Sign in", conversation: ScriptedPasscodeConversation())
    }
    guard case .unavailable = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test("a missing answer cancels, even if a later module admits everyone")
  func calledOff() async throws {
    for control in ["required", "optional"] {
      let passcode = try PAMFixture(
        "auth \(control) MATRIX", "auth required pam_permit.so", "account required pam_permit.so")
      await #expect(throws: DevicePasscodeFailure.cancelled) {
        try await passcode.verify("Sign in", conversation: ScriptedPasscodeConversation(nil))
      }
    }
  }

  @Test("a cancelled task ends the prompt for PAM and for the user")
  func cancel() async throws {
    let passcode = try PAMFixture("auth required MATRIX", "account required MATRIX")
    let person = SilentPerson()
    let check = Task { try await passcode.verify("Sign in", conversation: person) }
    await person.isAsked()
    check.cancel()
    await #expect(throws: DevicePasscodeFailure.cancelled) { try await check.value }
    await person.isLeft()
    try await passcode.verify("Sign in", conversation: ScriptedPasscodeConversation(PAMFixture.answer))
  }

  @Test("a missing answer ends with a time-out")
  func timeLimit() async throws {
    let passcode = try PAMFixture(
      "auth required MATRIX", "account required MATRIX", timeLimit: .milliseconds(1))
    await #expect(throws: DevicePasscodeFailure.timedOut) {
      try await passcode.verify("Sign in", conversation: SilentPerson())
    }
  }

  @Test("a second concurrent check is refused")
  func busy() async throws {
    let passcode = try PAMFixture("auth required MATRIX", "account required MATRIX")
    let person = SilentPerson()
    let check = Task { try await passcode.verify("Sign in", conversation: person) }
    await person.isAsked()
    await #expect(throws: DevicePasscodeFailure.busy) {
      try await passcode.verify("Sign in", conversation: ScriptedPasscodeConversation(PAMFixture.answer))
    }
    check.cancel()
    _ = await check.result
  }

  @Test("a module that sends messages without end is stopped")
  func endless() async throws {
    let chatter = Array(repeating: "auth required CHATTY info", count: 65).joined(separator: "\n")
    let passcode = try PAMFixture(chatter, "auth required MATRIX", "account required MATRIX")
    let person = ScriptedPasscodeConversation(PAMFixture.answer)
    await #expect(throws: DevicePasscodeFailure.unavailable("it asked too many questions")) {
      try await passcode.verify("Sign in", conversation: person)
    }
    #expect(person.exchanges.count == 64)
  }

  @Test("a hostile message becomes one sanitised line of bounded length")
  func hostileWords() async throws {
    let words = "one\u{1B}[2J\rtwo\n\u{202E}three\u{07}" + String(repeating: "x", count: 5_000)
    let passcode = try PAMFixture(
      "auth required pam_echo.so file=FOLDER/words", "auth required MATRIX", "account required MATRIX",
      words: Data(words.utf8 + [0xFF, 0xFE]))
    let person = ScriptedPasscodeConversation(PAMFixture.answer)
    try await passcode.verify("Sign in", conversation: person)
    guard case .message(let message) = person.exchanges.first else {
      Issue.record("\(person.exchanges)")
      return
    }
    #expect(message.text.hasPrefix("one␛[2J two \\u{202E}three␇xxx"))
    #expect(message.text.count <= 512)
  }
}

/// A user who does not answer until the question is cancelled.
private final class SilentPerson: PasscodeConversation {
  private let asked = AsyncStream<Void>.makeStream()
  private let left = AsyncStream<Void>.makeStream()

  func answer(_ prompt: PasscodePrompt) async -> SecretBytes? {
    asked.continuation.yield()
    for await _ in AsyncStream<Never>.makeStream().stream {}  // ends with the task
    left.continuation.yield()
    return nil
  }

  func show(_ message: PasscodeMessage) async {}

  func isAsked() async { for await _ in asked.stream { break } }
  func isLeft() async { for await _ in left.stream { break } }
}
