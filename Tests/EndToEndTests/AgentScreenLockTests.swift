#if os(Linux)
  import BusFixture
  import Foundation
  import SignetLinux
  import SignetTestKit
  import Testing

  /// `signet agent` with the real logind, where the system has it.
  @Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: LogindFixture.isPossible, "systemd-logind wants to be started by root"))
  struct AgentScreenLockTests {
    /// An agent and its clients in a mount namespace in which a test bus replaces the system bus.
    private struct Bench {
      let agents: AgentBench
      let logind: LogindFixture
      let agent: RunningAgent
      private let client: InstalledSignet

      init() async throws {
        agents = try await AgentBench()
        logind = try await LogindFixture()
        let bus = try #require(logind.bus.address.split(separator: "=").last.map(String.init))
        let script = """
          set -e
          mount -t tmpfs -o mode=755 tmpfs /run
          mkdir /run/dbus
          ln -s "$0" /run/dbus/system_bus_socket
          exec "$@"
          """
        var command = agents.device
        command.launcher = [
          "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, bus,
        ]
        agent = try await RunningAgent(
          command.process(["agent", "--socket", agents.socket, "--groups", agents.folder.file("agent.json")]))
        // The agent accepts only programs in its own namespaces.
        command.launcher = ["/usr/bin/nsenter", "--mount=/proc/\(agent.id)/ns/mnt"]
        client = command
        // The agent does not report when it begins to watch; if it never did, this loop would not end.
        while try await !logind.isHeldBack() {}
      }

      func unlock() async throws {
        let result = try await client.run(
          "unlock", "--group", "office", "--socket", agents.socket, passwords: [AgentBench.password])
        #expect(result.status == 0, result.summary)
        #expect(try await status().status == 0)
      }

      func status() async throws -> ServerCommand.Result {
        try await client.run("status", "--group", "office", "--socket", agents.socket, "--json")
      }

      func isLocked(_ reason: String) async throws -> Bool {
        let result = try await status()
        return result.status == 1 && result.output.contains(#""reason":"\#(reason)""#)
      }
    }

    @Test("the screen's lock locks the sessions of apps")
    func screen() async throws {
      let bench = try await Bench()
      try await bench.unlock()
      try await bench.logind.manager("LockSession", .text("other"))
      #expect(try await bench.status().status == 0)
      try await bench.logind.manager("LockSession", .text("own"))
      // The signal arrives with a delay; if it never did, this loop would not end.
      while try await bench.status().status == 0 {}
      #expect(try await bench.isLocked("screenLocked"))
      try await bench.unlock()
      await bench.agent.kill(SIGTERM)
    }

    @Test("before the machine sleeps they are locked, and sleep waits for that, each time")
    func sleep() async throws {
      let bench = try await Bench()
      for _ in 1...2 {
        while try await !bench.logind.isHeldBack() {}
        try await bench.unlock()
        try await bench.logind.manager("Suspend", .flag(false))
        #expect(await bench.logind.systemd.nextUnit { $0 == "suspend.target" } == "suspend.target")
        // The suspension was delayed until the agent had locked.
        #expect(try await bench.isLocked("suspended"))
      }
      await bench.agent.kill(SIGTERM)
    }
  }
#endif
