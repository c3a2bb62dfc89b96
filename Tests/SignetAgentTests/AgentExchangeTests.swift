#if os(Linux)
  import Foundation
  import Signet
  import SignetCrypto
  import SignetTestKit
  import Testing

  import SignetAgent

  @Suite(.timeLimit(.minutes(10))) struct AgentExchangeTests {
    private static let office = AgentFixture.office
    private static let broken = AgentAnswer.failure(.sharedSession(.protocolBroken))

    @Test("a program of a group gets answers about its own group")
    func answers() async throws {
      let fixture = try AgentFixture()
      #expect(try await fixture.session.state() == .locked(.notUnlocked))
      await #expect(throws: SignetError.noSuchContainer) { try await fixture.session.unlock() }
      await #expect(throws: SignetError.appData(.locked(.notUnlocked))) {
        try await fixture.session.encrypt([1], label: "notes")
      }
      await #expect(throws: SignetError.appData(.invalidLabel)) {
        try await fixture.session.encrypt([1], label: "")
      }
      await #expect(throws: SignetError.appData(.notAppData)) {
        try await fixture.session.decrypt([1], label: "notes")
      }
      try await fixture.session.lock()
      try await fixture.session.lockAllGroups()
      try await fixture.stop()
      await #expect(throws: SignetError.sharedSession(.unreachable(path: fixture.path, code: ECONNREFUSED))) {
        try await fixture.session.state()
      }
    }

    @Test(
      "a group that the program is not in is refused: its keys, and without them its state if another program asks"
    )
    func otherGroup() async throws {
      let fixture = try AgentFixture()
      // This process is also the agent's own program, which may read the state of every group.
      let standard = AgentSession(path: fixture.path)
      #expect(try await standard.state() == .locked(.notUnlocked))
      await #expect(throws: SignetError.sharedSession(.refused)) {
        try await standard.encrypt([1], label: "notes")
      }
      let none = AgentSession(path: fixture.path, group: try #require(AppGroup("none")))
      await #expect(throws: SignetError.sharedSession(.refused)) { try await none.unlock() }
      try await fixture.stop()
    }

    @Test("a malformed request gets exactly one answer")
    func garbage() async throws {
      let fixture = try AgentFixture()
      let requests = [
        "{}", "[]", "null", "{", #"{"op":"state"}"#, #"{"op":"state","group":"office","x":1}"#,
        #"{"op":"state","group":"office","group":"office"}"#, #"{"op":"other","group":"office"}"#,
        #"{"op":"state","group":""}"#, #"{"op":"state","group":7}"#, #"{"op":["state"],"group":"office"}"#,
        #"{"op":"textKey","group":"office","label":"a","salt":"AAAA"}"#, "\u{0}",
        #"{"op":"lockAll","group":"office"}"#,
      ]
      for request in requests {
        let client = try fixture.connect()
        try client.say(message(client.nonce, request))
        #expect(try client.answer() == Self.broken, "\(request)")
        let isOver = client.isHungUp()
        #expect(isOver)
      }
      for lengths in [
        [0, 0, 0, 0, 0, 0], [0, 0, 16, 1, 0, 0], [255, 255, 255, 255, 0, 0], [0, 0, 0, 1, 16, 1],
      ] as [[UInt8]] {
        let client = try fixture.connect()
        try client.say(client.nonce + lengths)
        #expect(try client.answer() == Self.broken, "\(lengths)")
      }
      let client = try fixture.connect()
      var nonce = client.nonce
      nonce[15] ^= 1
      try client.say(message(nonce, #"{"op":"state","group":"office"}"#))
      #expect(try client.answer() == Self.broken)
      #expect(try await fixture.session.state() == .locked(.notUnlocked))
      try await fixture.stop()
    }

    @Test("the agent survives random bytes")
    func noise() async throws {
      let fixture = try AgentFixture()
      let random = SeededRandomSource(seed: 7)
      for count in 1..<60 {
        let client = try fixture.connect()
        // Some or all of it may come too late to be sent.
        do { try client.say((count.isMultiple(of: 2) ? client.nonce : []) + random.bytes(count * 7)) } catch {
        }
      }
      #expect(try await fixture.session.state() == .locked(.notUnlocked))
      try await fixture.stop()
    }

    @Test("an incomplete message is dropped after the time limit, wherever it was cut")
    func halfMessages() async throws {
      var limits = Agent.Limits()
      limits.patience = .milliseconds(200)
      let fixture = try AgentFixture(limits: limits)
      for count in [0, 1, 15] {
        while true {
          do {
            let client = try fixture.connect(challenge: Array(Greeted.challenge.prefix(count)))
            let isOver = client.isHungUp()
            #expect(isOver, "\(count)")
            break
          } catch SocketStream.Failure.closed {}
        }
      }
      let whole = #"{"op":"unlock","group":"office"}"#
      for count in [0, 3, 16, 18, 22, 30, 16 + 6 + whole.utf8.count, 16 + 6 + whole.utf8.count + 3] {
        // On a busy machine such a short time-out may end before the message was sent; then it is sent again.
        while true {
          do {
            let client = try fixture.connect()
            try client.say(Array((message(client.nonce, whole, secret: 8) + [1, 2, 3]).prefix(count)))
            let isOver = client.isHungUp()
            #expect(isOver, "\(count)")
            break
          } catch SocketStream.Failure.closed {}
        }
      }
      while true {
        do throws(SignetError) {
          #expect(try await fixture.session.state() == .locked(.notUnlocked))
          break
        } catch { #expect(error == .sharedSession(.interrupted)) }
      }
      try await fixture.stop()
    }

    @Test("after a thousand abandoned connections the agent accepts the next one")
    func thousandConnections() async throws {
      var limits = AgentFixture.patient
      limits.exchanges = 8
      let fixture = try AgentFixture(limits: limits)
      var counts: [AgentProtocol.Welcome: Int] = [:]
      for _ in 0..<100 {
        // Ten at a time stay open, more than the limit, and leave without a message.
        var open: [Int32] = []
        for _ in 0..<10 {
          let client = try fixture.connect()
          counts[client.welcome, default: 0] += 1
          open.append(client.leave())
        }
        for descriptor in open { close(descriptor) }
      }
      #expect(counts.values.reduce(0, +) == 1000)
      #expect(counts[.yes, default: 0] >= 8)
      #expect(counts[.busy, default: 0] >= 1)
      #expect(counts[.refused] == nil)
      // A rejected client tries again.
      while true {
        do throws(SignetError) {
          #expect(try await fixture.session.state() == .locked(.notUnlocked))
          break
        } catch { #expect(error == .sharedSession(.busy)) }
      }
      try await fixture.stop()
    }

    @Test("a challenge or a request that another process sends over the connection is refused")
    func otherSender() async throws {
      let fixture = try AgentFixture()
      for challenge in [[], Greeted.challenge] {
        let client = try fixture.connect(challenge: challenge)
        let rest = Greeted.challenge.dropFirst(challenge.count)
        let file = fixture.folder.file("request")
        try Data(rest + message(client.nonce, #"{"op":"state","group":"office"}"#))
          .write(to: URL(filePath: file))
        let descriptor = client.leave()
        _ = try await ChildCommand(["/bin/cat", file], output: .descriptor(descriptor)).finish()
        let stream = SocketStream(adopting: descriptor)
        #expect(throws: SocketStream.Failure.closed) { try stream.receive(1, until: Greeted.soon) }
      }
      try await fixture.stop()
    }

    @Test("a program without a group is refused before it sends a request")
    func stranger() async throws {
      let fixture = try AgentFixture()
      // This process counts as the agent's own program; another one does not.
      let line = [
        "/usr/bin/python3", "-c",
        """
        import socket, sys
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1])
        greeting = s.recv(64)
        assert greeting[:5] == b"SGNA\\x02" and greeting[5] == 1, greeting
        assert s.recv(64) == b""
        """, fixture.path,
      ]
      let result = try await ChildCommand(line).finish()
      #expect(result.status == 0, "\(result.errorOutput)")
      try await fixture.stop()
    }

    @Test("waiters for a lock are notified, and their number is bounded")
    func watchers() async throws {
      var limits = AgentFixture.patient
      limits.watchers = 2
      let fixture = try AgentFixture(limits: limits)
      let watch = #"{"op":"watch","group":"office"}"#
      // Since the session is locked, each is notified at once.
      for _ in 0..<5 {
        let client = try fixture.connect()
        try client.say(message(client.nonce, watch))
        #expect(try client.answer() == .state(.locked(.notUnlocked)))
        #expect(try client.answer() == .state(.locked(.notUnlocked)))
        let isOver = client.isHungUp()
        #expect(isOver)
      }
      try await fixture.stop()
    }

    @Test("one agent listens at a socket, and the socket of a killed one is replaced")
    func oneAgent() async throws {
      let fixture = try AgentFixture()
      #expect(throws: AgentSocketFailure.alreadyRunning(fixture.path)) {
        _ = try AgentSocket(at: fixture.path)
      }
      try await fixture.stop()
      #expect(permissions(of: fixture.path) == 0o600)
      #expect(permissions(of: fixture.folder.file("run")) == 0o700)
      _ = try AgentSocket(at: fixture.path)
    }

    @Test("a folder that other users can access is refused")
    func folder() throws {
      let folder = try TemporaryFolder(mode: 0o755)
      #expect(throws: AgentSocketFailure.folderNotTrusted(folder.path)) {
        _ = try AgentSocket(at: folder.file("agent.sock"))
      }
      let long = folder.file(String(repeating: "x", count: 100))
      #expect(throws: AgentSocketFailure.self) { _ = try AgentSocket(at: "\(long)/agent.sock") }
      #expect(throws: AgentSocketFailure.self) { _ = try AgentSocket(at: "agent.sock") }
    }

    @Test("without systemd no socket is inherited, and another kind of descriptor is refused")
    func inherited() throws {
      for environment in [[:], ["LISTEN_PID": "1", "LISTEN_FDS": "1"]] {
        let isNothing = isNothing(try AgentSocket.inherited(environment))
        #expect(isNothing)
      }
      #expect(throws: AgentSocketFailure.notAListeningSocket) {
        _ = try AgentSocket.inherited(["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "2"])
      }
    }
  }

  extension Greeted {
    /// Returns the connection's descriptor, still open.
    consuming func leave() -> Int32 { stream.release() }
  }

  private func isNothing(_ socket: borrowing AgentSocket?) -> Bool {
    switch socket {
    case .some: false
    case .none: true
    }
  }
#endif
