import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// A requirement in `server.json` for a report of the device, and the command on a device that has not reported.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ReportRequirementCommandTests {
  private func started() async throws -> (RunningServer, InstalledSignet) {
    let server = try await RunningServer.startWithShop(["--protection", "device"]) {
      $1["requirements"] = ["fresh": ["reportAge": 86_400]]
    }
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    return (server, device)
  }

  private func reports(_ server: RunningServer) async throws -> Int {
    try await server.audited("account.reported").count
  }

  @Test("approve sends a report first; digits require an earlier report; a denial requires none")
  func approve() async throws {
    let (server, device) = try await started()
    let denied = try await server.ask("alice", "Pay 1 EUR", requiring: "fresh")
    _ = try await device.json("deny", denied, "--yes")
    let id = try await server.ask("alice", "Pay 2 EUR", requiring: "fresh")
    let offline = try await server.run("transaction", "offline", id, "--key-file", server.shopKey)
    #expect(
      offline.status == 1
        && offline.errorOutput.contains("fresh needs a report of the device that is at most 86400 s old"),
      offline.summary)
    #expect(try await reports(server) == 0)
    #expect(try await device.json("approve", id, "--yes").string("status") == "accepted")
    let found = try await server.transaction(id)
    try SignedDecisionCheck.expectAccepted(found)
    #expect(try found.strings("requirements") == ["fresh"])
    #expect(try await reports(server) == 1)
    let next = try await server.ask("alice", "Pay 3 EUR", requiring: "fresh")
    _ = try await device.json("approve", next, "--yes")
    #expect(try await server.transaction(next).string("status") == "accepted")
    #expect(try await reports(server) == 1)
    let last = try await server.run(
      "transaction", "create", "alice", "Pay 4 EUR", "--key-file", server.shopKey, "--requirement", "fresh",
      "--json")
    let made = try JSONObject(parsing: Array(last.output.utf8)).string("id")
    #expect(try await server.transaction(made).strings("requirements") == ["fresh"])
    let unknown = try await server.run(
      "transaction", "create", "alice", "Pay 5 EUR", "--key-file", server.shopKey, "--requirement", "frozen")
    #expect(unknown.isRefusal(65, "is not known; known names:"), unknown.summary)
    await server.stop()
  }

  @Test("an answer typed into listen is accepted, too")
  func listen() async throws {
    let (server, device) = try await started()
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.expect("Listening; Ctrl-C ends it.")
    let id = try await server.ask("alice", "Pay 1 EUR", requiring: "fresh")
    try terminal.answer("Request 1: approve, deny or report", "approve")
    try terminal.answer("Sign this? [y/N] ", "y")
    try terminal.answer("Accepted \(id).", "\u{4}", newline: false)
    let ended = try await terminal.end()
    #expect(ended.status == 0, "\(ended.shown)")
    #expect(try await server.transaction(id).string("status") == "accepted")
    #expect(try await reports(server) == 1)
    await server.stop()
  }
}
