#if os(Linux)
  import Foundation
  import SignetJSON
  import SignetTestKit
  import SignetTesting
  import Testing

  /// `signet` with its keys in a TPM.
  @Suite(.enabled(if: SimulatedTPM.isExpected, "needs swtpm"), .timeLimit(.minutes(10))) struct TPMDeviceTests
  {
    private let right = "winter-garden-42"

    /// Returns the same command with a TPM in its environment.
    private func with(_ tpm: String, _ device: InstalledSignet) -> InstalledSignet {
      var device = device
      device.launcher = ["/usr/bin/env", "SIGNET_TPM=\(tpm)"] + device.launcher
      return device
    }

    @Test func keysAreInTheTPMThatIsNamed() async throws {
      let tpm = try SimulatedTPM()
      let server = try await RunningServer.startWithShop(["--attempts", "3"])
      let device = with(tpm.address, server.device())
      let code = try await server.codeFile("alice")
      let activated = try await device.run("activate", "--code-file", code, passwords: [right])
      #expect(activated.status == 0, activated.summary)
      #expect(activated.output.contains("Keystore: TPM 2.0"), activated.summary)
      let listed = try await server.json("container", "list", "alice").array("containers")
      guard case .object(let container)? = listed.first else { throw JSONFailure.notAnObject }
      #expect(try container.string("keystore") == "tpm2" && container.string("keys") == "tpm2", "\(listed)")
      #expect(try container.bool("simulated"), "\(listed)")
      // A simulated TPM counts as software.
      #expect(try container.string("keyProtection") == "software", "\(listed)")
      #expect(try await device.json("otp", passwords: [right]).string("code").count == 6)
      #expect(try await server.audited("activation.staged").map { try $0.string("keys") } == ["tpm2"])
      let doctor = try await device.run("doctor")
      #expect(doctor.status == 0, doctor.summary)
      for line in [
        "note    keys: TPM 2.0", "a simulator, not hardware\n",
        "note    keys: the TPM's lockout has no password",
        "-> have the administrator set one: tpm2_changeauth -c lockout\n",
      ] { #expect(doctor.output.contains(line), doctor.summary) }
      let explained = try await device.run("policy", "explain")
      // The state of the simulated TPM is in files.
      #expect(
        explained.output.contains("The keys work wherever the files of this device are copied to"),
        explained.summary)
      let transaction = try await server.ask("alice", "Pay")
      let approved = try await device.run("approve", transaction, "--yes", passwords: [right])
      #expect(approved.status == 0, approved.summary)
      try SignedDecisionCheck.expectAccepted(await server.transaction(transaction))
      #expect(try await device.run("otp", passwords: ["summer-garden-42"]).isRefusal(77, "2 tries are left"))

      // An unreachable TPM is not lost, and a file does not replace it.
      tpm.stop()
      let missing = try await device.run("otp", passwords: [right])
      #expect(missing.isRefusal(75, "nothing is lost"), missing.summary)
      try tpm.start()
      let none = try await with("none", server.device()).run("otp", passwords: [right])
      #expect(none.isRefusal(65, "made with the keystore “tpm2”"), none.summary)
      let nonsense = try await with("tpm", server.device()).run("otp", passwords: [right])
      #expect(nonsense.isRefusal(65, "is not the address of a TPM"), nonsense.summary)
      let other = try SimulatedTPM()
      let replaced = try await with(other.address, server.device()).run("otp", passwords: [right])
      #expect(replaced.isRefusal(65, "register again"), replaced.summary)
      withExtendedLifetime(other) {}

      // The count is in the TPM now and continues there.
      for left in ["1 try is left", "no try is left", "locked after too many"] {
        let wrong = try await device.run("otp", passwords: ["summer-garden-42"])
        #expect(wrong.isRefusal(77, left), wrong.summary)
      }
      #expect(try await device.run("otp", passwords: [right]).isRefusal(77, "locked after too many"))
      await server.stop()
      withExtendedLifetime(tpm) {}
    }

    @Test func aSilentKeyIsInSoftware() async throws {
      let tpm = try SimulatedTPM()
      let folder = try TemporaryFolder()
      let policy = #"{"type":"password","password":{"minLength":6,"maxLength":64},"lock":{"type":"silent"}}"#
      try Data(policy.utf8).write(to: URL(filePath: folder.file("policy.json")))
      let server = try await RunningServer.startWithShop(["--policy-file", folder.file("policy.json")])
      let device = with(tpm.address, server.device())
      let code = try await server.codeFile("alice")
      _ = try await device.json("activate", "--code-file", code, passwords: [right])
      #expect(try await server.audited("activation.staged").map { try $0.string("keys") } == ["software"])
      let transaction = try await server.ask("alice", "Pay")
      // Nothing on the device can verify this PIN; the server rejects it.
      let wrong = try await device.run("approve", transaction, "--yes", passwords: ["summer-garden-42"])
      #expect(wrong.status != 0, wrong.summary)
      let approved = try await device.run("approve", transaction, "--yes", passwords: [right])
      #expect(approved.status == 0, approved.summary)
      try SignedDecisionCheck.expectAccepted(await server.transaction(transaction))
      await server.stop()
      withExtendedLifetime(tpm) {}
    }

    @Test func aVaultInAFileStaysThere() async throws {
      let tpm = try SimulatedTPM()
      let server = try await RunningServer.startWithShop([])
      let code = try await server.codeFile("alice")
      _ = try await server.device().json("activate", "--code-file", code, passwords: [right])
      let device = with(tpm.address, server.device())
      #expect(try await device.json("otp", passwords: [right]).string("code").count == 6)
      await server.stop()
      withExtendedLifetime(tpm) {}
    }
  }
#endif
