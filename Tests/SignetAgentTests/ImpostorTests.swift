#if os(Linux)
  import Foundation
  import Signet
  import SignetTestKit
  import Testing

  import SignetAgent

  /// Impostors that listen on the agent's path.
  @Suite(.timeLimit(.minutes(10))) struct ImpostorTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
      folder = try TemporaryFolder()
      path = folder.file("agent.sock")
    }

    /// Greets like the agent, repeats the challenge, and prints the length of the following message.
    ///
    /// With a second argument it repeats other bytes.
    private static let script = """
      import os, socket, sys
      os.umask(0o077)
      s = socket.socket(socket.AF_UNIX)
      s.bind(sys.argv[1])
      s.listen(16)
      print("ready", flush=True)
      c = s.accept()[0]
      c.sendall(b"SGNA\\x02\\x00" + bytes(16))
      challenge = c.recv(4096)
      if challenge: c.sendall(bytes(16) if sys.argv[2:] else challenge)
      print(len(challenge), len(c.recv(4096)) if challenge else 0, flush=True)
      """

    /// Serves the socket, and lets its child `cat` send the greeting; repeats the challenge itself.
    private static let helped = """
      import os, socket, subprocess, sys
      os.umask(0o077)
      s = socket.socket(socket.AF_UNIX)
      s.bind(sys.argv[1])
      s.listen(16)
      print("ready", flush=True)
      c = s.accept()[0]
      child = subprocess.Popen([sys.argv[2]], stdin=subprocess.PIPE, stdout=c.fileno())
      child.stdin.write(b"SGNA\\x02\\x00" + bytes(16))
      child.stdin.flush()
      challenge = c.recv(4096)
      if challenge: c.sendall(challenge)
      print(len(challenge), len(c.recv(4096)) if challenge else 0, flush=True)
      child.kill()
      child.wait()
      """

    @Test("another program of the user at the socket does not get the password")
    func otherProgram() async throws {
      let process = try ChildCommand(["/usr/bin/python3", "-c", Self.script, path], output: .pipe).start()
      defer { process.kill() }
      let lines = process.output
      #expect(lines.line() == "ready")
      let session = AgentSession(path: path)
      await #expect(throws: SignetError.sharedSession(.notTrusted(path: path))) {
        try await session.unlock(by: .password(SharedSecretBox(.init(copying: Array("winter".utf8)))))
      }
      #expect(lines.line() == "0 0")
    }

    @Test("an expected program that does not repeat the challenge gets no request")
    func otherEcho() async throws {
      let process = try ChildCommand(["/usr/bin/python3", "-c", Self.script, path, "other"], output: .pipe)
        .start()
      defer { process.kill() }
      let lines = process.output
      #expect(lines.line() == "ready")
      let found = PeerProcess(process.id)?.executable()
      let session = AgentSession(path: path, servedBy: [try #require(found).path])
      await #expect(throws: SignetError.sharedSession(.notTrusted(path: path))) {
        try await session.unlock(by: .password(SharedSecretBox(.init(copying: Array("winter".utf8)))))
      }
      #expect(lines.line() == "16 0")
    }

    @Test("a program that relays the greeting of an expected one gets no request")
    func helpedByNamedProgram() async throws {
      let cat = URL(filePath: "/usr/bin/cat").resolvingSymlinksInPath().path
      let process = try ChildCommand(["/usr/bin/python3", "-c", Self.helped, path, cat], output: .pipe)
        .start()
      defer { process.kill() }
      let lines = process.output
      #expect(lines.line() == "ready")
      let session = AgentSession(path: path, servedBy: [cat])
      await #expect(throws: SignetError.sharedSession(.notTrusted(path: path))) {
        try await session.unlock(by: .password(SharedSecretBox(.init(copying: Array("winter".utf8)))))
      }
      #expect(lines.line() == "16 0")
    }

    @Test("the same program gets a request if its file is an expected one")
    func namedProgram() async throws {
      let process = try ChildCommand(["/usr/bin/python3", "-c", Self.script, path], output: .pipe).start()
      defer { process.kill() }
      let lines = process.output
      #expect(lines.line() == "ready")
      let found = PeerProcess(process.id)?.executable()
      let session = AgentSession(path: path, servedBy: [try #require(found).path])
      // It closes the connection after the request.
      await #expect(throws: SignetError.sharedSession(.interrupted)) { try await session.state() }
      let lengths = try #require(lines.line())
      #expect(lengths.hasPrefix("16 ") && lengths != "16 0")
    }

    @Test("a socket open to others, a link to a socket and a folder writable by others are refused")
    func place() async throws {
      let fixture = try AgentFixture()
      let refused = SignetError.sharedSession(.notTrusted(path: fixture.path))
      let run = fixture.folder.file("run")
      #expect(try await fixture.session.state() == .locked(.notUnlocked))
      for (place, open, closed) in [(fixture.path, 0o622, 0o600), (run, 0o770, 0o700), (run, 0o707, 0o700)]
        as [(String, mode_t, mode_t)]
      {
        #expect(chmod(place, open) == 0)
        await #expect(throws: refused) { try await fixture.session.state() }
        #expect(chmod(place, closed) == 0)
      }
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: fixture.path)
      await #expect(throws: SignetError.sharedSession(.notTrusted(path: path))) {
        try await AgentSession(path: path, group: AgentFixture.office).state()
      }
      #expect(try await fixture.session.state() == .locked(.notUnlocked))
      try await fixture.stop()
    }
  }
#endif
