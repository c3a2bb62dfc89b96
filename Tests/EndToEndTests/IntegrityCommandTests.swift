#if os(Linux)
  import Foundation
  import SignetJSON
  import SignetTestKit
  import Testing

  /// The reactions of `signet` and `signet-server` to tampering.
  ///
  /// `signet` is a copy that is not installed, so that the loader obeys the environment.
  @Suite(.serialized, .timeLimit(.minutes(10))) struct IntegrityCommandTests {
    private let folder: TemporaryFolder
    private let device: InstalledSignet

    init() throws {
      folder = try TemporaryFolder()
      device = try InstalledSignet(data: folder.file("none")).uninstalled(in: folder)
    }

    static func hasTool(_ name: String) -> Bool {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)") || ContinuousIntegration.isHere
    }

    private func run(_ words: String..., adding environment: [String: String]) async throws
      -> ServerCommand.Result
    {
      var process = try device.process(words)
      process.environment.merge(environment) { $1 }
      return try await process.finish()
    }

    /// A random generator that returns constant bytes, in C.
    static let repeatingGenerator =
      "int RAND_bytes(unsigned char *to, int n) { while (n) to[--n] = 7; return 1; }\n"

    /// A library that replaces the random generator.
    static func hook(in folder: TemporaryFolder) async throws -> String {
      let (source, library) = (folder.file("hook.c"), folder.file("hook.so"))
      try Data(repeatingGenerator.utf8).write(to: URL(filePath: source))
      let result = try await ChildCommand(["/usr/bin/cc", "-shared", "-fPIC", "-o", library, source]).finish()
      try #require(result.status == 0, result.summary)
      return library
    }

    @Test(
      "every hooked command is refused with the reason, except the doctor and a lock",
      .enabled(if: hasTool("cc"), "needs a C compiler"))
    func refuses() async throws {
      let library = try await Self.hook(in: folder)
      let hooked = ["LD_PRELOAD": library, "SIGNET_INTEGRITY": "refuse"]
      let otp = try await run("otp", adding: hooked)
      #expect(otp.isRefusal(77, "signet otp: this program is being tampered with: "), otp.summary)
      #expect(otp.errorOutput.contains("hook.so"), otp.summary)
      // The command fails for its usual reason.
      #expect(try await run("lock", "--socket", folder.file("socket"), adding: hooked).status == 69)
      let doctor = try await run("doctor", adding: hooked)
      #expect(
        doctor.status == 1 && doctor.output.contains("PROBLEM integrity: RAND_bytes, called by "),
        doctor.summary)
      let end = try await run("otp", adding: ["LD_PRELOAD": library, "SIGNET_INTEGRITY": "terminate"])
      #expect(end.status == 77 && end.errorOutput.hasPrefix("This program terminates: "), end.summary)
      // Without a variable a release refuses, while a debug build does not hinder developers.
      let plain = try await run("otp", adding: ["LD_PRELOAD": library])
      switch InstalledSignet.flavour {
      case "release":
        for command in [["otp"], ["list"], ["deny"], ["message", "deny", "x"]] {
          var process = try device.process(command)
          process.environment["LD_PRELOAD"] = library
          let refused = try await process.finish()
          let words = command.prefix { $0 != "x" }.joined(separator: " ")
          #expect(
            refused.isRefusal(77, "signet \(words): this program is being tampered with: "), refused.summary)
        }
        // A variable cannot weaken this reaction.
        let mild = try await run("otp", adding: ["LD_PRELOAD": library, "SIGNET_INTEGRITY": "report"])
        #expect(mild.isRefusal(77, "this program is being tampered with"), mild.summary)
      default: #expect(plain.status == 78, plain.summary)
      }
      // The control: without the hook, the same settings let the command pass.
      #expect(try await run("otp", adding: ["SIGNET_INTEGRITY": "refuse"]).status == 78)
    }

    @Test(
      "no command loads files named by OpenSSL's environment variables",
      .enabled(if: hasTool("cc"), "needs a C compiler"))
    func cryptoEnvironment() async throws {
      // The provider creates a file when it is loaded.
      let (source, library) = (folder.file("provider.c"), folder.file("evil.so"))
      let (mark, settings) = (folder.file("loaded"), folder.file("evil.cnf"))
      try Data(
        """
        #include <fcntl.h>
        __attribute__((constructor)) static void loaded(void) { open("\(mark)", O_CREAT | O_WRONLY, 0600); }
        int OSSL_provider_init(const void *a, const void *b, const void **c, void **d) { return 0; }

        """.utf8
      ).write(to: URL(filePath: source))
      try Data(
        """
        openssl_conf = all
        [all]
        providers = provider_section
        [provider_section]
        default = default_section
        evil = evil_section
        [default_section]
        activate = 1
        [evil_section]
        module = \(library)
        activate = 1

        """.utf8
      ).write(to: URL(filePath: settings))
      let made = try await ChildCommand(["/usr/bin/cc", "-shared", "-fPIC", "-o", library, source]).finish()
      try #require(made.status == 0, made.summary)
      let misled = [
        "OPENSSL_CONF": settings, "OPENSSL_MODULES": folder.path, "OPENSSL_ENGINES": folder.path,
        "SSLKEYLOGFILE": folder.file("keys"),
      ]
      let accounts = InstalledSignet(data: folder.file("accounts"))
      let file = folder.file("accounts.txt")
      try Data("otpauth://totp/Example:alice?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n".utf8)
        .write(to: URL(filePath: file))
      for (number, device) in [accounts, try accounts.uninstalled(in: folder)].enumerated() {
        var device = device
        device = InstalledSignet(data: "\(device.data)\(number)", program: device.program)
        for words in [["import", file], ["otp", "Example:alice"], ["list"], ["doctor"]] {
          var process = try device.process(words)
          process.environment.merge(misled) { $1 }
          let result = try await process.finish()
          #expect(result.status == 0, result.summary)
          #expect(!FileManager.default.fileExists(atPath: mark), "\(words)")
        }
      }
      let server = try ServerCommand.process(
        ["init", "--data", folder.file("server"), "--url", "127.0.0.1:1/main"], misled)
      #expect(try await server.finish().status == 0)
      #expect(!FileManager.default.fileExists(atPath: mark))
      let key = ChildCommand(
        [try Programs.released("signet-manifest"), "key", folder.file("release.key")], environment: misled)
      #expect(try await key.finish().status == 0)
      #expect(!FileManager.default.fileExists(atPath: mark))
      // The control: another program loads it.
      let other = ChildCommand(["/usr/bin/openssl", "list", "-providers"], environment: misled)
      _ = try await other.finish()
      #expect(FileManager.default.fileExists(atPath: mark))
    }

    @Test(
      "neither commands nor servers write TLS keys to SSLKEYLOGFILE",
      .enabled(if: hasTool("curl"), "needs curl"))
    func keyLog() async throws {
      let file = folder.file("tls-keys")
      let server = try await RunningServer.start(["--protection", "device"])
        .restarted(launcher: ["/usr/bin/env", "SSLKEYLOGFILE=\(file)"])
      for (user, device) in [
        ("alice", server.device("alice")), ("bob", try server.device("bob").uninstalled(in: folder)),
      ] {
        for words in [["activate", "--code-file", try await server.codeFile(user)], ["pending"]] {
          var process = try device.process(words)
          process.environment["SSLKEYLOGFILE"] = file
          let result = try await process.finish()
          #expect(result.status == 0, result.summary)
        }
      }
      #expect(!FileManager.default.fileExists(atPath: file))
      // The control: another program writes them.
      let other = ChildCommand(
        ["/usr/bin/curl", "-sS", "--cacert", server.authority, "https://\(server.url)/v1/live"],
        environment: ["SSLKEYLOGFILE": file])
      #expect(try await other.finish().status == 0)
      #expect(FileManager.default.fileExists(atPath: file))
      await server.stop()
    }

    @Test(
      "a server removes library variables that write files, load keys or name services, before use",
      .enabled(if: geteuid() == 0, "needs the right to read what a closed process was started with"))
    func droppedVariables() async throws {
      let dropped = [
        "TSS2_LOG=all+TRACE", "TSS2_LOGFILE=/tmp/x", "PGSSLKEY=a:b", "PGSERVICE=none", "RANDFILE=x",
      ]
      let server = try await RunningServer.start()
        .restarted(launcher: ["/usr/bin/env", "SIGNET_KEPT=yes"] + dropped)
      let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(server.processID)/environ"))
      let shown = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      #expect(shown.contains("SIGNET_KEPT=yes"))
      for entry in dropped { #expect(!shown.contains(entry), "\(entry)") }
      await server.stop()
    }

    @Test(
      "no library, even a preloaded one, reads variables that a command removes",
      .enabled(if: hasTool("cc"), "needs a C compiler"))
    func droppedBeforeLibraries() async throws {
      let (source, library) = (folder.file("reader.c"), folder.file("reader.so"))
      let (begun, found) = (folder.file("begun"), folder.file("found"))
      let names = [
        "OPENSSL_CONF", "SSLKEYLOGFILE", "GNUTLS_SYSTEM_PRIORITY_FILE", "TSS2_LOGFILE", "PGSSLKEY",
      ]
      let reads = names.map { "getenv(\"\($0)\")" }.joined(separator: " || ")
      try Data(
        """
        #include <fcntl.h>
        #include <stdlib.h>
        static int mark(const char *path) { return open(path, O_CREAT | O_WRONLY, 0600); }
        __attribute__((constructor)) static void begin(void) {
          mark("\(begun)");
          if (\(reads)) mark("\(found)");
        }

        """.utf8
      ).write(to: URL(filePath: source))
      let made = try await ChildCommand(["/usr/bin/cc", "-shared", "-fPIC", "-o", library, source]).finish()
      try #require(made.status == 0, made.summary)
      var environment = ["LD_PRELOAD": library]
      for name in names { environment[name] = folder.file("none") }
      // The library is found and the command refuses; the test is about the files that were read before.
      _ = try await run("list", adding: environment)
      #expect(FileManager.default.fileExists(atPath: begun))
      #expect(!FileManager.default.fileExists(atPath: found))
      // The control: another program reads them.
      let other = ChildCommand(["/usr/bin/true"], environment: environment)
      #expect(try await other.finish().status == 0)
      #expect(FileManager.default.fileExists(atPath: found))
    }

    /// Indicates whether the programs were built with a release key.
    private static let areReleased =
      InstalledSignet.flavour == "release" && ProcessInfo.processInfo.environment["SIGNET_PROGRAMS"] != nil

    @Test(
      "a program with a release's key refuses without its manifest, and one without a key calls itself a development build"
    )
    func manifest() async throws {
      try #require(Self.areReleased || !ContinuousIntegration.isHere)
      if Self.areReleased {
        let path = try #require(device.program)
        #expect(try await run("otp", adding: [:]).status == 78)
        try FileManager.default.removeItem(atPath: "\(path).manifest")
        // The legacy memory layout, with mappings below the program, is tried too.
        let unlimited = ["/bin/sh", "-c", "ulimit -s unlimited && exec \"$0\" \"$@\""]
        for (launcher, words) in [([], "otp"), ([], "list"), ([], "deny"), (unlimited, "list")] {
          var launched = device
          launched.launcher = launcher + device.launcher
          let refused = try await launched.run(words)
          #expect(
            refused.isRefusal(77, "the manifest of this release is missing"), refused.summary)
        }
      }
      var built = device
      built.program = try Programs.built("signet")
      let doctor = try await built.run("doctor")
      if doctor.output.contains("a debug build") { return }
      #expect(doctor.output.contains("note    program: a development build"), doctor.summary)
    }

    /// The file offset of a byte in a program's code that never runs: behind a return, between two functions.
    private static func unusedPlace(in program: [UInt8]) throws -> Int {
      func number(_ place: Int, _ byteCount: Int) -> Int {
        program[place..<place + byteCount].reversed().reduce(0) { $0 << 8 | Int($1) }
      }
      // The 64-bit ELF segments: the table and, for each segment, its flags, offset and length in the file.
      let headers = (0..<number(56, 2)).map { number(32, 8) + $0 * number(54, 2) }
      let code = try #require(headers.first { number($0, 4) == 1 && number($0 + 4, 4) & 1 != 0 })
      let (start, byteCount) = (number(code + 8, 8), number(code + 32, 8))
      let returns: [[UInt8]] = [
        [0xC3, 0x66, 0x2E, 0x0F, 0x1F, 0x84, 0x00], [0xC0, 0x03, 0x5F, 0xD6, 0x1F, 0x20, 0x03, 0xD5],
      ]
      let half = program[start + byteCount / 2..<start + byteCount]
      return try #require(returns.lazy.compactMap { half.firstRange(of: $0) }.first).upperBound - 1
    }

    @Test(
      "a copy of which one byte of the code was changed is refused, with its manifest and without it",
      .enabled(if: areReleased || ContinuousIntegration.isHere, "needs programs with a release's key"))
    func patchedCopy() async throws {
      var own = InstalledSignet(data: folder.file("none"))
      let path = folder.file("own/signet")
      try FileManager.default.createDirectory(
        atPath: folder.file("own"), withIntermediateDirectories: false)
      // A separate file: the copies of other tests are links to one file.
      try Nobody.copy(InstalledSignet.executable(), to: path)
      own.program = path
      // The control: the unchanged program is not rejected and has no container to make a code with.
      let whole = try await own.run("otp")
      #expect(whole.status == 78, whole.summary)
      var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
      bytes[try Self.unusedPlace(in: bytes)] ^= 0xFF
      try Data(bytes).write(to: URL(filePath: path))
      #expect(chmod(path, 0o755) == 0)
      func expectRefused(_ message: String) async throws {
        for words in ["otp", "list", "deny"] {
          let refused = try await own.run(words)
          #expect(refused.isRefusal(77, message), "\(words): \(refused.summary)")
        }
      }
      try await expectRefused("the file of this program is not the one of release")
      try FileManager.default.removeItem(atPath: "\(path).manifest")
      try await expectRefused("the manifest of this release is missing")
    }

    @Test(
      "changed code in memory is detected at any address",
      .enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "nobody else than root may write to it"),
      .disabled(if: Programs.areDebug, "a debug build does not compare its code"))
    func changedCode() async throws {
      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      #expect(try await bench.unlock().status == 0)
      for quarter in 1...3 {
        let changed = try await Self.flip(agent.id, "quarter", quarter)
        try #require(changed.status == 0, "quarter \(quarter): \(changed.summary)")
        let place = try #require(Int(changed.output.filter(\.isNumber)))
        let refused = try await bench.unlock()
        #expect(
          refused.isRefusal(77, "the code of this program in memory differs from its file"),
          "quarter \(quarter): \(refused.summary)")
        #expect(try await Self.flip(agent.id, "place", place).status == 0)
        // Each change is found by itself: once this one is reverted, the agent works.
        #expect(try await bench.unlock().status == 0, "quarter \(quarter)")
      }
      await agent.kill(SIGTERM)
    }

    @Test(
      "an altered or invalid header in memory does not prevent the comparison of code",
      .enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "nobody else than root may write to it"),
      .disabled(if: Programs.areDebug, "a debug build does not compare its code"),
      arguments: ["header", "magic"])
    func changedHeader(_ kind: String) async throws {
      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      #expect(try await Self.flip(agent.id, kind, 2).status == 0)
      let refused = try await bench.unlock()
      #expect(
        refused.isRefusal(77, "the code of this program in memory differs from its file"), refused.summary)
      await agent.kill(SIGTERM)
    }

    /// Inverts a byte of a program's code in memory, at an offset or in a quarter of it after the first; prints the offset.
    ///
    /// The byte is in padding between two functions, so nothing that runs changes. With `header`, the program header makes a
    /// read-only segment writable instead (`p_flags`, 2); with `magic`, its first byte is changed.
    private static func flip(_ id: Int32, _ kind: String, _ number: Int) async throws -> ServerCommand.Result
    {
      let script = """
        import os, sys
        pid, kind, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
        program = os.readlink(f"/proc/{pid}/exe")
        parts = []
        for line in open(f"/proc/{pid}/maps"):
            words = line.split()
            if words[-1] == program:
                parts.append(words[0])
                if words[1] == "r-xp":
                    start, end = (int(word, 16) for word in words[0].split("-"))
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            if kind == "magic":
                memory.seek(int(parts[0].split("-")[0], 16))
                memory.write(b"\\0")
                sys.exit()
            if kind == "header":
                start = int(parts[0].split("-")[0], 16)
                memory.seek(start)
                head = memory.read(4096)
                count = int.from_bytes(head[56:58], "little")
                loaded = [at for at in range(64, 64 + count * 56, 56) if head[at] == 1 and head[at + 4] & 2 == 0]
                assert loaded
                for at in loaded:
                    memory.seek(start + at + 4)
                    memory.write(bytes([head[at + 4] | number]))
                sys.exit()
            memory.seek(start)
            code = memory.read(end - start)
            place = number
            if kind == "quarter":
                patterns = ["c3662e0f1f8400", "c0035fd61f2003d5"]
                found = max(code.find(bytes.fromhex(pattern), len(code) * number // 4) for pattern in patterns)
                assert found > 0
                place = found + 7
            memory.seek(start + place)
            memory.write(bytes([code[place] ^ 0xff]))
        print(place)
        """
      return try await ChildCommand(
        ["/usr/bin/python3", "-c", script, "\(id)", kind, "\(number)"]
      ).finish()
    }

    @Test("a traced command cannot use its keys", .enabled(if: hasTool("strace"), "needs strace"))
    func traced() async throws {
      var traced = device
      traced.launcher = ["/usr/bin/strace", "-f", "-o", "/dev/null"]
      var process = try traced.process(["otp"])
      process.environment["SIGNET_INTEGRITY"] = "refuse"
      let result = try await process.finish()
      #expect(result.isRefusal(77, "(strace) traces thread"), result.summary)
    }

    @Test(
      "with the reaction lock or terminate, a hooked command locks the agent's sessions",
      .enabled(if: hasTool("cc"), "needs a C compiler"))
    func locks() async throws {
      let library = try await Self.hook(in: folder)
      let bench = try await AgentBench()
      let device = try bench.device.uninstalled(in: folder)
      let run = bench.folder.file("run")
      try FileManager.default.createDirectory(
        atPath: run, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      let socket = "\(run)/signet/agent.sock"
      let agent = try await RunningAgent(
        device.process(["agent", "--socket", socket, "--groups", bench.folder.file("agent.json")]))
      let session = ["--group", "office", "--socket", socket, "--agent", try #require(device.program)]
      for (reaction, message) in [
        ("lock", "this program is being tampered with"), ("terminate", "This program terminates"),
      ] {
        let unlocked = try await device.run(["unlock"] + session, passwords: [AgentBench.password])
        #expect(unlocked.status == 0, unlocked.summary)
        #expect(try await device.run(["status"] + session).status == 0)
        var process = try device.process(["otp"])
        process.environment.merge([
          "LD_PRELOAD": library, "SIGNET_INTEGRITY": reaction, "XDG_RUNTIME_DIR": run,
        ]) { $1 }
        let refused = try await process.finish()
        #expect(refused.isRefusal(77, message), refused.summary)
        let locked = try await device.run(["status"] + session)
        #expect(locked.status == 1 && locked.output.hasPrefix("office: "), locked.summary)
      }
      await agent.kill()
    }

    /// Creates a settings folder with an integrity file.
    private func settings(_ text: String) throws -> String {
      let home = folder.file("config")
      try FileManager.default.createDirectory(
        atPath: "\(home)/signet", withIntermediateDirectories: true)
      let file = "\(home)/signet/integrity.json"
      try Data(text.utf8).write(to: URL(filePath: file))
      #expect(chmod(file, 0o600) == 0)
      return home
    }

    @Test("the settings file can only tighten weights, score, threshold and reaction")
    func settingsFile() async throws {
      let unsafe = ["HOSTALIASES": "/nowhere", "GCONV_PATH": "/nowhere"]
      // 0.3 and 0.5: the maximum is below the threshold, the sum reaches it.
      let home = try settings(#"{"scoring":"maximum","reaction":"refuse"}"#)
      #expect(try await run("otp", adding: unsafe.merging(["XDG_CONFIG_HOME": home]) { $1 }).status == 78)
      _ = try settings(#"{"scoring":"weighted-sum","reaction":"refuse"}"#)
      let sum = try await run("otp", adding: unsafe.merging(["XDG_CONFIG_HOME": home]) { $1 })
      #expect(sum.isRefusal(77, "HOSTALIASES is set"), sum.summary)
      #expect(sum.errorOutput.contains("GCONV_PATH loads code"), sum.summary)
      #expect(try await run("otp", adding: ["XDG_CONFIG_HOME": home]).status == 78)
      _ = try settings(#"{"reaction":"refuse","weights":{"environment.unsafe":0.9}}"#)
      let weighty = try await run("otp", adding: ["HOSTALIASES": "/nowhere", "XDG_CONFIG_HOME": home])
      #expect(weighty.isRefusal(77, "HOSTALIASES is set"), weighty.summary)
      _ = try settings(#"{"reaction":"refuse","threshold":0.3}"#)
      let low = try await run("otp", adding: ["HOSTALIASES": "/nowhere", "XDG_CONFIG_HOME": home])
      #expect(low.isRefusal(77, "HOSTALIASES is set"), low.summary)
      let doctor = try await run("doctor", "--json", adding: ["XDG_CONFIG_HOME": home])
      let integrity = try JSONObject(parsing: Array(doctor.output.utf8)).object("integrity")
      #expect(try integrity.number("threshold") == 0.3 && integrity.string("reaction") == "refuse")
      // The file cannot weaken the reaction of the variable or of the program itself.
      _ = try settings(#"{"reaction":"report","threshold":1,"weights":{"hook":0,"environment":0.1}}"#)
      let mild = try await run(
        "doctor", "--json",
        adding: ["XDG_CONFIG_HOME": home, "SIGNET_INTEGRITY": "refuse", "GCONV_PATH": "/x"])
      let hard = try JSONObject(parsing: Array(mild.output.utf8)).object("integrity")
      #expect(try hard.number("threshold") == 0.8 && hard.string("reaction") == "refuse")
      #expect(try hard.number("score") == 0.5)
    }

    @Test("an invalid settings file, or one that others can write, is refused by name")
    func badSettings() async throws {
      for (text, message) in [
        ("{", "integrity.json: "), (#"{"scorng":1}"#, #""scorng" is not known"#),
        (#"{"weights":{"hook":2}}"#, #""hook" in "weights" is a number from 0 to 1"#),
      ] {
        let home = try settings(text)
        let refused = try await run("otp", adding: ["XDG_CONFIG_HOME": home])
        #expect(refused.isRefusal(66, message), refused.summary)
      }
      let home = try settings("{}")
      #expect(chmod("\(home)/signet/integrity.json", 0o666) == 0)
      let open = try await run("otp", adding: ["XDG_CONFIG_HOME": home])
      #expect(open.isRefusal(66, "may be changed by other users"), open.summary)
    }

    @Test("an unknown reaction is a usage error")
    func unknownReaction() async throws {
      let result = try await run("otp", adding: ["SIGNET_INTEGRITY": "explode"])
      #expect(
        result.isRefusal(64, "use one of report, refuse, lock, wipe-session, terminate"), result.summary)
    }

    @Test("the doctor prints flavour and evidence, as text and as JSON")
    func doctor() async throws {
      let text = try await device.run("doctor")
      #expect(text.status == 0, text.summary)
      #expect(
        text.output.contains(
          InstalledSignet.flavour == "debug"
            ? "note    program: a debug build, which a server may refuse" : "ok      program: a release"),
        text.summary)
      #expect(text.output.contains("ok      integrity: no signs of tampering"), text.summary)
      let object = try await device.json("doctor")
      #expect(try object.string("flavour") == InstalledSignet.flavour)
      let integrity = try object.object("integrity")
      #expect(try integrity.number("score") == 0 && integrity.bool("tampered") == false)
      #expect(try integrity.array("guards").count >= 3)
    }

    @Test("an agent without a passcode check runs under its system call filter")
    func agentFilter() async throws {
      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      let doctor = try await bench.device.json("doctor")
      let status = try String(contentsOfFile: "/proc/\(agent.id)/status", encoding: .utf8)
      // PAM starts a setuid or setgid program, which a seccomp filter would forbid.
      let checksPasscode = doctor.text.contains("PAM checks it by the service")
      #expect(status.contains("\nSeccomp:\t2\n") != checksPasscode, "\(doctor.text)")
      await agent.kill(SIGTERM)
    }

    @Test("a server runs under its system call filter, gains no privileges and writes no core dump")
    func serverFilter() async throws {
      let server = try await RunningServer.startWithShop([])
      let status = try String(contentsOfFile: "/proc/\(server.processID)/status", encoding: .utf8)
      #expect(status.contains("\nSeccomp:\t2\n") && status.contains("\nNoNewPrivs:\t1\n"))
      let limits = try String(contentsOfFile: "/proc/\(server.processID)/limits", encoding: .utf8)
      #expect(limits.contains(#/Max core file size +0 +0 /#))
      await server.stop()
    }
  }
#endif
