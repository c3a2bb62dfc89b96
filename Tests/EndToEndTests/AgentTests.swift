#if os(Linux)
  import Foundation
  import Signet
  import SignetAgent
  import SignetTestKit
  import Testing

  /// The session that apps share, with real processes.
  @Suite(.serialized, .timeLimit(.minutes(10))) struct AgentTests {
    @Test("an app unlocks for its whole group, one lock locks all, and other programs get nothing")
    func sharing() async throws {
      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      let locked = try await bench.transform("apps/one", "encrypt", "text", "sealed")
      #expect(locked.isRefusal(77, "not unlocked yet"), locked.summary)
      let wrong = try await bench.run(
        "apps/one", "unlock", "--group", "office", passwords: ["summer-garden-42"])
      #expect(wrong.isRefusal(77, "4 tries are left"), wrong.summary)
      let unlocked = try await bench.unlock("apps/one")
      #expect(unlocked.status == 0 && unlocked.output == "office: unlocked\n", unlocked.summary)

      // Both apps open the same data without a password.
      let sealed = try await bench.transform("apps/one", "encrypt", "text", "sealed")
      #expect(sealed.status == 0, sealed.summary)
      #expect(bench.content("sealed")?.contains("what the app keeps") == false)
      let opened = try await bench.transform("apps/two", "decrypt", "sealed", "opened")
      #expect(opened.status == 0, opened.summary)
      #expect(bench.content("opened") == "what the app keeps")

      // A copy of the program at another path, an app of another group and `signet` itself are rejected.
      for app in ["elsewhere/one", "apps/three"] {
        let refused = try await bench.transform(app, "decrypt", "sealed", "stolen")
        #expect(refused.isRefusal(77, "may not use the shared session"), refused.summary)
        for words in ["status", "unlock", "lock"] {
          let refused =
            words == "unlock" ? try await bench.unlock(app) : try await bench.run(app, words, passwords: [])
          #expect(refused.status == 77, refused.summary)
        }
      }
      let own = try await bench.run(
        nil, "data", "decrypt", "--shared", "--group", "office", "--label", "notes",
        bench.folder.file("sealed"),
        bench.folder.file("stolen"))
      #expect(own.isRefusal(77, "may not use the shared session"), own.summary)
      #expect(bench.content("stolen") == nil)

      // Another group has a separate session and separate data.
      #expect(try await bench.run(nil, "status", "--group", "home").status == 1)
      #expect(try await bench.unlock(group: "home").status == 0)
      let foreign = try await bench.transform("apps/three", "decrypt", "sealed", "stolen", group: "home")
      #expect(foreign.isRefusal(65, "cannot be decrypted"), foreign.summary)

      let status = try await bench.run(nil, "status", "--group", "office", "--json")
      #expect(status.status == 0 && status.output.contains(#""state":"unlocked""#), status.summary)
      #expect(try await bench.run(nil, "lock").output == "Locked.\n")
      for (app, group) in [("apps/one", "office"), ("apps/two", "office"), ("apps/three", "home")] {
        let locked = try await bench.transform(app, "decrypt", "sealed", "stolen", group: group)
        #expect(locked.isRefusal(77, "locked on request"), locked.summary)
      }
      #expect(try await bench.run(nil, "status", "--group", "office").status == 1)
      await agent.kill(SIGTERM)
      #expect(try agent.messages == "")
    }

    @Test("a program that other users can write is refused")
    func changeable() async throws {
      let bench = try await AgentBench(hasOwnPrograms: true)
      let agent = try await bench.startAgent()
      #expect(try await bench.unlock().status == 0)
      let app = bench.folder.file("apps/one")
      for place in [app, bench.folder.file("apps")] {
        #expect(chmod(place, 0o775) == 0)
        let refused = try await bench.transform("apps/one", "encrypt", "text", "sealed")
        #expect(refused.isRefusal(77, "may not use the shared session"), refused.summary)
        #expect(chmod(place, 0o755) == 0)
      }
      // A link to the program, or in its place, changes nothing: the file that runs decides.
      try FileManager.default.createSymbolicLink(
        atPath: bench.folder.file("elsewhere/link"), withDestinationPath: app)
      #expect(try await bench.transform("elsewhere/link", "encrypt", "text", "sealed").status == 0)
      #expect(rename(app, app + ".old") == 0)
      try FileManager.default.createSymbolicLink(
        atPath: app, withDestinationPath: bench.folder.file("elsewhere/one"))
      #expect(try await bench.transform("apps/one", "encrypt", "text", "sealed").status == 77)
      await agent.kill(SIGTERM)
    }

    /// Indicates whether the tests run; without root's rights they are skipped, but fail in CI.
    private static let isRoot = geteuid() == 0 || ContinuousIntegration.isHere

    @Test(
      "another user cannot reach the agent, and is refused if the folder's mode allows access",
      .enabled(if: isRoot, "needs root"))
    func otherUser() async throws {
      try #require(geteuid() == 0)
      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      #expect(try await bench.unlock().status == 0)
      var other = bench.device
      other.launcher = Nobody.launcher
      other.program = bench.folder.file("apps/one")
      let run = bench.folder.file("run")
      #expect(chmod(bench.folder.path, 0o755) == 0)
      let outside = try await other.run("status", "--group", "office", "--socket", bench.socket)
      #expect(outside.isRefusal(69, "no agent serves"), outside.summary)
      #expect(chmod(run, 0o755) == 0 && chmod(bench.socket, 0o666) == 0)
      let refused = try await other.run("status", "--group", "office", "--socket", bench.socket)
      // Our own client does not connect to an agent of another user either.
      #expect(refused.isRefusal(77, "other users can use the socket"), refused.summary)
      let answer = try await Self.greeting(as: Nobody.launcher, bench.socket)
      #expect(answer.status == 0, answer.summary)
      await agent.kill(SIGTERM)
    }

    /// Connects as another user's program and prints the agent's answer, which says no more than that it refuses.
    private static func greeting(as launcher: [String], _ socket: String) async throws -> ServerCommand.Result
    {
      let script = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1])
        greeting = s.recv(64)
        assert greeting[:6] == b"SGNA\\x02\\x01", greeting
        assert s.recv(64) == b""
        """
      return try await ChildCommand(launcher + ["/usr/bin/python3", "-c", script, socket]).finish()
    }

    @Test(
      "a killed agent leaves nothing unlocked and can be replaced; a second concurrent agent is refused")
    func killedAgent() async throws {
      let bench = try await AgentBench()
      let first = try await bench.startAgent()
      #expect(try await bench.unlock("apps/one").status == 0)
      #expect(try await bench.transform("apps/one", "encrypt", "text", "sealed").status == 0)
      let second = try await bench.device.run(
        "agent", "--socket", bench.socket, "--groups", bench.folder.file("agent.json"))
      #expect(second.isRefusal(75, "runs already"), second.summary)
      await first.kill()
      let gone = try await bench.transform("apps/one", "decrypt", "sealed", "opened")
      #expect(gone.isRefusal(69, "no agent serves"), gone.summary)
      let next = try await bench.startAgent()
      let locked = try await bench.transform("apps/one", "decrypt", "sealed", "opened")
      #expect(locked.isRefusal(77, "not unlocked yet"), locked.summary)
      #expect(try await bench.unlock("apps/two").status == 0)
      #expect(try await bench.transform("apps/one", "decrypt", "sealed", "opened").status == 0)
      #expect(bench.content("opened") == "what the app keeps")
      await next.kill(SIGTERM)
    }

    @Test("an app that reads or writes while another locks gets an error, and its keys are wiped")
    func streams() async throws {
      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      let session = AgentSession(
        path: bench.socket, group: try #require(AppGroup("office")),
        servedBy: [try InstalledSignet.executable()])
      await #expect(throws: SignetError.wrongPassword(remaining: 4)) {
        try await session.unlock(
          by: .password(SharedSecretBox(SecretBytes(copying: Array("summer-garden-42".utf8)))))
      }
      try await session.unlock(
        by: .password(SharedSecretBox(SecretBytes(copying: Array(AgentBench.password.utf8)))))
      #expect(try await session.state() == .unlocked)
      let text = [UInt8](repeating: 9, count: AppDataFormat.chunkByteCount + 1)
      let sealed = try await session.encrypt(text, label: "film")
      #expect(try await session.decrypt(sealed, label: "film") == text)
      await #expect(throws: SignetError.appData(.damaged)) {
        try await session.decrypt(sealed, label: "other")
      }
      for ends in [{ _ = try await bench.run(nil, "lock") }, { await agent.kill() }]
        as [@Sendable () async throws -> Void]
      {
        if try await session.state() != .unlocked {
          try await session.unlock(
            by: .password(SharedSecretBox(SecretBytes(copying: Array(AgentBench.password.utf8)))))
        }
        var sealer = try await session.encryptor(label: "film")
        _ = try sealer.update(text)
        try await ends()
        // The agent's notification arrives with a delay; if it never did, this would not end.
        let reason = Self.lockReason(&sealer, text)
        #expect([.requested, .ending].contains(reason))
      }
      await #expect(throws: SignetError.self) { try await session.encrypt(text, label: "film") }
    }

    private static func lockReason(_ sealer: inout AppDataSealer, _ text: [UInt8]) -> LockReason? {
      while true {
        do { _ = try sealer.update(text) } catch AppDataFailure.locked(let reason) { return reason } catch {
          return nil
        }
      }
    }

    @Test(
      "neither the password nor keys of app data stay in the agent's memory, unlocked or locked",
      .enabled(if: isRoot, "nobody else than root may look into it"))
    func secretsInMemory() async throws {
      try #require(geteuid() == 0)
      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      #expect(try await bench.unlock("apps/one").status == 0)
      let search = try MemorySearch(process: agent.id)
      search.add("password", SecretBytes(copying: Array(AgentBench.password.utf8)))
      // The control: a value that is not secret is found.
      search.add("control", SecretBytes(copying: Array(bench.socket.utf8)))
      for _ in 0..<2 {
        let found = try search.found()
        #expect(found.keys.contains { $0.hasPrefix("control") })
        #expect(!found.keys.contains { $0.hasPrefix("password") }, "\(found)")
        #expect(try await bench.transform("apps/one", "encrypt", "text", "sealed").status == 0)
      }
      _ = try await bench.run(nil, "lock")
      #expect(try search.found().keys.allSatisfy { $0.hasPrefix("control") })
      await agent.kill(SIGTERM)
    }

    @Test("other processes of the same user cannot read the agent's memory")
    func memory() async throws {
      let bench = try await AgentBench(hasOwnPrograms: true)
      if geteuid() == 0 {
        let given = ChildCommand(["/bin/chown", "-R", "\(Nobody.id):\(Nobody.id)", bench.folder.path])
        #expect(try await given.finish().status == 0)
      }
      func look(into id: Int32) async throws -> Int32 {
        try await ChildCommand(Nobody.launcher + ["/bin/cat", "/proc/\(id)/maps"]).finish().status
      }
      let agent = try await bench.startAgent(launcher: Nobody.launcher)
      #expect(try await look(into: agent.id) == 1)
      // The control: an unprotected program of that user.
      let line = Nobody.launcher + ["/bin/sh", "-c", "echo ready; read line"]
      let other = try ChildCommand(line, input: .pipe, output: .pipe).start()
      #expect(await other.output.firstLine() == "ready")
      #expect(try await look(into: other.id) == 0)
      try other.input.close()
      await agent.kill(SIGTERM)
    }

    @Test("the agent writes no core dump")
    func coreDump() async throws {
      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      let limits = try String(contentsOfFile: "/proc/\(agent.id)/limits", encoding: .utf8)
      let cores = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
      #expect(cores.split(separator: " ").filter { $0 == "0" }.count == 2)
      await agent.kill(SIGTERM)
    }

    @Test("a client that dies during a request ends no session")
    func killedClient() async throws {
      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      #expect(try await bench.unlock().status == 0)
      for delay in 0..<10 {
        let process = try {
          var command = bench.device
          command.program = bench.folder.file("apps/one")
          return try command.process([
            "data", "encrypt", "--shared", "--group", "office", "--label", "notes", "--socket", bench.socket,
            "--agent", InstalledSignet.executable(), bench.folder.file("text"), bench.folder.file("killed"),
          ])
        }()
        let running = try process.start()
        // The kill comes at a different moment of the program's short life each time.
        for _ in 0..<(delay * 400) { sched_yield() }
        _ = running.kill()
        _ = try await running.result()
      }
      #expect(try await bench.run(nil, "status", "--group", "office").status == 0)
      #expect(try await bench.transform("apps/two", "encrypt", "text", "sealed").status == 0)
      await agent.kill(SIGTERM)
    }

    @Test("the agent inherits its socket from systemd")
    func socketActivation() async throws {
      let bench = try await AgentBench()
      let run = bench.folder.file("run")
      try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: false)
      // Acts like systemd (sd_listen_fds(3)): descriptor 3, and the two variables.
      let script = """
        import os, socket, sys
        s = socket.socket(socket.AF_UNIX)
        s.bind(sys.argv[1])
        s.listen(16)
        os.dup2(s.fileno(), 3)
        os.set_inheritable(3, True)
        print("listening at it", flush=True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execv(sys.argv[2], sys.argv[2:])
        """
      var process = try bench.device.process(["agent", "--groups", bench.folder.file("agent.json")])
      process.line = ["/usr/bin/python3", "-c", script, bench.socket] + process.line
      let agent = try await RunningAgent(process)
      #expect(try await bench.unlock("apps/one").status == 0)
      #expect(try await bench.transform("apps/two", "encrypt", "text", "sealed").status == 0)
      await agent.kill(SIGTERM)
    }

    @Test("the command line encrypts and decrypts app data in its own session")
    func ownSession() async throws {
      let bench = try await AgentBench()
      func data(_ verb: String, _ label: String, _ input: String, _ output: String) async throws
        -> ServerCommand.Result
      {
        try await bench.device.run(
          "data", verb, "--label", label, bench.folder.file(input), bench.folder.file(output),
          passwords: [AgentBench.password])
      }
      let sealed = try await data("encrypt", "notes", "text", "sealed")
      #expect(sealed.status == 0, sealed.summary)
      #expect(permissions(of: bench.folder.file("sealed")) == 0o600)
      let wrong = try await data("decrypt", "other", "sealed", "opened")
      #expect(wrong.isRefusal(65, "cannot be decrypted"), wrong.summary)
      #expect(bench.content("opened") == nil)
      #expect(try await data("decrypt", "notes", "sealed", "opened").status == 0)
      #expect(bench.content("opened") == "what the app keeps")
      let plain = try await data("decrypt", "notes", "text", "other")
      #expect(plain.isRefusal(65, "not encrypted app data"), plain.summary)
      let none = try await data("encrypt", "notes", "nothing", "other")
      #expect(none.isRefusal(66, "cannot be read"), none.summary)
    }
  }
#endif
