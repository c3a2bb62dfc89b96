import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import Testing

/// An invite becomes a container once, and nothing else does (`docs/protocol.md` section 3).
@Suite(.timeLimit(.minutes(10))) struct ServerActivationTests {
  @Test func activates() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let id = try #require(device.container)
    let record = try #require(try await server.storage.container(id))
    #expect(record.state == .active)
    #expect(record.signingKey == device.signing.publicKey.x963Representation)
    let events = try await server.audit().map { try JSONObject(parsing: Array($0.utf8)).string("event") }
    #expect(
      events == [
        "user.added", "activation.added", "activation.staged", "signingKey.added", "container.activated",
      ])
  }

  @Test("five wrong invites close the activation, even for the correct one")
  func countsWrongInvites() async throws {
    let server = try ServerFixture()
    let code = try await server.invite()
    for remaining in (0..<5).reversed() {
      var wrong = ProtocolDevice(code: code)
      wrong.invite = InviteCode(random: SystemRandomSource())
      #expect(try await problem { try await wrong.prove(server) } == .activationRefused)
      #expect(try await server.audit().last?.contains("\"remaining\":\"\(remaining)\"") == true)
    }
    var right = ProtocolDevice(code: code)
    #expect(try await problem { try await right.prove(server) } == .activationRefused)
    #expect(try await server.storage.containers(user: "alice").isEmpty)
  }

  @Test("the correct invite counts no attempt, and works after four wrong ones")
  func rightInviteCostsNothing() async throws {
    let server = try ServerFixture()
    let code = try await server.invite()
    for _ in 0..<4 {
      var wrong = ProtocolDevice(code: code)
      wrong.invite = InviteCode(random: SystemRandomSource())
      #expect(try await problem { try await wrong.prove(server) } == .activationRefused)
    }
    for _ in 0..<10 {
      var right = ProtocolDevice(code: code)
      try await right.prove(server)
    }
    #expect(try await server.storage.openActivation(user: "alice")?.failedAttempts == 4)
    var right = ProtocolDevice(code: code)
    try await right.activate(server)
    #expect(try await problem { try await right.prove(server) } == .activationRefused)
  }

  @Test("all refusals have the same answer")
  func refusesAlike() async throws {
    let server = try ServerFixture()
    let code = try await server.invite()
    var answers: Set<[UInt8]> = []
    func collect(_ device: ProtocolDevice) async throws {
      var device = device
      do { try await device.prove(server) } catch let problem as Problem { answers.insert(problem.bytes) }
    }
    var device = ProtocolDevice(code: code)
    device.invite = InviteCode(random: SystemRandomSource())
    try await collect(device)  // a wrong invite
    device = ProtocolDevice(code: code)
    device.user = UserID("nobody")
    try await collect(device)  // no such user
    device = ProtocolDevice(code: code)
    device.server = try ServerURL("evil.example.org/main")
    try await collect(device)  // the right invite, meant for another server
    #expect(try await server.storage.openActivation(user: "alice")?.failedAttempts == 2)
    _ = try await server.invite()
    try await collect(ProtocolDevice(code: code))  // a replaced invite
    let late = try await server.invite()
    server.clock.advance(by: 86_400)
    try await collect(ProtocolDevice(code: late))  // an expired invite
    #expect(answers.count == 1)
  }

  @Test func handshakesEnd() async throws {
    let server = try ServerFixture()
    let device = ProtocolDevice(code: try await server.invite())
    let answer = try await server.activations.start(device.start.bytes)
    #expect(answer.offer.expires == server.clock.now + 600)
    server.clock.advance(by: 600)
    let body = try await device.finish(answer).body
    #expect(try await problem { try await server.activations.finish(body) } == .handshakeVoid)
    server.clock.advance(by: -1)
    _ = try await server.activations.finish(body)
  }

  @Test("a handshake is accepted only unchanged and for its own activation")
  func bindsTheHandshake() async throws {
    let server = try ServerFixture()
    let (alice, bob) = (
      ProtocolDevice(code: try await server.invite("alice")),
      ProtocolDevice(code: try await server.invite("bob"))
    )
    let answer = try await server.activations.start(alice.start.bytes)
    let made = try ActivationFinish(parsing: await alice.finish(answer).body)
    func carried(by handshake: String, _ made: ActivationFinish) -> [UInt8] {
      ActivationFinish(handshake: handshake, message: made.message, possession: made.possession).bytes
    }
    let bytes = try Base64URL.decode(answer.handshake)
    for index in stride(from: 0, to: bytes.count, by: 5) {
      var changed = bytes
      changed[index] ^= 1
      let body = carried(by: Base64URL.encode(changed), made)
      #expect(try await problem { try await server.activations.finish(body) } == .handshakeVoid)
    }
    for handshake in ["", "A", String(repeating: "A", count: 3000), "=="] {
      let body = carried(by: handshake, made)
      #expect(try await problem { try await server.activations.finish(body) } == .handshakeVoid)
    }
    // Bob's proof with Alice's handshake, and the other way round.
    let bobs = try await server.activations.start(bob.start.bytes)
    for (handshake, device, offered) in [
      (answer.handshake, bob, bobs), (bobs.handshake, alice, answer),
    ] {
      let body = carried(
        by: handshake, try ActivationFinish(parsing: await device.finish(offered).body))
      #expect(try await problem { try await server.activations.finish(body) } == .activationRefused)
    }
    // None of these counted as a guess of an invite.
    #expect(try await server.storage.openActivation(user: "alice")?.failedAttempts == 0)
    #expect(try await server.storage.openActivation(user: "bob")?.failedAttempts == 0)
    // Another server's handshake does not open here.
    let other = try ServerFixture()
    let foreign = try await other.activations.start(alice.start.bytes)
    let body = carried(by: foreign.handshake, made)
    #expect(try await problem { try await server.activations.finish(body) } == .handshakeVoid)
  }

  @Test("a replayed finish replaces a pending container, and no confirmed one")
  func replayedFinish() async throws {
    let server = try ServerFixture()
    var device = ProtocolDevice(code: try await server.invite())
    let body = try await device.finish(server.activations.start(device.start.bytes)).body
    _ = try await server.activations.finish(body)
    _ = try await server.activations.finish(body)
    #expect(try await server.storage.containers(user: "alice").count == 1)
    try await device.activate(server)
    #expect(try await problem { try await server.activations.finish(body) } == .activationRefused)
    let containers = try await server.storage.containers(user: "alice")
    #expect(containers.map(\.state) == [.active])
    #expect(containers.map(\.id) == [device.container])
  }

  @Test("an activation interrupted after any message works again from the start")
  func worksAfterACut() async throws {
    let server = try ServerFixture()
    let code = try await server.invite()
    _ = try await server.activations.start(ProtocolDevice(code: code).start.bytes)
    var cutAfterFinish = ProtocolDevice(code: code)
    try await cutAfterFinish.prove(server)
    var device = ProtocolDevice(code: code)
    try await device.activate(server)
    #expect(try await problem { try await cutAfterFinish.confirm(server) } == .containerUnknown)
    // The answer to *confirm* is lost: it is sent again, and changes nothing.
    let entries = try await server.audit().count
    try await device.confirm(server)
    #expect(try await server.audit().count == entries)
    try await device.send(to: server)
  }

  @Test func aSecondActivationEndsTheFirstOfTheDevice() async throws {
    let server = try ServerFixture()
    let first = try await server.activate(device: 1)
    let other = try await server.activate(device: 2)
    let bobs = try await server.activate("bob", device: 1)
    let second = try await server.activate(device: 1)
    #expect(try await problem { try await first.send(to: server) } == .containerUnknown)
    for device in [other, bobs, second] { try await device.send(to: server) }
  }

  @Test func aPendingContainerCanOnlyBeConfirmed() async throws {
    let server = try ServerFixture()
    var device = ProtocolDevice(code: try await server.invite())
    try await device.prove(server)
    #expect(try await problem { try await device.send(to: server) } == .containerUnknown)
    let code = try device.code(at: server.clock.now)
    #expect(
      try await server.codes.validate(code, user: UserID("alice"), by: .init(.local)).value != .accepted)
    _ = try await server.invite()
    #expect(try await problem { try await device.confirm(server) } == .containerUnknown)
  }

  @Test(arguments: [59, 2_592_001, 0, -1, Int64.max, .min])
  func limitsTheLifeOfAnInvite(_ lifetime: Int64) async throws {
    let server = try ServerFixture()
    _ = try await server.invite()
    let user = UserID("alice")
    #expect(
      try await problem { try await server.activations.invite(user, lifetime: lifetime, by: .local) }
        == .malformed)
  }

  @Test func refusesWhatIsNoMessage() async throws {
    let server = try ServerFixture()
    for body in [
      "", "{}", "[]", #"{"handshake":"a","message":"b"}"#, #"{"handshake":"a","message":"e30.e30.e30"}"#,
      #"{"handshake":"a","message":"e30.e30.e30","possession":"e30.e30.e30"}"#,
    ] {
      #expect(try await problem { try await server.activations.start(Array(body.utf8)) } == .malformed)
      #expect(try await problem { try await server.activations.finish(Array(body.utf8)) } == .malformed)
    }
  }
}
