#if os(Linux)
  import Foundation
  import Signet
  import SignetTestKit
  import Testing

  import SignetAgent

  /// The agent's inspection of its clients.
  @Suite(.timeLimit(.minutes(10))) struct PeerProcessTests {
    @Test("a process in other namespaces has no executable, whichever of them differs")
    func otherNamespaces() throws {
      guard let own = PeerProcess(getpid()) else {
        Issue.record("this process is not found")
        return
      }
      let found = own.namespaces()
      let home = try #require(found)
      let executable = own.executable(in: home)
      #expect(executable != nil)
      let other = PeerProcess.FileIdentity(device: home.users.device, number: 1)
      for strange in [
        PeerProcess.Namespaces(users: other, processes: home.processes, mounts: home.mounts),
        PeerProcess.Namespaces(users: home.users, processes: other, mounts: home.mounts),
        PeerProcess.Namespaces(users: home.users, processes: home.processes, mounts: other),
      ] {
        let refused = own.executable(in: strange)
        #expect(refused == nil)
      }
    }

    @Test("a reused process id is not mistaken for the connected process")
    func reusedNumber() throws {
      let folder = try TemporaryFolder()
      let socket = try AgentSocket(at: folder.file("run/agent.sock"))
      let line = [
        "/usr/bin/python3", "-c",
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); sys.stdin.read()",
        folder.file("run/agent.sock"),
      ]
      let process = try ChildCommand(line, input: .pipe).start()
      let stream = SocketStream(adopting: accept(socket.descriptor, nil, nil))
      let id = try stream.peer().process
      #expect(id == process.id)
      let handle = try stream.peerHandle()
      defer { if let handle { close(handle) } }
      let living = Self.isThere(PeerProcess(id, handle: handle))
      #expect(living)
      try process.input.close()
      try process.end()
      guard let handle else {
        // Linux has handles of peers from 6.5 on; only an older one may skip the test.
        let version = ProcessInfo.processInfo.operatingSystemVersion
        #expect((version.majorVersion, version.minorVersion) < (6, 5))
        try Test.cancel("this system gives no handles of peers")
      }
      // This process represents one that reused the process ID: it is alive, and the original is not.
      let ended = Self.isThere(PeerProcess(getpid(), handle: handle))
      #expect(!ended)
    }

    @Test(
      "a message is accepted with its sender's real or requested effective group only")
    func groups() throws {
      let folder = try TemporaryFolder()
      let path = folder.file("run/agent.sock")
      let socket = try AgentSocket(at: path)
      let app = try SocketStream.connecting(to: path)
      let agent = SocketStream(adopting: accept(socket.descriptor, nil, nil))
      let (soon, other) = (Greeted.soon, getgid() + 1)
      try agent.send([1], until: soon)
      #expect(try app.receive(1, from: getpid(), as: getgid(), until: soon) == [1])
      try agent.send([2], as: getegid(), until: soon)
      #expect(try app.receive(1, from: getpid(), as: getegid(), until: soon) == [2])
      try agent.send([3], until: soon)
      #expect(throws: SocketStream.Failure.otherSender) {
        try app.receive(1, from: getpid(), as: other, until: soon)
      }
      if geteuid() == 0 {
        // Root may name any group.
        try agent.send([4], as: other, until: soon)
        #expect(try app.receive(1, from: getpid(), as: other, until: soon) == [4])
      } else {
        #expect(throws: SocketStream.Failure.system(errno: EPERM)) {
          try agent.send([4], as: other, until: soon)
        }
      }
    }

    private static func isThere(_ process: consuming PeerProcess?) -> Bool {
      switch process {
      case .some: true
      case .none: false
      }
    }

    /// Connects, becomes a program of the group, and has a child send in its name.
    ///
    /// The child prints its answers: the welcome, and the answer to a request with the other's process ID as its sender.
    private static let attack = """
      import os, socket, struct, sys
      s = socket.socket(socket.AF_UNIX)
      s.connect(sys.argv[1])
      pid = os.getpid()
      readable, writable = os.pipe()
      os.set_inheritable(readable, True)
      if os.fork():
          os.dup2(readable, 0)
          os.execv("/usr/bin/cat", ["/usr/bin/cat"])
      while os.readlink(f"/proc/{pid}/exe") != os.path.realpath("/usr/bin/cat"): pass
      print("ready", flush=True)
      greeting = s.recv(64)
      request = b'{"op":"state","group":"office"}'
      message = bytes(16) + greeting[6:] + struct.pack(">IH", len(request), 0) + request
      said = "greeted" if greeting[5] == 0 else "refused"
      try:
          who = struct.pack("3i", pid, os.getuid(), os.getgid())
          s.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, who)])
          said += ", answered" if s.recv(16) and s.recv(4096) else ", dropped"
      except PermissionError: said += ", no forgery"
      except OSError: said += ", dropped"
      print(said, flush=True)
      """

    private func said(by launcher: [String]) async throws -> String? {
      let folder = try TemporaryFolder()
      let path = folder.file("run/agent.sock")
      let cat = URL(filePath: "/usr/bin/cat").resolvingSymlinksInPath().path
      let agent = Agent(
        device: try Device(
          vault: Vault(
            directory: folder.file("device"), keystore: SoftwareKeystore(directory: folder.file("device")))),
        configuration: try AgentConfiguration(groups: [.init(AgentFixture.office, executables: [cat])])
      ) { () throws(SignetError) in throw .noSuchContainer }
      let socket = SocketBox(try AgentSocket(at: path))
      let line = launcher + ["/usr/bin/python3", "-c", Self.attack, path]
      let process = try ChildCommand(line, output: .pipe).start()
      defer { process.send(SIGTERM) }
      // The agent inspects its client only now, when that process runs a program of the group.
      let lines = process.output
      guard lines.line() == "ready" else { return nil }
      let serving = Task { if let socket = socket.take() { try await agent.serve(socket) } }
      let said = lines.line()
      serving.cancel()
      try await serving.value
      return said
    }

    @Test("root in a user namespace cannot impersonate a program of a group")
    func namespaces() async throws {
      // The control: outside of the namespaces the program is greeted.
      let outside = try await said(by: [])
      // Root may forge the sender everywhere and is answered; others are not.
      #expect(outside == (geteuid() == 0 ? "greeted, answered" : "greeted, no forgery"))
      let inside = try await said(by: ["/usr/bin/unshare", "-Ur", "--pid", "--fork", "--mount-proc"])
      guard let inside else {
        #expect(!ContinuousIntegration.isHere, "needs user namespaces, which this system forbids")
        return
      }
      #expect(inside == "refused, dropped")
    }
  }

  extension FileHandle {
    /// Returns the next line, without its end; `nil` at the end.
    func line() -> String? {
      var bytes: [UInt8] = []
      while let byte = try? read(upToCount: 1)?.first {
        if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(byte)
      }
      return nil
    }
  }
#endif
