import SignetJSON
import SignetSQLite
import SignetTestKit
import Testing

/// Keys of the server whose rows an attacker has altered or removed, as operators and users see them.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SigningKeyCommandTests {
  @Test(
    "after an altered or a removed key, 'list', 'rotate' and the device's doctor name the loss and what to do",
    arguments: [
      "UPDATE signing_keys SET created = 9", "DELETE FROM signing_keys WHERE retired IS NULL",
      "DELETE FROM signing_keys",
    ])
  func rotate(_ change: String) async throws {
    let server = try await RunningServer.start()
    let device = server.device()
    let code = try await server.codeFile("alice")
    _ = try await device.json("activate", "--code-file", code, passwords: ["winter-garden-42"])
    let first = try await server.run("signing-key", "rotate")
    #expect(first.status == 0 && first.errorOutput.isEmpty, first.summary)
    let whole = try await server.run("signing-key", "list")
    #expect(whole.status == 0 && whole.errorOutput.isEmpty, whole.summary)
    #expect(try await server.json("signing-key", "list")["missing"] == false)

    try Database(path: "\(server.data)/signet.sqlite", mode: .readWrite).execute(change)
    let broken = try await server.run("signing-key", "list")
    #expect(
      broken.status == 0 && broken.errorOutput.contains("signet-server signing-key rotate"), broken.summary)
    #expect(try await server.json("signing-key", "list")["missing"] == true)
    #expect(try await device.run("pending").status != 0)

    let rotated = try await server.run("signing-key", "rotate")
    #expect(rotated.status == 0 && rotated.errorOutput.contains("signet renew"), rotated.summary)
    let refused = try await device.run("pending")
    #expect(refused.status != 0 && refused.errorOutput.contains("signet renew"), refused.summary)
    let doctor = try await device.run("doctor")
    #expect(
      doctor.status == 1 && doctor.output.contains("has answered with another key")
        && doctor.output.contains("signet renew"), doctor.summary)
    _ = try await device.json("renew", passwords: ["winter-garden-42"])
    #expect(try await device.run("pending").status == 0)
    let healed = try await device.run("doctor")
    #expect(healed.status == 0, healed.summary)
    let next = try await server.run("signing-key", "rotate")
    #expect(next.status == 0 && next.errorOutput.isEmpty, next.summary)
    await server.stop()
  }
}
