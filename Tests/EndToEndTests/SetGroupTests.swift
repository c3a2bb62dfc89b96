#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  /// `signet` installed with its group: its memory is closed to its user from exec on, and the group identifies it.
  ///
  /// All sides run as an ordinary user, since root is denied nothing.
  @Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(
      if: (geteuid() == 0 && TinyDisk.isPossible) || ContinuousIntegration.isHere,
      "needs root, to mount and to give a program a group"))
  struct SetGroupTests {
    /// An app whose memory is open.
    private static let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path

    /// A group without members.
    private static let group: gid_t = 65_100

    /// A `signet` with a group, on a separate file system, and a copy without one.
    private final class Installed: Sendable {
      private nonisolated(unsafe) let disk: TinyDisk
      let program: String
      let copy: String

      init(ignoresSetID: Bool = false) throws {
        disk = try TinyDisk(kilobytes: 1 << 18, ignoresSetID: ignoresSetID)
        #expect(chmod(disk.folder.path, 0o755) == 0)
        (program, copy) = (disk.folder.file("signet"), disk.folder.file("copy"))
        for path in [program, copy] { try Nobody.copy(InstalledSignet.executable(), to: path) }
        try Self.giveGroup(to: program)
      }

      private static func giveGroup(to program: String) throws {
        try #require(chown(program, 0, SetGroupTests.group) == 0 && chmod(program, 0o2755) == 0)
      }

      /// Installs the system's `tee` with the same group.
      func tee() throws -> String {
        let path = disk.folder.file("tee")
        let system = URL(filePath: "/usr/bin/tee").resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: system, toPath: path)
        try Self.giveGroup(to: path)
        return path
      }

      /// The installed program or its copy, started by the user.
      func device(_ data: String = "/proc/none/data", _ launcher: [String] = [], copy isCopy: Bool = false)
        -> InstalledSignet
      {
        InstalledSignet(data: data, launcher: Nobody.launcher + launcher, program: isCopy ? copy : program)
      }
    }

    /// The same with a container of the user, and an agent's groups.
    private final class Bench: Sendable {
      let installed: Installed
      let apps: AgentBench
      let groups: String
      let socket: String

      init(ignoresSetID: Bool = false) async throws {
        installed = try Installed(ignoresSetID: ignoresSetID)
        apps = try await AgentBench(hasOwnPrograms: true)
        groups = apps.folder.file("grouped.json")
        let text =
          #"{"version":1,"groups":[{"name":"default","executables":["\#(installed.program)"]},{"name":"office","executables":["\#(installed.copy)","\#(SetGroupTests.python)"]}]}"#
        try Data(text.utf8).write(to: URL(filePath: groups))
        socket = apps.folder.file("grouped/agent.sock")
        try await SetGroupTests.give(apps.folder.path)
      }

      func device(_ launcher: [String] = [], copy isCopy: Bool = false) -> InstalledSignet {
        installed.device(apps.device.data, launcher, copy: isCopy)
      }

      func startAgent(_ launcher: [String] = []) async throws -> RunningAgent {
        try await RunningAgent(device(launcher).process(["agent", "--socket", socket, "--groups", groups]))
      }

      func run(_ device: InstalledSignet, _ words: String..., passwords: [String] = []) async throws
        -> ServerCommand.Result
      {
        try await device.run(
          words + ["--socket", socket, "--agent", installed.program], passwords: passwords)
      }
    }

    /// Gives a folder and its contents to the user of both sides.
    private static func give(_ path: String) async throws {
      let given = ChildCommand(["/bin/chown", "-R", "\(Nobody.id):\(Nobody.id)", path])
      #expect(try await given.finish().status == 0)
    }

    /// The doctor's line about the program's start.
    private static func start(_ device: InstalledSignet) async throws -> String {
      let result = try await device.run("doctor")
      let lines = result.output.split(separator: "\n").map(String.init)
      return lines.first { $0.contains(" start: ") } ?? "\(result.summary)"
    }

    /// Opens the memory of a process as its user, for reading and writing; returns `open`, or the error number.
    private static func openMemory(_ id: Int32) async throws -> String {
      let script = """
        import sys
        try:
            with open(f"/proc/{sys.argv[1]}/mem", "r+b", buffering=0):
                print("open")
        except OSError as error:
            print(error.errno)
        """
      let result = try await ChildCommand(Nobody.launcher + ["/usr/bin/python3", "-c", script, "\(id)"])
        .finish()
      return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Indicates whether the system lets a process open the memory of any process of its user; otherwise there is no control.
    private static let isOpenSystem: Bool = {
      let scope = FileManager.default.contents(atPath: "/proc/sys/kernel/yama/ptrace_scope") ?? Data("0".utf8)
      return scope.first == UInt8(ascii: "0")
    }()

    @Test(
      "memory is closed right after exec for each command; that of a copy is open"
    )
    func atExec() async throws {
      let installed = try Installed()
      let commands = [["list"], ["otp"], ["approve", "1"], ["password", "verify"], ["agent"]]
      for (words, isCopy) in commands.flatMap({ [($0, false), ($0, true)] }) {
        var device = installed.device(copy: isCopy)
        // The loader's first call, before it has mapped a library.
        let trap = try HoldTrap(["brk"], of: try #require(device.program))
        device.launcher = trap.launcher + device.launcher
        let process = try device.process(words).start()
        let call = try #require(try await trap.call(after: nil, of: process))
        #expect(call.number == 1)
        let found = try await Self.openMemory(process.id)
        if !isCopy {
          #expect(["\(EPERM)", "\(EACCES)"].contains(found), "\(words): \(found)")
        } else if Self.isOpenSystem {
          #expect(found == "open")
        }
        try trap.letGoAll()
        let result = try await process.result()
        // Without a container, all commands but the list fail.
        #expect(words == ["list"] ? result.status == 0 : result.status > 0, result.summary)
      }
    }

    @Test(
      "agent and commands identify each other by group, and apps by file; a merely protected process is refused by both"
    )
    func agent() async throws {
      let bench = try await Bench()
      let agent = try await bench.startAgent()
      let own = bench.device()
      #expect(try await bench.run(own, "status").status == 1)
      let unlocked = try await bench.run(own, "unlock", passwords: [AgentBench.password])
      #expect(unlocked.status == 0, unlocked.summary)
      #expect(try await bench.run(own, "status").status == 0)
      // Its path is in the group of apps as well.
      let sealed = try await bench.run(
        own, "data", "encrypt", "--shared", "--label", "notes", bench.apps.folder.file("text"),
        bench.apps.folder.file("sealed"))
      #expect(sealed.status == 0, sealed.summary)
      let other = try await bench.run(
        own, "data", "encrypt", "--shared", "--group", "office", "--label", "notes",
        bench.apps.folder.file("text"), bench.apps.folder.file("sealed"))
      #expect(other.isRefusal(77, "may not use the shared session"), other.summary)

      // A copy lacks the group, and its memory is closed, so it is rejected whether it is listed or not.
      let copy = bench.device(copy: true)
      for words in [["status"], ["lock"], ["status", "--group", "office"]] {
        let refused = try await copy.run(
          words + ["--socket", bench.socket, "--agent", bench.installed.program])
        #expect(refused.isRefusal(77, "may not use the shared session"), refused.summary)
      }
      // The control: a listed app whose memory is open.
      let listed = try await Self.greeting(bench.socket)
      #expect(listed.outputBytes == Array("SGNA".utf8) + [2, 0], listed.summary)
      #expect(try await bench.run(own, "lock").output == "Locked.\n")
      await agent.kill(SIGTERM)

      // The installed program sends nothing to an impostor that serves the socket and has closed its memory.
      let impostor = try await Self.impostor(bench.socket)
      let refused = try await bench.run(own, "unlock", passwords: [AgentBench.password])
      #expect(refused.status == 77, refused.summary)
      impostor.send(SIGTERM)
      #expect(try await impostor.result().output == "ready\n")

      // Nor to an agent started where the group has no effect, although its file has one.
      let sandbox = ["/usr/bin/setpriv", "--no-new-privs", "--"]
      let weak = try await bench.startAgent(sandbox)
      for launcher in [[], sandbox] {
        let refused = try await bench.run(bench.device(launcher), "status")
        #expect(refused.status == 77, refused.summary)
      }
      await weak.kill(SIGTERM)
    }

    /// The greeting of an agent to an app.
    private static func greeting(_ socket: String) async throws -> ServerCommand.Result {
      let script = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1])
        sys.stdout.buffer.write(s.recv(22)[:6])
        """
      return try await ChildCommand(Nobody.launcher + [python, "-c", script, socket]).finish()
    }

    /// A program that closes its memory and greets its clients like an agent; it prints its input.
    private static func impostor(_ socket: String) async throws -> ChildProcess {
      let script = """
        import ctypes, os, socket, sys
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
        os.path.exists(sys.argv[1]) and os.unlink(sys.argv[1])
        s = socket.socket(socket.AF_UNIX)
        s.bind(sys.argv[1])
        os.chmod(sys.argv[1], 0o600)
        s.listen(8)
        open(sys.argv[1] + ".ready", "w").close()
        print("ready", flush=True)
        while True:
            connection, _ = s.accept()
            connection.sendall(b"SGNA\\x02\\x00" + bytes(16))
            connection.settimeout(60)
            told = connection.recv(64)
            if told: print(told, flush=True)
        """
      return try await serve(script, socket)
    }

    /// A program that stops the client, has a child greet it and become another program with the group, and then resumes the
    /// client.
    ///
    /// It prints the data that reaches it.
    ///
    /// - Parameters:
    ///   - socket: The path on which it listens.
    ///   - isRelay: Whether the connection is the child's standard input and output. Otherwise the program repeats the challenge
    ///     in the child's name or, if the kernel denies that, in its own.
    ///   - line: The command line that the child becomes.
    /// - Returns: The program, which listens.
    /// - Throws: Errors of starting it.
    private static func becoming(_ socket: String, isRelay: Bool, _ line: [String]) async throws
      -> ChildProcess
    {
      let script = """
        import os, signal, socket, struct, sys, time
        path, how, line = sys.argv[1], sys.argv[2], sys.argv[3:]
        s = socket.socket(socket.AF_UNIX)
        s.bind(path)
        os.chmod(path, 0o600)
        s.listen(8)
        open(path + ".ready", "w").close()
        connection, _ = s.accept()
        client = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        os.kill(client, signal.SIGSTOP)
        # It may run for a while yet; what it sees of the child before it stops is another program.
        while True:
            with open(f"/proc/{client}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "T": break
            time.sleep(0.001)
        child = os.fork()
        if child == 0:
            connection.sendall(b"SGNA\\x02\\x00" + bytes(16))
            end = connection.fileno() if how == "relay" else os.open("/dev/null", os.O_RDWR)
            os.dup2(end, 0)
            os.dup2(end, 1)
            os.execv(line[0], line)
        while True:
            with open(f"/proc/{child}/status") as status:
                groups = next(each.split() for each in status if each.startswith("Gid:"))
            if groups[2] != groups[1]: break
            assert os.waitpid(child, os.WNOHANG) == (0, 0)
            time.sleep(0.001)
        print("became", flush=True)
        os.kill(client, signal.SIGCONT)
        if how == "relay":
            os.waitpid(child, 0)
            sys.exit()
        connection.settimeout(60)
        told = connection.recv(4096)
        who = struct.pack("3i", child, os.getuid(), os.getgid())
        try:
            connection.sendmsg([told], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, who)])
        except PermissionError:
            print("no forgery", flush=True)
        # The client may have looked, and gone, by now.
        try:
            connection.sendall(told)
            while part := connection.recv(4096): told += part
        except ConnectionError: pass
        print(len(told), told, flush=True)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        """
      return try await serve(script, socket, [isRelay ? "relay" : "answer"] + line)
    }

    /// Starts a program of the user that serves a socket, and returns when it listens.
    private static func serve(_ script: String, _ socket: String, _ words: [String] = []) async throws
      -> ChildProcess
    {
      let process = try ChildCommand(Nobody.launcher + [python, "-c", script, socket] + words).start()
      while !FileManager.default.fileExists(atPath: socket + ".ready") {
        try #require(process.isRunning, "\(process.errorOutputSoFar)")
        try await Task.sleep(for: .milliseconds(5))
      }
      return process
    }

    @Test("a program that greets and then executes signet gets no password")
    func greetsAndBecomes() async throws {
      let bench = try await Bench()
      // An agent makes the socket's folder, and then serves at another path.
      await (try await bench.startAgent()).kill(SIGTERM)
      let own = bench.device()
      let elsewhere = try own.process(["agent", "--socket", bench.socket, "--groups", bench.groups]).line
      let program = try #require(elsewhere.firstIndex(of: bench.installed.program))
      let taken = "\(bench.socket).taken"
      let parent = try await Self.becoming(taken, isRelay: false, Array(elsewhere[program...]))
      let refused = try await own.run(
        ["unlock", "--socket", taken, "--agent", bench.installed.program], passwords: [AgentBench.password])
      #expect(refused.isRefusal(77, "is not signet agent"), refused.summary)
      let told = try await parent.result()
      // It was trusted up to the challenge, and got nothing after that.
      #expect(told.output.hasPrefix("became\nno forgery\n16 "), "\(told.output) \(told.errorOutput)")
      #expect(told.status == 0 && !told.output.contains(AgentBench.password))
    }

    @Test("a program with the group that copies the challenge to its output does not pass for the agent")
    func relays() async throws {
      let bench = try await Bench()
      await (try await bench.startAgent()).kill(SIGTERM)
      // It represents a signet with the connection as its standard input and output.
      let program = try bench.installed.tee()
      let (taken, copied) = ("\(bench.socket).taken", bench.apps.folder.file("copied"))
      let parent = try await Self.becoming(taken, isRelay: true, [program, copied])
      let refused = try await bench.device().run(
        ["unlock", "--socket", taken, "--agent", program], passwords: [AgentBench.password])
      #expect(refused.isRefusal(77, "is not signet agent"), refused.summary)
      let told = try await parent.result()
      #expect(told.status == 0 && told.output == "became\n", "\(told.output) \(told.errorOutput)")
      // Its output led to the rejection; tee writes the file afterwards.
      func count() -> Int { FileManager.default.contents(atPath: copied)?.count ?? 0 }
      while count() < 16 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(count() == 16)
    }

    @Test("new files have the user's group, not the program's")
    func files() async throws {
      let (installed, folder) = (try Installed(), try TemporaryFolder())
      let list = folder.file("accounts.txt")
      try Data("otpauth://totp/Example:alice?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n".utf8)
        .write(to: URL(filePath: list))
      try await Self.give(folder.path)
      let own = installed.device(folder.file("fresh"))
      let made = try await own.run("import", list)
      #expect(made.status == 0, made.summary)
      let files = try FileManager.default.subpathsOfDirectory(atPath: own.data)
      #expect(!files.isEmpty)
      for file in files {
        var status = stat()
        #expect(stat("\(own.data)/\(file)", &status) == 0 && status.st_gid == Nobody.id, "\(file)")
      }
    }

    @Test("the doctor reports whether the set-group-id protection is active, and why not")
    func doctor() async throws {
      let installed = try Installed()
      let report = try await installed.device().run("doctor")
      #expect(report.output.contains("ok      start: its group protects this program"), report.summary)
      #expect(report.output.contains("ok      integrity: no signs of tampering"), report.summary)
      let copy = try await Self.start(installed.device(copy: true))
      #expect(copy.contains("note    start: this copy has no group of its own"))
      let sandboxed = installed.device("/proc/none/data", ["/usr/bin/setpriv", "--no-new-privs", "--"])
      #expect(try await Self.start(sandboxed).contains("note    start: it was started under NoNewPrivileges"))
      // Root in a user namespace in which the group has no number.
      var contained = installed.device()
      contained.launcher = ["/usr/bin/unshare", "--user", "--map-root-user", "--"]
      #expect(
        try await Self.start(contained).contains("note    start: this container has no number for its group"))
      // A system that leaves programs with a group open, simulated for this program.
      let folder = try TemporaryFolder()
      let value = folder.file("value")
      try Data("1\n".utf8).write(to: URL(filePath: value))
      #expect(chmod(value, 0o644) == 0)
      let script = "mount --bind \"$0\" /proc/sys/fs/suid_dumpable && exec \"$@\""
      var opened = installed.device()
      opened.launcher =
        [
          "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, value,
        ] + opened.launcher
      #expect(
        try await Self.start(opened).contains(
          "note    start: the system leaves the memory of set-group-ID programs"))
    }

    @Test(
      "without set-group-id, memory is closed from the program's first instruction on, and the agent works"
    )
    func without() async throws {
      let bench = try await Bench(ignoresSetID: true)
      #expect(
        try await Self.start(bench.device()).contains("note    start: its file system is mounted nosuid"))
      let agent = try await bench.startAgent()
      let own = bench.device()
      let unlocked = try await bench.run(own, "unlock", passwords: [AgentBench.password])
      #expect(unlocked.status == 0, unlocked.summary)
      #expect(try await bench.run(own, "status").status == 0)
      // Other programs that close their memory look the same, so it gets no keys.
      let keys = try await bench.run(
        own, "data", "encrypt", "--shared", "--label", "notes", bench.apps.folder.file("text"),
        bench.apps.folder.file("sealed"))
      #expect(keys.isRefusal(77, "may not use the shared session"), keys.summary)
      try await Self.expectWork(own)
      #expect(try await bench.run(own, "lock").output == "Locked.\n")
      let trap = try HoldTrap(["write", "exit_group"], of: bench.installed.program)
      var held = own
      held.launcher = trap.launcher + held.launcher
      let process = try held.process(["list"]).start()
      _ = try #require(try await trap.call(after: nil, of: process))
      #expect(["\(EPERM)", "\(EACCES)"].contains(try await Self.openMemory(process.id)))
      try trap.letGoAll()
      #expect(try await process.result().status == 0)
      await agent.kill(SIGTERM)
    }

    /// Expects that commands without an agent work as usual, including wrong passwords.
    private static func expectWork(_ device: InstalledSignet, at location: SourceLocation = #_sourceLocation)
      async throws
    {
      let code = try await device.run("otp", passwords: [AgentBench.password])
      #expect(
        code.status == 0 && code.output.trimmingCharacters(in: .newlines).allSatisfy(\.isNumber)
          && code.output.count == 7, code.summary, sourceLocation: location)
      let wrong = try await device.run("otp", passwords: ["summer-garden-42"])
      #expect(wrong.isRefusal(77, "the password is wrong"), wrong.summary, sourceLocation: location)
      #expect(
        try await device.run("otp", passwords: [AgentBench.password]).status == 0, sourceLocation: location)
      let listed = try await device.run("list")
      #expect(listed.status == 0 && !listed.output.isEmpty, listed.summary, sourceLocation: location)
    }

    @Test("with NoNewPrivileges commands work, except those that need an agent")
    func noNewPrivileges() async throws {
      let bench = try await Bench()
      let sandboxed = bench.device(["/usr/bin/setpriv", "--no-new-privs", "--"])
      #expect(try await Self.start(sandboxed).contains("note    start: it was started under NoNewPrivileges"))
      try await Self.expectWork(sandboxed)
      let agent = try await bench.startAgent()
      let refused = try await bench.run(sandboxed, "unlock", passwords: [AgentBench.password])
      #expect(refused.status == 77, refused.summary)
      // The control: where the group has an effect, the same agent serves.
      #expect(try await bench.run(bench.device(), "unlock", passwords: [AgentBench.password]).status == 0)
      await agent.kill(SIGTERM)
    }

    @Test("in a user namespace without the group, commands work and agents are not trusted")
    func namespace() async throws {
      let bench = try await Bench()
      // This process keeps the namespace, which the user makes and in which the user is root.
      let anchor = try ChildCommand(
        Nobody.launcher + [
          "/usr/bin/unshare", "--user", "--map-root-user", "--", "/bin/sh", "-c",
          "echo ready; exec sleep 600",
        ], output: .pipe
      ).start()
      defer { anchor.send(SIGTERM) }
      #expect(await anchor.output.firstLine() == "ready")
      let inside = ["/usr/bin/nsenter", "--target", "\(anchor.id)", "--user", "--preserve-credentials", "--"]
      let own = bench.device(inside)
      #expect(try await Self.start(own).contains("note    start: this container has no number for its group"))
      try await Self.expectWork(own)
      let agent = try await bench.startAgent(inside)
      let unlocked = try await bench.run(own, "unlock", passwords: [AgentBench.password])
      #expect(unlocked.isRefusal(77, "is not signet agent"), unlocked.summary)
      await agent.kill(SIGTERM)
    }

    @Test(
      "the system's own PAM module checks the passcode of its user", .enabled(if: hasPAM, "needs pam_unix"))
    func passcode() async throws {
      let services = try TemporaryFolder()
      let shadow = services.file("shadow")
      // The user has a password in a copy of the system's file, which only the module's helper may read. It is not `nobody`,
      // which systemd supplies to the module without a password.
      let script = """
        set -e
        hash=$(openssl passwd -6 'right passcode')
        cp --preserve=mode,ownership /etc/shadow "$1"
        sed -i "s|^daemon:[^:]*:|daemon:$hash:|" "$1"
        grep -q "^daemon:.6." "$1"
        """
      let prepared = try await ChildCommand(["/bin/sh", "-c", script, "sh", shadow]).finish()
      try #require(prepared.status == 0, prepared.summary)
      #expect(chmod(services.path, 0o755) == 0)
      try Data("auth required pam_unix.so\naccount required pam_permit.so\n".utf8)
        .write(to: URL(filePath: services.file("signet")))

      let installed = try Installed()
      let server = try await RunningServer.startWithShop([
        "--policy",
        "TYPE=devicelockorpassword;UP=0;LOW=0;NUM=1;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=20;LOCKTYPE=lock;LOCKCOUNTER=3",
      ])
      var device = server.device("shared")
      _ = try await device.json(
        "activate", "--code-file", server.codeFile("alice"), passwords: [AgentBench.password])
      #expect(chmod(server.folder.path, 0o755) == 0)
      let given = try await ChildCommand(["/bin/chown", "-R", "\(Self.daemon):\(Self.daemon)", device.data])
        .finish()
      #expect(given.status == 0)
      device.authority = nil
      let mount = """
        mount --bind "$1" /etc/pam.d && mount --bind "$1/shadow" /etc/shadow && shift && exec "$@"
        """
      device.launcher =
        [
          "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", mount, "sh",
          services.path,
        ]
        + ["/usr/bin/setpriv", "--reuid=\(Self.daemon)", "--regid=\(Self.daemon)", "--clear-groups", "--"]
      device.program = installed.program
      let enabled = try await device.run("passcode", "enable", passwords: [AgentBench.password])
      #expect(enabled.status == 0, enabled.summary)
      let terminal = try ControllingTerminal(device, ["otp"])
      try terminal.answer("Password: ", "right passcode")
      let code = try await terminal.end()
      #expect(code.status == 0, "\(code.shown)")
      await server.stop()
    }

    /// The user `daemon` of Debian, and its group.
    private static let daemon = 1

    private static let hasPAM =
      FileManager.default.isExecutableFile(atPath: "/usr/sbin/unix_chkpwd") || ContinuousIntegration.isHere
  }
#endif
