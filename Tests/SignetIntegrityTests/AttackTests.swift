#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetIntegrity
  import SignetTestKit
  import Testing

  /// Real attacks on a real program.
  ///
  /// Each is found by the first evaluation after it takes effect, and nothing outlives a test.
  @Suite(.serialized, .timeLimit(.minutes(10))) struct AttackTests {
    private static let (gdb, strace, compiler, limiter) = (
      "/usr/bin/gdb", "/usr/bin/strace", "/usr/bin/cc", "/usr/bin/timeout"
    )
    private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]
    private static let hasFrida = python != nil || ContinuousIntegration.isHere

    /// Starts an attacker that ends by a time-out if the test is killed.
    private func attacker(_ line: [String]) throws -> WatchedProcess {
      try WatchedProcess([Self.limiter, "-k", "1", "600"] + line)
    }

    /// Expects findings in the victim's next evaluation.
    private func expectFound(_ victim: WatchedProcess, _ parts: String...) async throws {
      let report = try await victim.report()
      for part in parts { #expect(report.contains(part), "\(report)") }
    }

    /// Expects a clean evaluation after the attacker has left, since evidence does not persist.
    private func expectClean(_ victim: WatchedProcess) async throws {
      let report = try await victim.report()
      #expect(WatchedProcess.isClean(report), "\(report)")
    }

    /// Waits until an attacker reports its progress.
    private func wait(for word: String, of attacker: WatchedProcess) async throws {
      _ = try #require(try await attacker.line { $0.contains(word) }, "\(attacker.lines)")
    }

    @Test("gdb attaches", .enabled(if: hasTool(gdb), "needs gdb"))
    func debugger() async throws {
      let victim = try await Victim.watching()
      let attack = try attacker([
        Self.gdb, "-q", "-nx", "-batch", "-p", "\(victim.id)", "-ex", "echo attached\\n", "-ex", "continue",
      ])
      try await wait(for: "attached", of: attack)
      try await expectFound(
        victim, #""finding":"debugger.tracer""#, #""tampered":true"#, "(gdb) traces thread")
      attack.end(SIGTERM)
      try await expectClean(victim)
    }

    @Test("strace attaches", .enabled(if: hasTool(strace), "needs strace"))
    func tracer() async throws {
      let victim = try await Victim.watching()
      let attack = try attacker([Self.strace, "-f", "-o", "/dev/null", "-p", "\(victim.id)"])
      try await wait(for: "attached", of: attack)
      try await expectFound(
        victim, #""finding":"debugger.tracer""#, #""tampered":true"#, "(strace) traces thread")
      attack.end(SIGTERM)
      try await expectClean(victim)
    }

    @Test(
      "a tracer that /proc does not show is found by the kernel's refusal",
      .enabled(if: hasTool(strace), "needs strace"))
    func hiddenTracer() async throws {
      let victim = try await Victim.watching(["--only", "probe"])
      let attack = try attacker([Self.strace, "-o", "/dev/null", "-p", "\(victim.id)"])
      try await wait(for: "attached", of: attack)
      try await expectFound(victim, #""finding":"debugger.hidden""#, #""tampered":true"#)
      attack.end(SIGTERM)
      try await expectClean(victim)
    }

    @Test("Frida attaches, runs a script and hooks a function", .enabled(if: hasFrida, "needs frida of PyPI"))
    func instrumentation() async throws {
      let python = try #require(Self.python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
      let victim = try await Victim.watching()
      let script = """
        import sys, time, frida
        session = frida.attach(\(victim.id))
        script = session.create_script('''
          Interceptor.attach(Process.getModuleByName("libcrypto.so.3").getExportByName("RAND_bytes"), { onEnter(a) {} });
        ''')
        print("attached", flush=True)
        sys.stdin.readline()
        script.load()
        print("hooked", flush=True)
        sys.stdin.read()
        session.detach()
        """
      let attack = try attacker([python, "-c", script])
      try await wait(for: "attached", of: attack)
      try await expectFound(
        victim, #""finding":"instrumentation.mapping""#, #""score":1"#, "frida", "instrumentation.code")
      try attack.say("load")
      try await wait(for: "hooked", of: attack)
      try await expectFound(victim, #""finding":"hook.function""#, "the code of RAND_bytes in memory")
      attack.end(SIGTERM)
    }

    @Test(
      "LD_PRELOAD replaces a function of libcrypto",
      .enabled(if: hasTool(compiler), "needs a C compiler"))
    func preload() async throws {
      let folder = try TemporaryFolder()
      let (source, library) = (folder.file("hook.c"), folder.file("hook.so"))
      let code = """
        #include <stdlib.h>
        __attribute__((constructor)) static void hide(void) { unsetenv("LD_PRELOAD"); }
        int RAND_bytes(unsigned char *to, int count) { for (int i = 0; i < count; i++) to[i] = 7; return 1; }

        """
      try Data(code.utf8).write(to: URL(filePath: source))
      let build = try WatchedProcess([Self.compiler, "-shared", "-fPIC", "-o", library, source])
      try #require(build.status() == 0, "\(build.lines)")
      let victim = try WatchedProcess(
        [Victim.path(), "watch"], environment: ["PATH": "/usr/bin:/bin", "LD_PRELOAD": library])
      // The variable is removed from the environment, but not from the kernel's copy.
      try await expectFound(
        victim, #""tampered":true"#, #""finding":"hook.call""#, "leads to hook.so",
        #""finding":"library.unexpected""#,
        #""finding":"environment.loads-code""#)
      victim.end()
      // It refuses operations that need a key, with the reason; with the other setting it ends, with a message.
      for (reaction, text) in [
        ("refuse", "refused: this program is being tampered with:"),
        ("terminate", "This program terminates: "),
      ] {
        let refused = try WatchedProcess(
          [Victim.path(), "react", reaction], environment: ["LD_PRELOAD": library])
        #expect(refused.status() == 77)
        #expect(refused.finishedLines().contains { $0.hasPrefix(text) }, "\(refused.lines)")
      }
    }

    private static let namespaces = "/usr/bin/unshare"

    @Test(
      "a listener on Frida's port is found on IPv4 and IPv6; one on another port is not",
      .enabled(if: hasTool(namespaces) && geteuid() == 0, "needs unshare and root"))
    func server() async throws {
      // In a separate network namespace: other tests on this machine must not see it.
      let script = """
        import socket, subprocess, sys
        s = socket.socket(socket.AF_INET6 if sys.argv[2] == "6" else socket.AF_INET)
        s.bind(("::" if sys.argv[2] == "6" else "0.0.0.0", int(sys.argv[1])))
        s.listen()
        sys.exit(subprocess.call(sys.argv[3:]))
        """
      for (port, version, isFound) in [
        ("27042", "4", true), ("27043", "6", true), ("27041", "4", false), ("27044", "6", false),
      ] {
        let victim = try WatchedProcess(
          [Self.namespaces, "--net", "/usr/bin/python3", "-c", script, port, version, try Victim.path()]
            + ["--only", "instrumentation", "clean", "1"])
        #expect(victim.status() == 0)
        let lines = victim.finishedLines()
        #expect(lines.last == "done 1", "\(lines)")
        let isSaid = lines.contains {
          $0.contains(#""finding":"instrumentation.port""#) && $0.contains("port \(port)")
        }
        #expect(isSaid == isFound, "\(lines)")
      }
    }

    @Test("a copy of the program with one changed byte does not match the release")
    func patchedCopy() async throws {
      let folder = try TemporaryFolder(mode: 0o755)
      let key = P256.Signing.PrivateKey()
      let original = try #require(ReleaseManifest.Program(file: Victim.path()))
      let manifest = ReleaseManifest(release: "1", flavour: .release, created: 1, programs: [original])
      let file = folder.file("release.manifest")
      try Data(manifest.signed(with: key).utf8).write(to: URL(filePath: file))
      let options = ["--key", Hex.encode(key.publicKey.x963Representation), "--manifest", file]
      // The control: the released program is clean.
      let clean = try await Victim.watching(options)
      #expect(!clean.lines.joined().contains("binary."))
      clean.end()
      var bytes = try #require(FileManager.default.contents(atPath: Victim.path()))
      let place = try #require(bytes.firstRange(of: Data("admitted, score ".utf8)))
      bytes[place.lowerBound] ^= 0x20
      let copy = folder.file("IntegrityVictim")
      try bytes.write(to: URL(filePath: copy))
      #expect(chmod(copy, 0o755) == 0)
      let victim = try WatchedProcess([copy] + options + ["watch"])
      try await expectFound(victim, #""finding":"binary.changed""#, #""tampered":true"#)
    }

    @Test("a program finds its image under the legacy memory layout")
    func oldLayout() async throws {
      let victim = try WatchedProcess(["setarch", "-L", Victim.path(), "--only", "binary", "clean", "1"])
      #expect(victim.status() == 0)
      #expect(victim.finishedLines() == ["done 1"], "\(victim.lines.prefix(2))")
    }

    /// The number of consecutive evaluations: 200, and 1,000 in a long run.
    private static let evaluations = KillCount.wanted == nil ? 200 : 1_000

    @Test("a program without tampering scores 0 in every evaluation")
    func clean() async throws {
      let victim = try WatchedProcess([Victim.path(), "clean", "\(Self.evaluations)"])
      #expect(victim.status() == 0)
      #expect(victim.finishedLines() == ["done \(Self.evaluations)"], "\(victim.lines.prefix(2))")
      let hardened = try WatchedProcess([Victim.path(), "--hardened", "clean", "100"])
      #expect(hardened.status() == 0)
      #expect(hardened.finishedLines() == ["done 100"], "\(hardened.lines.prefix(2))")
    }
  }
#endif
