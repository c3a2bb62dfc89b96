import SignetJSON
import SignetSQLite
import SignetTestKit
import Testing

/// A container whose row an attacker has changed, as operators and its user see it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AlteredContainerCommandTests {
  @Test("commands name the altered row and the remedy with status 77, and 'user show' lists it")
  func named() async throws {
    let server = try await RunningServer.start()
    let device = server.device()
    let code = try await server.codeFile("alice")
    _ = try await device.json("activate", "--code-file", code, passwords: ["winter-garden-42"])
    let id = try #require(try await server.activeContainers("alice").first)
    let database = try Database(path: "\(server.data)/signet.sqlite", mode: .readWrite)
    try database.execute("UPDATE containers SET keystore = 'tpm2'")

    let remedy = "signet-server container revoke \(id)"
    for word in ["lock", "unlock", "wipe", "renew", "account", "policies"] {
      let refused = try await server.run("container", word, id)
      #expect(refused.isRefusal(77, remedy), "\(word): \(refused.summary)")
      #expect(refused.errorOutput.contains("altered"), "\(word): \(refused.summary)")
    }
    let asked = try await device.run("pending")
    #expect(asked.isRefusal(77, remedy), asked.summary)

    let shown = try await server.json("user", "show", "alice").array("authenticators")
    guard case .object(let container)? = shown.first else {
      throw JSONFailure.missingMember("authenticators")
    }
    #expect(try shown.count == 1 && container.string("state") == "altered")
    let screen = try await server.run("user", "show", "alice")
    #expect(screen.status == 0 && screen.output.contains("altered"), screen.summary)

    _ = try await server.json("container", "revoke", id)
    let gone = try await device.run("pending")
    #expect(gone.status != 0 && gone.errorOutput.contains("activate again"), gone.summary)
    await server.stop()
  }
}
