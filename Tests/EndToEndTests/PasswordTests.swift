import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// Passwords through the command line: rules, counted failures, lockout, and the recovery from it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PasswordTests {
  private let right = "winter-garden-42"

  private func serve() async throws -> RunningServer {
    try await RunningServer.startWithShop([
      "--minimum-length", "8", "--minimum-digits", "1", "--maximum-length", "20", "--attempts", "3",
    ])
  }

  @Test func wrongOnesCountDownToLockedOut() async throws {
    let server = try await serve()
    let device = server.device()
    let activated = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: [right])
    #expect(try activated.bool("confirmed"))
    let transaction = try await server.ask("alice", "Pay")
    func wrong(_ words: String..., says text: String) async throws {
      let result = try await device.run(words, passwords: ["summer-garden-42"])
      #expect(result.isRefusal(77, text), result.summary)
      #expect(!result.errorOutput.contains("garden"))
    }
    try await wrong("otp", says: "2 tries are left")
    // A right password resets the count.
    #expect(try await device.json("otp", passwords: [right]).string("code").count == 6)
    try await wrong("otp", says: "2 tries are left")
    try await wrong("approve", transaction, says: "1 try is left")
    try await wrong(
      "otp",
      says: "no try is left; use the recovery code if there is one (signet recovery reset), or ask for a new")
    try await wrong("otp", says: "locked after too many wrong passwords")
    for words in [["otp"], ["approve", transaction], ["deny", transaction]] {
      let locked = try await device.run(words, passwords: [right])
      #expect(locked.isRefusal(77, "locked after too many wrong passwords"), locked.summary)
    }
    #expect(try await server.transaction(transaction).string("status") == "pending")
    // Keys that the device alone opens still work; a new activation ends the lockout.
    #expect(try await device.json("pending").array("transactions").count == 1)
    let again = try server.write(await server.invite("alice").text, to: "again")
    _ = try await device.json("activate", "--code-file", again, "--yes", passwords: [right])
    #expect(try await device.containers().count == 1)
    _ = try await device.json("approve", transaction, passwords: [right])
    try SignedDecisionCheck.expectAccepted(await server.transaction(transaction))
    await server.stop()
  }

  @Test(
    "an invalid password time is refused", arguments: ["0", "10001", "-1", "fast", "250ms"])
  func passwordTime(word: String) async throws {
    let folder = try TemporaryFolder()
    var command = try InstalledSignet(data: folder.file("device")).process(["list"])
    command.environment["SIGNET_PASSWORD_TIME"] = word
    let result = try await command.finish()
    #expect(result.isRefusal(64, "a number of milliseconds from 1 to 10000"), result.summary)
  }

  /// Writes a command's peak memory in KiB to a file (`wait4`).
  private static let meter = """
    import os, sys
    child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
    status, usage = os.wait4(child, 0)[1:]
    with open(sys.argv[1], "w") as file:
        file.write(str(usage.ru_maxrss))
    sys.exit(os.waitstatus_to_exitcode(status) & 0xff)
    """

  @Test(
    "a password that is to take longer takes more memory, as far as that goes",
    .enabled(if: FakeServer.canRun, "needs python3"))
  func passwordTimeCounts() async throws {
    let folder = try TemporaryFolder()
    var most: [Int] = []
    for time in [1, 2000] {
      var device = InstalledSignet(data: folder.file("device-\(time)"))
      device.passwordTime = time
      _ = try await device.json("import", "otpauth://totp/Bank:bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
      let file = folder.file("memory-\(time)")
      device.launcher = ["/usr/bin/python3", "-c", Self.meter, file]
      let done = try await device.run("account", "protect", passwords: [right])
      try #require(done.status == 0, done.summary)
      most.append(try #require(Int(try String(contentsOfFile: file, encoding: .utf8))))
    }
    // Memory grows before passes do: 19 MiB times the ratio of the time to that of the least cost, up to 256 MiB.
    #expect(most[1] - most[0] >= 19 * 1024, "\(most) KiB")
  }

  @Test func whatBreaksThePolicyIsRefused() async throws {
    let server = try await serve()
    let device = server.device()
    let code = try await server.codeFile("alice")
    // The first rejected command creates the folder.
    #expect(try await device.run("activate", "--code-file", code, passwords: ["short1"]).status == 65)
    let before = try FolderSnapshot(device.data)
    for (password, reason) in [
      ("short1", "8"), ("no-digits-here", "digit"), ("long-long-long-long-long-1", "20"),
      ("abc-garden-42", "in order"), ("", "8"), ("\u{FF}bad\u{0}null1", ""),
    ] {
      let refused = try await device.run("activate", "--code-file", code, passwords: [password])
      #expect(refused.isRefusal(65, "the password is not allowed"), refused.summary)
      #expect(
        reason.isEmpty || refused.errorOutput.split(separator: "\n").last?.contains(reason) == true,
        refused.summary)
      #expect(password.isEmpty || !refused.errorOutput.contains(password))
      #expect(try FolderSnapshot(device.data) == before, refused.summary)
    }
    // Neither side has a container, and the code is still valid.
    #expect(try await device.containers().isEmpty)
    #expect(try await server.json("container", "list", "alice").array("containers").isEmpty)
    _ = try await device.json("activate", "--code-file", code, passwords: [right])
    await server.stop()
  }

  @Test func noPasswordAtAll() async throws {
    let server = try await serve()
    let device = server.device()
    let code = try await server.codeFile("alice")
    let words = ["activate", "--code-file", code, "--password-fd", "0"]
    let ended = try await device.run(words)  // standard input is the null device
    #expect(ended.isRefusal(66, "the input ended before a secret was given"), ended.summary)
    let closed = try await device.run(["activate", "--code-file", code, "--password-fd", "999"])
    #expect(closed.isRefusal(64, "file descriptor 999 is not open for reading"), closed.summary)
    let none = try await device.run(["activate", "--code-file", code])
    #expect(none.status == 64 && none.errorOutput.contains("no terminal for questions"), none.summary)
    let tooLong = try await device.run(
      "activate", "--code-file", code, passwords: [String(repeating: "a", count: 4095)])
    #expect(tooLong.isRefusal(65, "longer than 4094 bytes"), tooLong.summary)
    #expect(try await device.containers().isEmpty)
    _ = try await device.json("activate", "--code-file", code, passwords: [right])
    await server.stop()
  }
}
