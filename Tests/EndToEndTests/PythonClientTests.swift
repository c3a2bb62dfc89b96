import Foundation
import Signet
import SignetJSON
import SignetTesting
import Testing

/// `Tests/Interop/client.py`, written from `docs/protocol.md` alone, against a real server.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PythonClientTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Interop/client.py").standardized.path

  /// Skipped without the interpreter and its modules, except in CI: a failure there.
  static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    guard let python else { return false }
    let process = Process()
    process.executableURL = URL(filePath: python)
    process.arguments = ["-c", "import argon2.low_level, cryptography"]
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  private func client(_ server: RunningServer, _ words: String...) async throws -> ServerCommand.Result {
    let python = try #require(Self.python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    let process = Process()
    process.executableURL = URL(filePath: python)
    process.arguments =
      [Self.script, "--ca", server.authority, "--state", "\(server.folder.path)/state.json"] + words
    process.environment = ServerCommand.cleanEnvironment
    process.standardInput = FileHandle.nullDevice
    return try await ChildProcess.finish(process)
  }

  private func json(_ result: ServerCommand.Result) throws -> JSONObject {
    try #require(result.status == 0, result.summary)
    return try JSONObject(parsing: Array(result.output.utf8))
  }

  @Test(.enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func aClientFromThePageAloneWorks() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let code = try await server.codeFile("zoë")
    let activated = try json(await client(server, "activate", code))
    #expect(try activated.string("status") == "active")
    #expect(try await server.activeContainers("zoë") == [activated.string("container")])

    let otp = try json(await client(server, "otp")).string("code")
    #expect(try await server.accepts(otp, of: "zoë"))
    #expect(try await !server.accepts(otp, of: "zoë"))

    let text = "Pay 250.00 € to Jane Doe\nReference: “winter” \u{1F332}"
    let id = try await server.ask("zoë", text)
    let pending = try json(await client(server, "pending")).array("transactions")
    #expect(pending.count == 1)
    guard case .object(let waiting)? = pending.first else { return }
    #expect(try waiting.string("id") == id)
    #expect(
      try waiting.string("content")
        == TransactionContent(.text(text), from: .relyingParty("shop")).json)
    #expect(try json(await client(server, "decide", id, "accepted")).string("status") == "accepted")
    try SignedDecisionCheck.expectAccepted(await server.transaction(id))
    #expect(try json(await client(server, "pending")).array("transactions").isEmpty)

    let other = try await server.ask("zoë", "Pay nobody")
    #expect(try json(await client(server, "decide", other, "denied")).string("status") == "denied")
    #expect(try await server.transaction(other).string("status") == "denied")
    await server.stopAndWait()
  }

  @Test(.enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func theServerRefusesItAWrongInviteAndItRefusesAWrongPin() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    _ = try await server.codeFile("alice")
    var code = try await server.invite("alice")
    let right = code.invite
    code.invite = InviteCode(random: SystemRandomSource())
    let wrong = try await client(server, "activate", server.write(code.text, to: "wrong"))
    #expect(wrong.status == 1 && wrong.errorOutput.contains("activation.refused"), wrong.summary)
    code.invite = right
    code.pins = [[UInt8](repeating: 7, count: 32)]
    let unpinned = try await client(server, "activate", server.write(code.text, to: "unpinned"))
    #expect(unpinned.status == 1 && unpinned.errorOutput.contains("not pinned"), unpinned.summary)
    #expect(try await server.activeContainers("alice").isEmpty)
    #expect(!FileManager.default.fileExists(atPath: "\(server.folder.path)/state.json"))
    await server.stopAndWait()
  }
}
