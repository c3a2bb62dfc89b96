import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// `signet data` without an agent.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DataCommandTests {
  @Test("encrypted data is decrypted, and --json prints the output file")
  func roundTrip() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let (plain, sealed, opened) = (
      try server.write("notes", to: "plain"), server.folder.file("sealed"), server.folder.file("opened")
    )
    let encrypted = try await device.json("data", "encrypt", "--label", "x", plain, sealed)
    #expect(try encrypted.string("output") == sealed)
    let size = try FileManager.default.attributesOfItem(atPath: sealed)[.size] as? Int
    #expect(try encrypted.integer("byteCount") == Int64(size ?? 0))
    // Without --json a success prints nothing.
    let decrypted = try await device.run("data", "decrypt", "--label", "x", sealed, opened)
    #expect(decrypted.status == 0 && decrypted.output.isEmpty, decrypted.summary)
    #expect(try String(contentsOfFile: opened, encoding: .utf8) == "notes")
    let other = try await device.run("data", "decrypt", "--label", "y", sealed, opened)
    #expect(other.status != 0, other.summary)
    await server.stop()
  }
}
