#if os(Linux)
  import BusFixture
  import Foundation
  import Signet
  import SignetJSON
  import SignetTestKit
  import Testing

  /// `signet` with the real fprintd and libfprint's virtual reader, to which the test presents fingers.
  @Suite(
    .serialized, .enabled(if: ServiceNamespace.isPossible, "needs root, fprintd and libpam-wrapper"),
    .timeLimit(.minutes(10))
  )
  struct FingerprintTests {
    private static let password = "winter-garden-42"
    private static let policy =
      "TYPE=biometricorpassword;UP=0;LOW=0;NUM=1;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=20;LOCKTYPE=lock;LOCKCOUNTER=3"

    /// A server, a reader with one enrolled finger, and a device that uses the reader.
    private struct Bench {
      let fprint: FprintFixture
      let server: RunningServer
      let device: InstalledSignet

      init(enrols: Bool = true, policy: String = FingerprintTests.policy) async throws {
        fprint = try await FprintFixture()
        if enrols { try await fprint.enrol("right-index-finger", as: "right") }
        server = try await RunningServer.startWithShop(["--policy", policy])
        var device = server.device()
        device.launcher = ServiceNamespace(bus: fprint.bus.folder).launcher
        _ = try await device.json(
          "activate", "--code-file", server.codeFile("alice"), passwords: [FingerprintTests.password])
        self.device = device
      }

      func enable() async throws {
        let enabled = try await device.json("biometrics", "enable", passwords: [FingerprintTests.password])
        #expect(try enabled.string("status") == "enabled")
      }

      func status(_ expected: String, _ exit: Int32) async throws {
        let result = try await device.run("biometrics", "status", "--json")
        #expect(result.status == exit && result.output.contains(#""status":"\#(expected)""#), result.summary)
      }
    }

    @Test("a fingerprint generates a code and signs; the terminal shows the prompt")
    func opens() async throws {
      let bench = try await Bench()
      try await bench.status("notEnabled", 1)
      let wrong = try await bench.device.run("biometrics", "enable", passwords: ["summer-garden-42"])
      #expect(wrong.isRefusal(77, "2 tries are left"), wrong.summary)
      try await bench.enable()
      try await bench.status("enabled", 0)

      let otp = try ControllingTerminal(bench.device, ["otp", "--json"])
      try otp.expect("touch the fingerprint reader, or type the password for alice at")
      try otp.expect("The reader is on")
      try await bench.fprint.now(.finger("right"))
      let made = try await otp.end()
      #expect(made.status == 0, "\(made.shown)")
      let line = try #require(made.shown.split(separator: "\n").last { $0.contains("\"code\"") })
      let json = try #require(line.firstIndex(of: "{"))
      let code = try JSONObject(parsing: Array(line[json...].utf8)).string("code")
      #expect(try await bench.server.accepts(code, of: "alice"))

      let id = try await bench.server.ask("alice", "Pay 250.00 EUR")
      let approval = try ControllingTerminal(bench.device, ["approve"])
      try approval.expect("| Pay 250.00 EUR")
      try approval.expect("The reader is on")
      try await bench.fprint.now(.stranger)
      try approval.expect("The finger was not recognised; 2 tries are left.")
      try await bench.fprint.now(.finger("right"))
      let approved = try await approval.end()
      #expect(approved.status == 0 && approved.shown.contains("Accepted \(id)."), "\(approved.shown)")
      try SignedDecisionCheck.expectAccepted(await bench.server.transaction(id))
      await bench.server.stop()
    }

    @Test("the password may be typed at the same prompt, or after Enter alone, or given by descriptor")
    func password() async throws {
      let bench = try await Bench()
      try await bench.enable()
      let typed = try ControllingTerminal(bench.device, ["otp"])
      try typed.expect("The reader is on")
      try typed.answer("", Self.password)
      #expect(try await typed.end().status == 0)
      let asked = try ControllingTerminal(bench.device, ["otp"])
      try asked.answer("or type the password", "")
      try asked.answer("Password for alice at", Self.password)
      #expect(try await asked.end().status == 0)
      #expect(try await bench.device.json("otp", passwords: [Self.password]).string("code").count == 6)
      let none = try await bench.device.run("otp")
      #expect(none.isRefusal(64, "there is no terminal for questions"), none.summary)
      // Ctrl-D cancels both the password and the finger.
      let stopped = try ControllingTerminal(bench.device, ["otp"])
      try stopped.expect("The reader is on")
      try stopped.answer("", "\u{4}", newline: false)
      #expect(try await stopped.end().status == 130)
      // Each command releases the reader at its end.
      try await bench.fprint.claimed { _ in }
      await bench.server.stop()
    }

    @Test("three unknown fingers end the match; the password prompt continues")
    func mismatch() async throws {
      let bench = try await Bench()
      try await bench.enable()
      let terminal = try ControllingTerminal(bench.device, ["otp"])
      try terminal.expect("The reader is on")
      for left in ["2 tries are left", "1 try is left", "the finger was not recognised"] {
        try await bench.fprint.now(.stranger)
        try terminal.expect(left)
      }
      try terminal.answer("", Self.password)
      #expect(try await terminal.end().status == 0)
      // If nothing can be shown below the prompt, the message gets a separate line.
      bench.fprint.next(.stranger, .stranger, .stranger)
      let dumb = try ControllingTerminal(bench.device, ["otp"], type: "dumb")
      try dumb.expect("or type the password for alice")
      try dumb.expect("the finger was not recognised")
      try dumb.answer("", Self.password)
      let ended = try await dumb.end()
      #expect(ended.status == 0 && !ended.shown.contains("\u{1B}"), "\(ended)")
      await bench.server.stop()
    }

    @Test("prompts ended by a signal count no mismatch; five mismatches lock although each process is killed")
    func interrupted() async throws {
      let bench = try await Bench()
      try await bench.enable()
      for signal in [SIGINT, SIGTERM, SIGKILL, SIGKILL, SIGINT, SIGTERM, SIGKILL] {
        let terminal = try ControllingTerminal(bench.device, ["otp"])
        try terminal.expect("The reader is on")
        try await bench.fprint.awaitMatch()
        #expect(try await terminal.end(with: signal) != 0)
        try await bench.fprint.awaitRelease()
      }
      let opened = try ControllingTerminal(bench.device, ["otp"])
      try opened.expect("The reader is on")
      // fprintd lends its reader to one program at a time; this one waits for the password.
      let second = try ControllingTerminal(bench.device, ["otp"])
      try second.expect("another program uses the fingerprint reader")
      try await bench.fprint.now(.finger("right"))
      #expect(try await opened.end().status == 0)
      try second.answer("", Self.password)
      #expect(try await second.end().status == 0)

      // A mismatch counts at once: ending the program early does not restore an attempt.
      for _ in 0..<4 {
        let terminal = try ControllingTerminal(bench.device, ["otp"])
        try terminal.expect("The reader is on")
        try await bench.fprint.now(.stranger)
        try terminal.expect("2 tries are left")
        try await bench.fprint.awaitMatch()
        #expect(try await terminal.end(with: SIGKILL) != 0)
        try await bench.fprint.awaitRelease()
      }
      let last = try ControllingTerminal(bench.device, ["otp"])
      try last.expect("The reader is on")
      try await bench.fprint.now(.stranger)
      try last.expect("too many fingers were not recognised")
      try last.answer("", Self.password)
      #expect(try await last.end().status == 0)
      let again = try ControllingTerminal(bench.device, ["otp"])
      try again.expect("The reader is on")
      try await bench.fprint.now(.finger("right"))
      #expect(try await again.end().status == 0)
      await bench.server.stop()
    }

    @Test("an added finger invalidates biometrics, the password enables them again, and disabling works")
    func invalidated() async throws {
      let bench = try await Bench()
      try await bench.enable()
      try await bench.fprint.enrol("left-thumb", as: "left")
      try await bench.status("invalidated", 1)
      let terminal = try ControllingTerminal(bench.device, ["otp"])
      try terminal.expect("Note: a finger was enrolled or removed")
      try terminal.answer("Password for alice at", Self.password)
      #expect(try await terminal.end().status == 0)
      let doctor = try await bench.device.run("doctor")
      #expect(doctor.status == 1 && doctor.output.contains("-> signet biometrics enable"), doctor.summary)
      #expect(
        doctor.output.contains("ok      fingerprints: fingers of this user are enrolled\n"),
        doctor.summary)
      try await bench.enable()
      let again = try ControllingTerminal(bench.device, ["otp"])
      try again.expect("The reader is on")
      try await bench.fprint.now(.finger("left"))
      #expect(try await again.end().status == 0)
      #expect(try await bench.device.json("biometrics", "disable").string("status") == "notEnabled")
      try await bench.status("notEnabled", 1)
      await bench.server.stop()
    }

    @Test("the agent matches a finger for the shared session, and cancels with the requester")
    func agent() async throws {
      let bench = try await Bench()
      try await bench.enable()
      let groups = try bench.server.write(
        #"{"version":1,"groups":[{"name":"default","executables":["/usr/bin/true"]}]}"#, to: "agent.json")
      let socket = "\(bench.server.folder.path)/run/agent.sock"
      let agent = try await RunningAgent(
        bench.device.process(["agent", "--socket", socket, "--groups", groups]))
      // The agent accepts no client from another mount namespace.
      var beside = bench.device
      beside.launcher = ["/usr/bin/nsenter", "--mount=/proc/\(agent.id)/ns/mnt", "--"]
      bench.fprint.next(.finger("right"))
      let unlock = try ControllingTerminal(beside, ["unlock", "--socket", socket])
      try unlock.expect("default: unlocked")
      #expect(try await unlock.end().status == 0)
      #expect(try await beside.run("status", "--socket", socket).status == 0)
      #expect(try await beside.run("lock", "--socket", socket).status == 0)

      let typed = try ControllingTerminal(beside, ["unlock", "--socket", socket])
      try typed.answer("or type the password", "")
      try typed.answer("Password for alice at", Self.password)
      #expect(try await typed.end().status == 0)
      // The agent releases the reader; if it did not, this would not end.
      try await bench.fprint.awaitRelease()
      await agent.kill(SIGTERM)
      await bench.server.stop()
    }

    @Test(
      "without fingers, a reader or a suitable policy, the status gives the reason and no prompt appears")
    func unable() async throws {
      let bench = try await Bench(enrols: false)
      try await bench.status("notEnrolled", 1)
      let enable = try await bench.device.run("biometrics", "enable", passwords: ["wrong"])
      #expect(enable.isRefusal(69, "no finger is enrolled"), enable.summary)
      var bare = bench.device
      let empty = try TemporaryFolder()
      bare.launcher = ServiceNamespace(bus: empty).launcher
      let missing = try await bare.run("biometrics", "enable", passwords: ["wrong"])
      #expect(missing.isRefusal(69, "no fingerprint reader that works"), missing.summary)
      #expect(try await bare.run("biometrics", "status").output.contains("no fingerprint reader that works"))
      // The program ignores a bus address from the environment.
      var misled = try bare.process(["biometrics", "status"])
      misled.environment["DBUS_SYSTEM_BUS_ADDRESS"] = bench.fprint.bus.address
      #expect(try await misled.finish().output.contains("no fingerprint reader that works"))
      // The explanation describes the policy as it is in force on this device.
      let able = try await bench.device.run("policy", "explain")
      #expect(able.output.contains("with biometrics once they are enabled."), able.summary)
      let unable = try await bare.run("policy", "explain")
      #expect(unable.output.contains("copied to, and with a password.\n"), unable.summary)
      withExtendedLifetime(empty) {}
      await bench.server.stop()

      let other = try await Bench(
        policy: Self.policy.replacing("TYPE=biometricorpassword", with: "TYPE=password"))
      try await other.status("notOffered", 1)
      let refused = try await other.device.run("biometrics", "enable", passwords: [Self.password])
      #expect(refused.isRefusal(65, "policy does not let biometrics"), refused.summary)
      await other.server.stop()
    }
  }
#endif
