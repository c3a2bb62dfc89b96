import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// `signet password` and `signet recovery` through the command line.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PasswordChangeCommandTests {
  private let first = "winter-garden-42"
  private let second = "summer-garden-42"

  private func activated(_ options: String...) async throws -> (RunningServer, InstalledSignet) {
    let server = try await RunningServer.startWithShop(
      ["--minimum-length", "8", "--maximum-length", "20", "--attempts", "3"] + options)
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [first])
    return (server, device)
  }

  @Test func changesAndVerifies() async throws {
    let (server, device) = try await activated()
    #expect(try await device.json("password", "verify", passwords: [first]).bool("right"))
    let wrong = try await device.run("password", "change", passwords: ["wrong-garden-42", second])
    #expect(wrong.isRefusal(77, "2 tries are left"), wrong.summary)
    let short = try await device.run("password", "change", passwords: [first, "short"])
    #expect(short.isRefusal(65, "at least 8 characters"), short.summary)
    #expect(try await device.json("password", "change", passwords: [first, second]).bool("changed"))
    let old = try await device.run("password", "verify", passwords: [first])
    #expect(old.isRefusal(77, "2 tries are left"), old.summary)
    #expect(try await server.accepts(device.json("otp", passwords: [second]).string("code"), of: "alice"))
    await server.stop()
  }

  @Test func recoversFromALock() async throws {
    let (server, device) = try await activated()
    let code = try await device.json("recovery", "create", passwords: [first]).string("code")
    #expect(code.split(separator: "-").count == 7)
    for _ in 0..<3 { _ = try await device.run("otp", passwords: ["wrong-garden-42"]) }
    let locked = try await device.run("otp", passwords: [first])
    #expect(locked.isRefusal(77, "locked"), locked.summary)
    let typo = String(code.dropLast()) + (code.hasSuffix("7") ? "8" : "7")
    let mistyped = try await device.run("recovery", "reset", passwords: [typo, second])
    #expect(mistyped.isRefusal(65, "typing error"), mistyped.summary)
    // Searches for two groups of the code, since four symbols may appear by chance.
    #expect(!mistyped.errorOutput.contains(code.prefix(9)))
    #expect(!mistyped.errorOutput.contains(code.replacing("-", with: "").prefix(8)))
    _ = try await device.json("recovery", "reset", passwords: [code.lowercased(), second])
    #expect(try await server.accepts(device.json("otp", passwords: [second]).string("code"), of: "alice"))
    await server.stop()
  }

  @Test("the present password and the lock are checked before further prompts")
  func asksInOrder() async throws {
    let (server, device) = try await activated()
    let mistaken = try ControllingTerminal(device, ["password", "change"])
    try mistaken.answer("Password for", "wrong-garden-42")
    let refused = try await mistaken.end()
    #expect(refused.status == 77 && refused.shown.contains("2 tries are left"), "\(refused)")
    #expect(!refused.shown.contains("New password"), "\(refused)")
    let change = try ControllingTerminal(device, ["password", "change"])
    try change.answer("Password for", first)
    try change.answer("New password: ", "short")
    try change.expect("Not allowed: ")
    try change.answer("New password: ", second)
    try change.answer("Repeat it: ", second)
    let changed = try await change.end()
    #expect(changed.status == 0, "\(changed.shown)")
    for _ in 0..<3 { _ = try await device.run("otp", passwords: [first]) }
    for words in [["password", "change"], ["otp"]] {
      let result = try await ControllingTerminal(device, words).end()
      #expect(result.status == 77 && result.shown.contains("locked after too many"), "\(result)")
      #expect(!result.shown.contains("Password for"), "\(result)")
    }
    await server.stop()
  }

  @Test func saysDuringAWaitThatItWaits() async throws {
    let server = try await RunningServer.startWithShop([
      "--policy",
      "UP=0;LOW=0;NUM=0;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=20;LOCKTYPE=delay;LOCKDELAY=600;LOCKCOUNTER=4",
    ])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [first])
    _ = try await device.run("otp", passwords: [second])
    for words in [["otp"], ["password", "change"]] {
      let result = try await ControllingTerminal(device, words).end()
      #expect(result.status == 77 && !result.shown.contains("Password for"), "\(result)")
      // The right password is not tried during the wait either.
      let right = try await device.run(words, passwords: [first, second])
      #expect(right.status == 77 && right.errorOutput.contains("wait"), right.summary)
    }
    await server.stop()
  }

  @Test("a password that cannot be changed yet is reported before any prompt")
  func tooYoung() async throws {
    let server = try await RunningServer.startWithShop([
      "--policy", "UP=0;LOW=0;NUM=0;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=20;HISTMINAGE=2",
    ])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [first])
    #expect(try await device.json("password", "change", passwords: [first, second]).bool("changed"))
    let result = try await ControllingTerminal(device, ["password", "change"]).end()
    #expect(
      result.status == 65 && result.shown.contains("changed not long ago; change it again from 20"),
      "\(result)")
    #expect(!result.shown.contains("assword for"), "\(result)")
    await server.stop()
  }

  @Test("a missing recovery code is reported before any prompt")
  func noRecoveryCode() async throws {
    let (server, device) = try await activated()
    let none = "no recovery code was made since the keys were last made (signet recovery create)"
    let result = try await ControllingTerminal(device, ["recovery", "reset"]).end()
    #expect(result.status == 65 && result.shown.contains(none), "\(result)")
    #expect(!result.shown.contains("code: ") && !result.shown.contains("password: "), "\(result)")

    let create = try ControllingTerminal(device, ["recovery", "create"])
    try create.answer("Password for", first)
    let created = try await create.end()
    #expect(created.status == 0 && created.shown.contains("The code is shown only once"), "\(created)")
    // A renewal invalidates the recovery code, and says so.
    let renewed = try await device.run("renew", passwords: [first])
    #expect(renewed.status == 0, renewed.summary)
    #expect(
      renewed.errorOutput.contains(
        "The earlier recovery code of the container is invalid; make another: signet recovery create\n"),
      renewed.summary)
    #expect(try await device.run("recovery", "reset", passwords: ["0", second]).isRefusal(65, none))
    let plain = try await device.run("renew", passwords: [first])
    #expect(plain.status == 0 && !plain.errorOutput.contains("invalid"), plain.summary)
    await server.stop()
  }

  @Test func aRenewalSaysWhyAnotherPasswordIsNeeded() async throws {
    var (server, device) = try await activated()
    await server.stop()
    let file = "\(server.data)/server.json"
    let settings = try String(contentsOfFile: file, encoding: .utf8)
    let strict = settings.replacing(/"minLength": ?8/) { _ in "\"minLength\":18" }
    try #require(strict != settings)
    try strict.write(toFile: file, atomically: false, encoding: .utf8)
    server = try await server.again()
    let renewal = try ControllingTerminal(device, ["renew"])
    try renewal.answer("Password for", first)
    try renewal.expect("The current password cannot be kept: it does not meet the server's new rules.\n")
    try renewal.expect("Choose a password: 18 to 20 characters")
    try renewal.answer("New password: ", second + "-42")
    try renewal.answer("Repeat it: ", second + "-42")
    let renewed = try await renewal.end()
    #expect(renewed.status == 0, "\(renewed.shown)")
    await server.stop()
  }

  @Test func aContainerWithoutAPassword() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    for words in [
      ["password", "change"], ["password", "verify"], ["recovery", "create"], ["recovery", "reset"],
    ] {
      let result = try await device.run(words)
      #expect(result.isRefusal(65, "has no password"), result.summary)
    }
    await server.stop()
  }
}
