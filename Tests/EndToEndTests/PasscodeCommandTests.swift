#if os(Linux)
  import BusFixture
  import Foundation
  import Signet
  import SignetJSON
  import SignetTestKit
  import Testing

  /// `signet` with the real PAM and a PAM service that the test defines.
  @Suite(
    .serialized, .enabled(if: ServiceNamespace.isPossible, "needs root, fprintd and libpam-wrapper"),
    .timeLimit(.minutes(10))
  )
  struct PasscodeCommandTests {
    private let password = "winter-garden-42"

    @Test("the passcode unlocks if enabled; otherwise the password is asked for")
    func opens() async throws {
      let services = try PAMServiceFolder(["auth required MATRIX", "account required MATRIX"])
      let server = try await RunningServer.startWithShop([
        "--policy",
        "TYPE=devicelockorpassword;UP=0;LOW=0;NUM=1;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=20;LOCKTYPE=lock;LOCKCOUNTER=3",
      ])
      var device = server.device()
      device.launcher = ServiceNamespace(services: services.folder).launcher
      _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [password])
      let before = try await device.run("passcode", "status")
      #expect(before.status == 1 && before.output.contains("can be enabled"), before.summary)
      let wrong = try await device.run("passcode", "enable", passwords: ["summer-garden-42"])
      #expect(wrong.isRefusal(77, "2 tries are left"), wrong.summary)
      #expect(
        try await device.json("passcode", "enable", passwords: [password]).string("status") == "enabled")
      #expect(try await device.run("passcode", "status").status == 0)
      let doctor = try await device.run("doctor")
      #expect(
        doctor.output.contains("ok      passcode: PAM checks it by the service “signet”\n"), doctor.summary)

      let id = try await server.ask("alice", "Pay 250.00 EUR")
      let right = try ControllingTerminal(device, ["approve", id])
      try right.expect("enter the passcode of this device")
      try right.answer("Password: ", PAMServiceFolder.answer)
      let approved = try await right.end()
      #expect(approved.status == 0 && !approved.shown.contains(PAMServiceFolder.answer), "\(approved.shown)")
      try SignedDecisionCheck.expectAccepted(await server.transaction(id))

      let mistaken = try ControllingTerminal(device, ["otp"])
      try mistaken.answer("Password: ", "wrong")
      try mistaken.expect("the device's passcode was wrong")
      try mistaken.answer("Password for alice at", password)
      #expect(try await mistaken.end().status == 0)
      let declined = try ControllingTerminal(device, ["otp"])
      try declined.answer("Password: ", "")
      try declined.answer("Password for alice at", password)
      #expect(try await declined.end().status == 0)
      let stopped = try ControllingTerminal(device, ["otp"])
      try stopped.answer("Password: ", "\u{4}", newline: false)
      #expect(try await stopped.end().status == 130)

      // If PAM has no such service, the command asks for the password alone.
      var bare = device
      let empty = try TemporaryFolder()
      bare.launcher = ServiceNamespace(services: empty).launcher
      #expect(try await bare.run("passcode", "status").output.contains("no service"))
      #expect(try await bare.run("doctor").output.contains("note    passcode: PAM has no service"))
      let alone = try ControllingTerminal(bare, ["otp"])
      try alone.answer("Password for alice at", password)
      #expect(try await alone.end().status == 0)
      let refused = try await bare.run("passcode", "enable", passwords: ["wrong"])
      #expect(refused.isRefusal(69, "cannot check a passcode"), refused.summary)
      withExtendedLifetime(empty) {}

      // The agent checks the passcode too.
      let groups = try server.write(
        #"{"version":1,"groups":[{"name":"default","executables":["/usr/bin/true"]}]}"#, to: "agent.json")
      let socket = "\(server.folder.path)/run/agent.sock"
      let agent = try await RunningAgent(device.process(["agent", "--socket", socket, "--groups", groups]))
      // The agent accepts no client from another mount namespace.
      var beside = device
      beside.launcher = ["/usr/bin/nsenter", "--mount=/proc/\(agent.id)/ns/mnt", "--"]
      let unlock = try ControllingTerminal(beside, ["unlock", "--socket", socket])
      try unlock.answer("Passcode: ", "wrong")
      try unlock.expect("the device's passcode was wrong")
      try unlock.answer("Password for alice at", "\u{4}", newline: false)
      #expect(try await unlock.end().status == 130)
      let again = try ControllingTerminal(beside, ["unlock", "--socket", socket])
      try again.answer("Passcode: ", PAMServiceFolder.answer)
      #expect(try await again.end().status == 0)
      await agent.kill(SIGTERM)
      _ = try await device.json("passcode", "disable")
      #expect(try await device.run("passcode", "status").status == 1)
      await server.stop()
    }
  }
#endif
