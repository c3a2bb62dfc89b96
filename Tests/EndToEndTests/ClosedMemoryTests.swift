#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  /// Access to our processes by another process of the same user: all of it is denied.
  ///
  /// Both sides run as an ordinary user, since root is denied nothing.
  @Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Nobody.canRun, "needs another user than root to run as"))
  struct ClosedMemoryTests {
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
      #expect(chmod(folder.path, 0o755) == 0)
    }

    /// Gives a folder and its contents to the user of both sides.
    private func give(_ path: String) async throws {
      guard geteuid() == 0 else { return }
      let given = ChildCommand(["/bin/chown", "-R", "\(Nobody.id):\(Nobody.id)", path])
      #expect(try await given.finish().status == 0)
    }

    /// Runs a program as the user of both sides.
    private func run(_ words: [String]) async throws -> ServerCommand.Result {
      try await ChildCommand(Nobody.launcher + words).finish()
    }

    /// Tries all ways into a process; each result is `open` or the error number.
    private func attack(_ id: Int32) async throws -> [String: String] {
      try #require(try await attack([id]).first)
    }

    /// Tries all ways into several processes with one program.
    private func attack(_ ids: [Int32]) async throws -> [[String: String]] {
      let script = """
        import ctypes, os, sys
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = [ctypes.c_long] * 4
        libc.ptrace.restype = ctypes.c_long

        class Part(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

        def number(result):
            return "open" if result >= 0 else str(ctypes.get_errno())

        def file(name, act):
            try:
                with open(f"/proc/{pid}/{name}", "rb", buffering=0) as opened:
                    return "open" if act(opened) else "empty"
            except OSError as error:
                return str(error.errno)

        def address(kind):
            try:
                for line in open(f"/proc/{pid}/maps"):
                    if kind in line and "[v" not in line:
                        return int(line.split("-")[0], 16)
            except OSError:
                pass
            return 0x400000

        def read(opened):
            opened.seek(address(" r"))
            return opened.read(16)

        for index, pid in enumerate(map(int, sys.argv[1:])):
            found = {}
            found["maps"] = file("maps", lambda opened: opened.read(16))
            found["mem"] = file("mem", read)
            found["environ"] = file("environ", lambda opened: opened.read(1) or True)
            here = ctypes.create_string_buffer(16)
            local, remote = Part(ctypes.addressof(here), 16), Part(address(" rw"), 16)
            found["process_vm_readv"] = number(
                libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0))
            # What was read there is written back.
            found["process_vm_writev"] = number(
                libc.process_vm_writev(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0))
            found["ptrace"] = number(libc.ptrace(0x4206, pid, 0, 0))
            for name, result in found.items():
                print(index, name, result)
        """
      let result = try await run(["/usr/bin/python3", "-c", script] + ids.map { "\($0)" })
      #expect(result.status == 0, result.summary)
      var found = [[String: String]](repeating: [:], count: ids.count)
      for line in result.output.split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        if words.count == 3, let index = Int(words[0]) { found[index][words[1]] = words[2] }
      }
      return found
    }

    private static let ways = ["environ", "maps", "mem", "process_vm_readv", "process_vm_writev", "ptrace"]

    /// Expects that every way is denied, including gcore's.
    private func expectClosed(_ id: Int32, _ name: String) async throws {
      let found = try await attack(id)
      #expect(found.keys.sorted() == Self.ways, "\(name)")
      for (way, result) in found {
        let refused = ["\(EPERM)", "\(EACCES)"]
        #expect(refused.contains(result), "\(name), \(way): \(result)")
      }
      guard FileManager.default.isExecutableFile(atPath: Self.gcore) || ContinuousIntegration.isHere else {
        return
      }
      let cores = folder.file("cores-\(id)")
      try FileManager.default.createDirectory(atPath: cores, withIntermediateDirectories: false)
      try await give(cores)
      let dumped = try await run([Self.gcore, "-o", "\(cores)/core", "\(id)"])
      #expect(dumped.status != 0, dumped.summary)
      #expect(try FileManager.default.contentsOfDirectory(atPath: cores).isEmpty)
    }

    private static let gcore = "/usr/bin/gcore"

    /// A program of the user that runs until the test ends it.
    private final class Target: Sendable {
      private let process: ChildProcess
      let line: String?
      var id: Int32 { process.id }
      var isRunning: Bool { process.isRunning }

      /// Starts the program and, if `speaks`, waits for its first line.
      init(_ words: [String], environment: [String: String], speaks: Bool) async throws {
        process = try ChildCommand(
          Nobody.launcher + words, environment: environment, input: .pipe, output: .pipe
        ).start()
        line = speaks ? await process.output.firstLine() : nil
      }

      deinit { process.send(SIGTERM) }

      func end() async {
        process.send(SIGTERM)
        _ = await process.status()
      }
    }

    @Test("control: each of these methods reads the memory of an unprotected program")
    func control() async throws {
      let script = """
        import ctypes, sys
        ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
        print("ready", flush=True)
        sys.stdin.read()
        """
      let target = try await Target(
        ["/usr/bin/python3", "-c", script], environment: ServerCommand.cleanEnvironment, speaks: true)
      #expect(target.line == "ready")
      let found = try await attack(target.id)
      #expect(found.keys.sorted() == Self.ways && found.values.allSatisfy { $0 == "open" }, "\(found)")
      await target.end()
    }

    @Test("the server's memory cannot be read, also not by gcore")
    func server() async throws {
      let program = try Nobody.copy(of: ServerCommand.executable(), in: folder)
      let home = folder.file("server")
      try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
      let port = try FreePort.find()
      let made = try await ServerCommand.run(
        "init", "--data", "\(home)/data", "--url", "127.0.0.1:\(port)/main")
      try #require(made.status == 0, made.summary)
      try await give(home)
      let target = try await Target(
        [program, "serve", "--data", "\(home)/data"], environment: ServerCommand.cleanEnvironment,
        speaks: true)
      #expect(target.line?.hasPrefix("listening on ") == true)
      try await expectClosed(target.id, "signet-server")
      await target.end()
    }

    @Test("the memory of the agent and of a command with a key to unlock cannot be read")
    func device() async throws {
      let bench = try await AgentBench(hasOwnPrograms: true)
      try await give(bench.folder.path)
      let agent = try await bench.startAgent(launcher: Nobody.launcher)
      try await expectClosed(agent.id, "signet agent")
      await agent.kill(SIGTERM)

      let program = bench.folder.file("apps/one")
      let command = try await Target(
        [program, "--data", bench.folder.file("device"), "otp", "--password-fd", "0"],
        environment: ServerCommand.cleanEnvironment, speaks: false)
      // It waits for a password that does not come. The owner of its files in /proc shows that its memory is closed.
      while !Self.isClosed(command.id, "one") { try await Task.sleep(for: .milliseconds(5)) }
      try await expectClosed(command.id, "signet otp")
      #expect(command.isRunning)
      await command.end()
    }

    @Test("each command closes its memory before its first output, also an uninstalled copy")
    func everyCommand() async throws {
      let device = try InstalledSignet(data: folder.file("none")).uninstalled(in: folder)
      let program = try #require(device.program)
      let help = try await device.run("help").output
      let names = help.matches(of: /(?m)^  ([a-z]+) {2,}\S/).map { String($0.output.1) }
      #expect(Set(names).isSuperset(of: ["deny", "report", "data", "list", "lock", "doctor", "agent"]))
      var lines = names.map { [$0] }
      lines += [
        ["report", "x"], ["data", "encrypt", "--label", "x", "/etc/hostname", folder.file("out")],
        ["condition", "show"], ["account", "list"], ["message", "list"], ["uaf", "list"],
        ["policy", "explain", "pin-6"],
      ]
      // In groups: the process that holds them polls every 2 ms for their release.
      for start in stride(from: 0, to: lines.count, by: 5) {
        var commands: [(words: [String], trap: HoldTrap, process: ChildProcess)] = []
        for (number, words) in lines[start..<min(start + 5, lines.count)].enumerated() {
          // Before the first word that the command writes or, if it writes none, before its end. An earlier moment needs an
          // installed program (`SetGroupTests`): a copy is open while the loader loads its libraries.
          let trap = try HoldTrap(["write", "exit_group"], of: program)
          var held = try InstalledSignet(data: folder.file("none-\(number)")).uninstalled(in: folder)
          held.launcher = trap.launcher + Nobody.launcher
          commands.append((words, trap, try held.process(words).start()))
        }
        for (words, trap, process) in commands {
          _ = try #require(try await trap.call(after: nil, of: process), "\(words)")
        }
        let attacked = try await attack(commands.map { $0.process.id })
        for ((words, trap, process), found) in zip(commands, attacked) {
          #expect(found.keys.sorted() == Self.ways, "\(words)")
          for (way, result) in found {
            #expect(["\(EPERM)", "\(EACCES)"].contains(result), "\(words), \(way): \(result)")
          }
          process.kill()
          try trap.letGoAll()
          _ = try await process.end()
        }
      }
    }

    /// Indicates whether a process has closed its memory: its files in `/proc` belong to root, and not to its user.
    ///
    /// The name is checked first, since the files of a launcher that changes its user belong to root as well.
    private static func isClosed(_ id: Int32, _ program: String) -> Bool {
      let name = FileManager.default.contents(atPath: "/proc/\(id)/comm") ?? Data()
      guard String(decoding: name, as: UTF8.self) == "\(program)\n" else { return false }
      var status = stat()
      return stat("/proc/\(id)/maps", &status) == 0 && status.st_uid == 0
    }

    // MARK: Cores

    /// Indicates whether the kernel writes core files into a program's working folder, where the test can look for them.
    private static let writesCores: Bool = {
      let pattern = FileManager.default.contents(atPath: "/proc/sys/kernel/core_pattern") ?? Data()
      return geteuid() == 0 && !pattern.isEmpty && ![124, 47].contains(pattern[0])
    }()

    /// The launcher that runs a program in a folder, without a limit on the size of core files.
    private func launcher(_ cores: String) -> [String] {
      ["/usr/bin/prlimit", "--core=unlimited:unlimited"] + Nobody.launcher
        + ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", cores]
    }

    @Test(
      "a crashed agent leaves no core dump with secrets; a control program does",
      .enabled(if: writesCores, "needs root, and cores that are written to the folder of the program"))
    func cores() async throws {
      let bench = try await AgentBench(hasOwnPrograms: true)
      let cores = bench.folder.file("cores")
      try FileManager.default.createDirectory(atPath: cores, withIntermediateDirectories: false)
      try await give(bench.folder.path)
      let agent = try await bench.startAgent(launcher: launcher(cores))
      var user = bench.device
      user.launcher = Nobody.launcher
      user.program = bench.folder.file("apps/one")
      let unlocked = try await user.run(
        ["unlock", "--group", "office", "--socket", bench.socket, "--agent", bench.folder.file("apps/one")],
        passwords: [AgentBench.password])
      #expect(unlocked.status == 0, unlocked.summary)
      await agent.kill(SIGSEGV)
      #expect(try FileManager.default.contentsOfDirectory(atPath: cores).isEmpty)

      // The control: a program with a secret, ended in the same way in the same folder.
      let line =
        launcher(cores) + [
          "/usr/bin/python3", "-c", "import os\ns = 'garden' + '-' * 3 + 'winter'\nos.abort()",
        ]
      let crashed = try await ChildCommand(line).finish()
      #expect(crashed.status == -SIGABRT, crashed.summary)
      let files = try FileManager.default.contentsOfDirectory(atPath: cores)
      let core = try #require(files.first.flatMap { FileManager.default.contents(atPath: "\(cores)/\($0)") })
      #expect(core.firstRange(of: Data("garden---winter".utf8)) != nil)
    }
  }
#endif
