import Foundation
import SignetJSON
import Testing

/// One-time codes with the settings of the operator.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CodeSettingsTests {
  @Test("length, hash, step and name of a container's codes are the server's, which accepts them")
  func profile() async throws {
    let first = try await RunningServer.startWithShop(["--protection", "device"])
    await first.stop()
    let path = "\(first.data)/server.json"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let changed = text.replacing(/"otp":\s*\{[^}]*\}/) { _ in
      #""otp":{"label":"Bank code","type":"totp","algorithm":"SHA512","digits":8,"period":60}"#
    }
    try #require(changed != text)
    try changed.write(toFile: path, atomically: false, encoding: .utf8)
    let server = try await first.again()
    let device = server.device()
    let activated = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let otp = try activated.object("profile").object("otp")
    #expect(try otp.string("label") == "Bank code" && otp.string("algorithm") == "SHA512")
    let labels = try activated.array("keys").compactMap { value -> String? in
      guard case .object(let key) = value else { return nil }
      return try key.string("label")
    }
    #expect(labels.contains("Bank code"))
    let code = try await device.json("otp")
    #expect(try code.string("code").count == 8)
    #expect(try code.integer("validUntil") - code.integer("validFrom") == 60)
    #expect(try await server.accepts(code.string("code"), of: "alice"))
    #expect(try await !server.accepts(code.string("code"), of: "alice"))
    await server.stop()
    // The settings also hold without a connection.
    #expect(try await device.json("otp").string("code").count == 8)
  }
}
