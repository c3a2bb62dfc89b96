#if os(Linux)
  import Foundation
  import SignetJSON
  import SignetTestKit
  import Testing

  /// Account policies of containers and of URIs with the real command, on a device that changes between two commands.
  @Suite(.serialized, .timeLimit(.minutes(10))) struct AccountPolicyCommandTests {
    /// Runs the command with a preloaded harmless library, a sign of tampering with the weight 0.5.
    private static func tampered(
      _ device: InstalledSignet, _ words: String..., passwords: [String] = []
    ) async throws -> ServerCommand.Result {
      let folder = try TemporaryFolder()
      var process = try device.uninstalled(in: folder).process(words, passwords: passwords)
      process.environment["LD_PRELOAD"] = "libm.so.6"
      return try await process.finish()
    }

    private static let policies = #"{"deviceTampering":{"score":0.4}}"#

    @Test("the account list evaluates policies and shows a lock; the next clean evaluation removes it")
    func listEvaluates() async throws {
      let server = try await RunningServer.startWithShop([
        "--protection", "device", "--account-policies", Self.policies,
      ])
      let device = server.device()
      let code = try await server.codeFile("alice")
      let refused = try await Self.tampered(device, "activate", "--code-file", code)
      #expect(refused.status == 77 && refused.errorOutput.contains("deviceTampering"), refused.summary)
      _ = try await device.json("activate", "--code-file", code)
      _ = try await device.json("otp")
      let locked = try await Self.tampered(device, "list")
      #expect(locked.status == 0 && locked.output.contains("locked (deviceTampering)"), locked.summary)
      let open = try await device.run("list")
      #expect(open.status == 0 && !open.output.contains("locked"), open.summary)
      let none = try await Self.tampered(device, "otp")
      #expect(none.status == 77 && none.errorOutput.contains("policy deviceTampering"), none.summary)
      _ = try await device.json("otp")
      await server.stop()
    }

    @Test("policies of an otpauth URI apply from its import, alone or in a file")
    func importedURI() async throws {
      let folder = try TemporaryFolder()
      let encoded = Data(Self.policies.utf8).base64EncodedString()
      func uri(_ name: String, _ secret: String) -> String {
        "otpauth://totp/Acme:\(name)?secret=\(secret)&policies=\(encoded.replacing("=", with: "%3D"))"
      }
      let (alone, first, second) = (
        uri("bob", "GEZDGNBVGY3TQOJQ"), uri("carol", "GEZDGNBVGY3TQOJR"), uri("dave", "GEZDGNBVGY3TQOJS")
      )
      let file = folder.file("accounts.txt")
      try Data("\(first)\n\(second)\n".utf8).write(to: URL(filePath: file))
      let device = InstalledSignet(data: folder.file("device"))
      for source in [alone, file] {
        let refused = try await Self.tampered(device, "import", source)
        #expect(refused.status != 0 && refused.errorOutput.contains("deviceTampering"), refused.summary)
      }
      #expect(try await device.json("account", "list").array("accounts").isEmpty)
      for source in [alone, file] {
        let taken = try await device.run("import", source)
        #expect(taken.status == 0, taken.summary)
      }
      for name in ["bob", "carol", "dave"] {
        _ = try await device.json("otp", name)
        let refused = try await Self.tampered(device, "otp", name)
        #expect(
          refused.status == 77 && refused.errorOutput.contains("policy deviceTampering"), refused.summary)
        _ = try await device.json("otp", name)
      }
    }
  }
#endif
