#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  /// Real attacks on a real agent, between two unlocks.
  ///
  /// The agent's memory is closed to its user, so the attacker is root.
  @Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "nobody else than root may trace the agent"))
  struct TamperedAgentTests {
    private static let gdb = "/usr/bin/gdb"
    private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]
    private static let hasGDB =
      FileManager.default.isExecutableFile(atPath: gdb) || ContinuousIntegration.isHere
    private static let hasFrida = python != nil || ContinuousIntegration.isHere

    /// An agent with an unlocked session and a configured reaction.
    private struct Bench {
      let bench: AgentBench
      let agent: RunningAgent

      init(_ reaction: String, _ bench: AgentBench) async throws {
        self.bench = bench
        var process = try bench.device.process([
          "agent", "--socket", bench.socket, "--groups", bench.folder.file("agent.json"),
        ])
        process.environment["SIGNET_INTEGRITY"] = reaction
        agent = try await RunningAgent(process)
        // Conditions from the start, such as those of a container, do not count as an attack.
        let unlocked = try await bench.unlock("apps/two")
        #expect(unlocked.status == 0, unlocked.summary)
      }

      func status(_ group: String = "office") async throws -> ServerCommand.Result {
        try await bench.run(nil, "status", "--group", group)
      }
    }

    /// A program that is attached to the agent until the test releases it.
    private final class Attacker: Sendable {
      private let process: ChildProcess

      /// Starts it, and returns when it reports that it is attached.
      init(_ line: [String]) async throws {
        process = try ChildCommand(
          ["/usr/bin/timeout", "-k", "1", "60"] + line, input: .pipe, output: .pipe
        ).start()
        // gdb prints other text before.
        let said = await process.output.text { bytes in
          bytes.last == 10 && String(decoding: bytes, as: UTF8.self).contains("attached") ? bytes.count : nil
        }
        try #require(said != nil, "the attacker could not attach")
        // Its later output must not block it.
        Thread.detachNewThread { [process] in _ = process.output.readDataToEndOfFile() }
      }

      deinit { process.send(SIGTERM) }

      func letGo() async {
        process.send(SIGTERM)
        _ = await process.status()
      }
    }

    private static func debugger(of id: Int32) async throws -> Attacker {
      try await Attacker([
        gdb, "-q", "-nx", "-batch", "-p", "\(id)", "-ex", "handle all nostop noprint pass", "-ex",
        "echo attached\\n", "-ex", "continue",
      ])
    }

    @Test(
      "gdb attaches between two unlocks: the second is refused; the session stays or is wiped as configured",
      .enabled(if: hasGDB, "needs gdb"))
    func debugged() async throws {
      let apps = try await AgentBench()
      for reaction in ["refuse", "lock", "wipe-session"] {
        let bench = try await Bench(reaction, apps)
        if apps.content("sealed") == nil {
          #expect(try await apps.transform("apps/one", "encrypt", "text", "sealed").status == 0)
        }
        let attacker = try await Self.debugger(of: bench.agent.id)
        let refused = try await apps.unlock("apps/two")
        #expect(
          refused.isRefusal(77, "the agent is being tampered with: process "),
          "\(reaction): \(refused.summary)"
        )
        #expect(refused.errorOutput.contains("(gdb) traces thread"), "\(reaction): \(refused.summary)")
        let status = try await bench.status()
        let opened = try await apps.transform("apps/one", "decrypt", "sealed", "opened-\(reaction)")
        if reaction == "refuse" {
          #expect(status.status == 0, status.summary)
          #expect(opened.status == 0, opened.summary)
        } else {
          #expect(
            status.status == 1 && status.output.contains("the program was tampered with"),
            "\(reaction): \(status.summary)")
          #expect(
            opened.isRefusal(77, "the program was tampered with"), "\(reaction): \(opened.summary)")
          #expect(apps.content("opened-\(reaction)") == nil)
        }
        await attacker.letGo()
        // It has detached: data that it may have seen is erased, and the user can continue.
        let again = try await apps.unlock("apps/two")
        #expect(again.status == 0, "\(reaction): \(again.summary)")
        #expect(
          try await apps.transform("apps/one", "decrypt", "sealed", "opened-\(reaction)").status == 0,
          "\(reaction)")
        await bench.agent.kill(SIGTERM)
      }
    }

    @Test(
      "with the reaction terminate, the agent exits with the reason and leaves nothing unlocked",
      .enabled(if: hasGDB, "needs gdb"))
    func ends() async throws {
      let bench = try await Bench("terminate", AgentBench())
      let attacker = try await Self.debugger(of: bench.agent.id)
      let refused = try await bench.bench.unlock("apps/two")
      #expect(refused.status == 69, refused.summary)
      await attacker.letGo()
      #expect(await bench.agent.status() == 77)
      let message = try bench.agent.messages
      #expect(
        message.contains("This program terminates: this program is being tampered with: process "),
        "\(message)")
      #expect(message.contains("(gdb) traces thread"), "\(message)")
      let gone = try await bench.status()
      #expect(gone.isRefusal(69, "no agent serves"), gone.summary)
    }

    @Test(
      "Frida injects into the agent between two unlocks: the session is wiped, and the unlock refused",
      .enabled(if: hasFrida, "needs frida of PyPI"))
    func instrumented() async throws {
      let python = try #require(Self.python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
      let bench = try await Bench("wipe-session", AgentBench())
      let script = """
        import sys, frida
        session = frida.attach(\(bench.agent.id))
        script = session.create_script('''
          Interceptor.attach(Process.getModuleByName("libcrypto.so.3").getExportByName("RAND_bytes"), { onEnter(a) {} });
        ''')
        script.load()
        print("attached", flush=True)
        sys.stdin.read()
        session.detach()
        """
      let attacker = try await Attacker([python, "-c", script])
      let refused = try await bench.bench.unlock("apps/two")
      #expect(refused.isRefusal(77, "the agent is being tampered with: "), refused.summary)
      #expect(refused.errorOutput.contains("frida"), refused.summary)
      let status = try await bench.status()
      #expect(status.status == 1 && status.output.contains("the program was tampered with"), status.summary)
      await attacker.letGo()
      await bench.agent.kill()
    }

    @Test("an agent without tampering unlocks repeatedly under the strictest reaction")
    func clean() async throws {
      let bench = try await Bench("terminate", AgentBench())
      for _ in 0..<3 {
        let unlocked = try await bench.bench.unlock("apps/one")
        #expect(unlocked.status == 0, unlocked.summary)
      }
      #expect(try await bench.status().status == 0)
      await bench.agent.kill(SIGTERM)
      #expect(try bench.agent.messages == "")
    }
  }
#endif
