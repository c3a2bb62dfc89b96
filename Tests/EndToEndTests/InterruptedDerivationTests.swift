#if os(Linux)
  import Foundation
  import SignetTestKit
  import SignetTesting
  import Testing

  /// Programs that are ended while they derive a key from the right password: no failure is counted, for each kind of key.
  ///
  /// Each is ended at the last moment of a derivation, when it frees its memory. Each lock here allows one failure, or makes the
  /// user wait after three, so that one failure for each signal would show. UAF keys allow two failures without a wait: with
  /// `SIGNET_KILLS`, each signal is sent three times.
  @Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(
      if: geteuid() == 0 || ContinuousIntegration.isHere, "nobody else than root sees what they wait for"))
  struct InterruptedDerivationTests {
    private static let rules =
      "UP=0;LOW=0;NUM=0;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=40;LOCKTYPE=lock;LOCKCOUNTER=1"
    private static let right = "winter-garden-42"
    private static let session = "session-garden-42"
    /// Ctrl-C, a termination request and a kill: more than a lock with one allowed failure could bear.
    private static let signals = [SIGINT, SIGTERM, SIGKILL]
    /// The number of the system call in which a program waits for a line or a signal: `poll`, `ppoll`.
    #if arch(x86_64)
      private static let poll = "7"
    #else
      private static let poll = "73"
    #endif
    /// A size in KiB that only the derivation reaches after the password; Argon2id takes at least 19 MiB.
    private static let derivationSize = 12_000

    @Test("a container's password and a session key's")
    func container() async throws { try await containerOf(nil) }

    @Test("the same with a TPM", .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
    func containerOnTPM() async throws {
      let tpm = try SimulatedTPM()
      try await containerOf(tpm.address)
      withExtendedLifetime(tpm) {}
    }

    private func containerOf(_ tpm: String?) async throws {
      let server = try await RunningServer.startWithShop([
        "--policy", "\(Self.rules);LOCKWIPE=1", "--session-policy", "\(Self.rules);LOCKWIPE=1",
      ])
      var device = server.device()
      if let tpm { device.launcher = ["/usr/bin/env", "SIGNET_TPM=\(tpm)"] }
      _ = try await device.json(
        "activate", "--code-file", server.codeFile("alice"), passwords: [Self.right, Self.session])
      for (words, password) in [(["otp"], Self.right), (["pending"], Self.session)] {
        try await interrupt(device, words, password)
      }
      await server.stop()
    }

    @Test("the password of imported accounts")
    func accounts() async throws {
      let folder = try TemporaryFolder()
      let device = InstalledSignet(data: folder.file("device"))
      _ = try await device.json("import", "otpauth://totp/Bank:bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
      #expect(try await device.run("account", "protect", passwords: [Self.right]).status == 0)
      try await interrupt(device, ["otp", "Bank:bob"], Self.right)
    }

    @Test("the PIN and the password of UAF keys")
    func uafKeys() async throws {
      let party = try await UAFParty.start()
      let device = party.device()
      for (kind, secret) in [("pin", "864209"), ("password", Self.right)] {
        let made = try await device.run(
          ["uaf", "register", "alice", "-a", kind, "--token-fd", "0"] + party.words,
          passwords: [party.key, secret])
        try #require(made.status == 0, made.summary)
        // If only one signal counted a failure, the others would not hide it.
        let all = Self.signals.flatMap { [Int32](repeating: $0, count: 3) }
        let twice = Self.signals + Self.signals
        try await interrupt(
          device, ["uaf", "authenticate", "alice", "-a", kind] + party.words, secret,
          KillCount.wanted == nil ? twice : all)
      }
      await party.server.stop()
    }

    /// Ends a command in its derivation with each signal, and then runs it to its end.
    private func interrupt(
      _ device: InstalledSignet, _ words: [String], _ password: String, _ signals: [Int32] = signals
    ) async throws {
      for signal in signals {
        let trap = try HoldTrap(["munmap"], of: device.program ?? InstalledSignet.executable())
        var held = device
        held.launcher = trap.launcher + held.launcher
        var command = try held.process(words + ["--password-fd", "0"])
        command.input = .pipe
        let process = try command.start()
        while try !isReading(process) {
          try #require(process.isRunning, "\(words) asks for no password")
          if let call = trap.held { try trap.letGo(call) }
          try await Task.sleep(for: .milliseconds(2))
        }
        let before = residentSize(process)
        // A call since the last look is released too; otherwise the program would never reach the password.
        var last = trap.held
        if let last { try trap.letGo(last) }
        try process.input.write(contentsOf: Data("\(password)\n".utf8))
        var isDerived = false
        while !isDerived, let call = try await trap.call(after: last, of: process) {
          last = call
          isDerived = residentSize(process) >= before + Self.derivationSize
          if !isDerived { try trap.letGo(call) }
        }
        try #require(isDerived, "\(words) derives nothing: \(process.outputSoFar)")
        process.send(signal)
        let result = try await process.result()
        #expect(result.status == -signal && result.output.isEmpty, "\(words): \(result.summary)")
      }
      let result = try await device.run(words, passwords: [password])
      #expect(result.status == 0, "\(words): \(result.summary)")
    }

    /// Indicates whether a thread waits for the password.
    private func isReading(_ process: ChildProcess) throws -> Bool {
      let tasks = "/proc/\(process.id)/task"
      return try FileManager.default.contentsOfDirectory(atPath: tasks).contains { task in
        let bytes = FileManager.default.contents(atPath: "\(tasks)/\(task)/syscall") ?? Data()
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        // Two descriptors: that of the line and that of signals.
        return words.first.map(String.init) == Self.poll && words.dropFirst(2).first == "0x2"
      }
    }

    /// The resident memory of a process in KiB; 0 if it has ended.
    private func residentSize(_ process: ChildProcess) -> Int {
      let bytes = FileManager.default.contents(atPath: "/proc/\(process.id)/status") ?? Data()
      let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
        $0.hasPrefix("VmRSS:")
      }
      return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }
  }
#endif
