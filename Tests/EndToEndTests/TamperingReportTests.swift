#if os(Linux)
  import Foundation
  import SignetJSON
  import SignetTestKit
  import Testing

  /// Tampering reports of a device, from `server.json` through a real server to the reaction.
  @Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cc") || ContinuousIntegration.isHere,
      "needs a C compiler"))
  struct TamperingReportTests {
    /// A server with settings, a device whose container has policies, and a library that hooks.
    private struct Bench {
      let server: RunningServer
      let device: InstalledSignet
      let container: String
      let library: String

      /// Replaces a security function by one with the same effect.
      static let harmless = """
        #include <sys/random.h>
        int RAND_bytes(unsigned char *to, int n) { while (n > 0) { long k = getrandom(to, n, 0); if (k < 0) return 0; to += k; n -= k; } return 1; }

        """

      init(
        _ devices: JSONObject, policies: String = #"{"deviceTampering":{"score":0.8}}"#,
        hook code: String = harmless
      ) async throws {
        server = try await RunningServer.startWithShop(["--protection", "device"]) {
          $1["devices"] = .object(devices)
        }
        device = server.device()
        _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
        container = try #require(try await server.activeContainers("alice").first)
        _ = try await server.json("container", "policies", container, policies)
        let heard = try await device.run("pending")
        #expect(heard.status == 0, heard.summary)
        let source = "\(server.folder.path)/hook.c"
        library = "\(server.folder.path)/hook.so"
        try Data(code.utf8).write(to: URL(filePath: source))
        let result = try await ChildCommand(["/usr/bin/cc", "-shared", "-fPIC", "-o", library, source])
          .finish()
        try #require(result.status == 0, result.summary)
      }

      /// Sends the device's report from this environment; a debug build makes all checks once a reaction is named.
      func report(_ environment: [String: String]) async throws -> ServerCommand.Result {
        var process = try device.uninstalled(in: server.folder).process(["condition", "report"])
        process.environment.merge(["SIGNET_INTEGRITY": "report"].merging(environment) { $1 }) { $1 }
        return try await process.finish()
      }

      func compliance() async throws -> String {
        try await server.json("container", "account", container).string("standing")
      }
    }

    @Test(
      "a hooked device's report triggers the configured reaction; a clean report ends it",
      arguments: [("allow", "open"), ("stepUp", "stepUp"), ("lock", "locked"), ("wipe", "wiped")])
    func reactions(_ reaction: String, _ compliance: String) async throws {
      let bench = try await Bench([
        "reactions": ["deviceTampering": .string(reaction), "screenLock": "allow"]
      ])
      let clean = try await bench.report([:])
      #expect(clean.status == 0, clean.summary)
      #expect(try await bench.compliance() == "open")
      let early = try await bench.device.json("otp").string("code")

      let hooked = try await bench.report(["LD_PRELOAD": bench.library])
      let entries = try await bench.server.audited("account.reported")
      let last = try #require(entries.last)
      #expect(try last.string("reaction") == reaction && last.string("policies") == "deviceTampering")
      if reaction != "allow" {
        #expect(try last.string("reason").contains("its score is 1"), "\(last.text)")
      }
      if reaction == "wipe" {
        #expect(hooked.status == 1 && hooked.output.contains("deleted"), hooked.summary)
        #expect(try await bench.device.containers().isEmpty)
        let listed = try await bench.server.run("container", "list", "alice")
        #expect(listed.output.contains("revoked (wiped)"), listed.summary)
      } else {
        // The device locks itself by the same policy, independently of the server's verdict.
        #expect(hooked.status == 1, hooked.summary)
        #expect(try await bench.compliance() == compliance)
        #expect(try await bench.server.accepts(early, of: "alice") == (reaction == "allow"))
        // Without the library, the next report unlocks the container again.
        let again = try await bench.report([:])
        #expect(again.status == 0, again.summary)
        #expect(try await bench.compliance() == "open")
        _ = try await bench.device.json("otp")
      }
      await bench.server.stop()
    }

    @Test("a device with repeated random numbers is not refused, and its report is accepted")
    func repeating() async throws {
      let bench = try await Bench(
        ["reactions": ["deviceTampering": "lock", "screenLock": "allow"]],
        hook: IntegrityCommandTests.repeatingGenerator)
      let hooked = try await bench.report(["LD_PRELOAD": bench.library, "SIGNET_INTEGRITY": "refuse"])
      #expect(hooked.status == 1 && hooked.output.contains("Broken: deviceTampering"), hooked.summary)
      let entries = try await bench.server.audited("account.reported")
      let last = try #require(entries.last)
      #expect(try last.string("reaction") == "lock", "\(last.text)")
      #expect(try await bench.compliance() == "locked")
      await bench.server.stop()
    }

    @Test("the server's own weights count, not the device's score")
    func weights() async throws {
      let bench = try await Bench(["tampering": ["scoring": "weighted-sum", "weights": ["environment": 0.9]]])
      // The sign weighs 0.3 on the device, below its threshold.
      let reported = try await bench.report(["HOSTALIASES": "/nowhere"])
      #expect(try await bench.compliance() == "locked", reported.summary)
      let account = try await bench.server.json("container", "account", bench.container)
      #expect(try account.string("reason").contains("its score is "), "\(account.text)")
      let clean = try await bench.report([:])
      #expect(clean.status == 0, clean.summary)
      #expect(try await bench.compliance() == "open")
      // The control: without configured weights, the server uses the device's score.
      let other = try await Bench([:])
      let fine = try await other.report(["HOSTALIASES": "/nowhere"])
      #expect(fine.status == 0, fine.summary)
      #expect(try await other.compliance() == "open")
      await bench.server.stop()
      await other.server.stop()
    }

    @Test("a server that accepts only releases locks out a debug build")
    func flavours() async throws {
      let bench = try await Bench(["flavours": ["release"]])
      let reported = try await bench.report([:])
      if InstalledSignet.flavour == "release" {
        #expect(reported.status == 0, reported.summary)
        #expect(try await bench.compliance() == "open")
      } else {
        #expect(reported.status == 1, reported.summary)
        #expect(
          reported.errorOutput.contains("apps of this flavour are not accepted: debug")
            || reported.output.contains("apps of this flavour are not accepted: debug"), reported.summary)
        #expect(try await bench.compliance() == "locked")
        let refused = try await bench.device.run("otp")
        #expect(refused.isRefusal(77, "apps of this flavour are not accepted: debug"), refused.summary)
      }
      await bench.server.stop()
    }

    @Test("a server does not start with invalid settings, and names the member")
    func malformed() async throws {
      let server = try await RunningServer.start()
      await server.stop()
      for (devices, message) in [
        (
          ["reactions": ["deviceTampering": "explode"]],
          #""devices.reactions.deviceTampering" must be one of "allow", "stepUp", "lock", "wipe"; found "explode""#
        ),
        (["reaction": [:]], #""devices.reaction" is not known here; did you mean "reactions"?"#),
        (
          ["tampering": ["weights": ["hok": 1]]],
          #""devices.tampering.weights.hok" is not a category of evidence; did you mean "hook"?"#
        ),
      ] as [(JSONObject, String)] {
        try server.changeSettings { $0["devices"] = .object(devices) }
        let refused = try await server.run("serve")
        #expect(refused.status == 78 && refused.errorOutput.contains(message), refused.summary)
        #expect(refused.errorOutput.contains("server.json"), refused.summary)
      }
    }
  }
#endif
