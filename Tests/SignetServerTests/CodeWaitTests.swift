import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import Testing

/// Waits of addresses: a guessing address waits, and its victim does not.
@Suite(.timeLimit(.minutes(10))) struct CodeWaitTests {
  private func validate(
    _ code: String, _ server: ServerFixture, from client: String?, _ user: String = "alice"
  ) async throws -> CodeOutcome {
    try await server.codes.validate(code, user: UserID(user), by: .init(.local, client: client)).value
  }

  @Test("a guessing address must wait; the user at another address does not")
  func holdsUpTheGuesserOnly() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    for _ in 1...4 { #expect(try await validate("x", server, from: "198.51.100.7") == .refused) }
    let right = try device.code(at: server.clock.now)
    let waiting = CodeOutcome.waiting(seconds: 30)
    #expect(try await validate("x", server, from: "198.51.100.7") == waiting)
    #expect(try await validate(right, server, from: "198.51.100.7") == waiting)
    #expect(try await server.lastReason()?.contains("not checked") == true)
    #expect(try await validate(right, server, from: "192.0.2.1") == .accepted)
    // The user's success ends only the wait of the user's own address.
    #expect(try await validate("x", server, from: "198.51.100.7") == waiting)
    server.clock.advance(by: 30)
    #expect(try await validate("x", server, from: "198.51.100.7") == .refused)
    #expect(try await validate("x", server, from: "198.51.100.7") == .waiting(seconds: 60))
    // Attempts for another user from that address do not wait.
    let bob = try await server.activate("bob", device: 2)
    #expect(
      try await validate(bob.code(at: server.clock.now), server, from: "198.51.100.7", "bob") == .accepted)
  }

  @Test("an attacker of one address needs days to lock a credential")
  func locksSlowly() async throws {
    let server = try ServerFixture()
    _ = try await server.activate()
    let start = server.clock.now
    var tried = 0
    while tried < 100 {
      switch try await validate("x", server, from: "198.51.100.7") {
      case .waiting(let seconds): server.clock.advance(by: seconds)
      case .refused: tried += 1
      case let other:
        Issue.record("\(other) after \(tried)")
        return
      }
    }
    #expect(server.clock.now - start > 3 * 86_400)
    server.clock.advance(by: 3600)
    #expect(try await validate("x", server, from: "198.51.100.7") == .locked)
  }

  @Test("an attacker of 25 addresses locks a credential at once, one of 24 does not")
  func locksAtOnce() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    for address in 1...24 {
      for _ in 1...4 {
        #expect(try await validate("x", server, from: "198.51.100.\(address)") == .refused)
      }
      #expect(try await validate("x", server, from: "198.51.100.\(address)") == .waiting(seconds: 30))
    }
    // After 96 failures the user can still sign in, which resets the count.
    let container = try #require(device.container)
    let credential = try #require(try await server.storage.credential(ID(of: container)))
    #expect(credential.failures == 96)
    for _ in 1...4 { #expect(try await validate("x", server, from: "198.51.100.25") == .refused) }
    let right = try device.code(at: server.clock.now)
    #expect(try await validate(right, server, from: "192.0.2.1") == .locked)
    // Two codes in a row unlock it, but end no wait of the guessing addresses: the next hundred guesses take longer.
    let pair = (right, try device.code(at: server.clock.now + 30))
    let owner = CodeService.Requester(.local, client: "192.0.2.1")
    #expect(
      try await server.codes.resynchronise(pair, user: UserID("alice"), by: owner).value == .accepted)
    for address in 1...25 {
      #expect(try await validate("x", server, from: "198.51.100.\(address)") == .waiting(seconds: 30))
    }
    server.clock.advance(by: 30)
    for address in 1...25 {
      #expect(try await validate("x", server, from: "198.51.100.\(address)") == .refused)
      #expect(try await validate("x", server, from: "198.51.100.\(address)") == .waiting(seconds: 60))
    }
  }

  @Test(
    "addresses of one network count as one in every notation; other texts are kept",
    arguments: [
      ("2001:db8::1", "2001:db8:0:0:ffff::2", true), ("2001:db8::1", "2001:db8:0:1::1", false),
      ("::ffff:192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
      ("session-a", "session-b", false), ("2001:DB8::1", "2001:db8::1", true), (":::", "::", false),
      ("[2001:db8::1]", "2001:db8::2", true), ("[2001:db8::1]:443", "2001:db8::9", true),
      ("fe80::1%eth0", "fe80::2", true), ("192.0.2.1:1234", "192.0.2.1:99", true),
      ("192.0.2.1:1234", "192.0.2.1", true), ("[::ffff:192.0.2.1]:8", "192.0.2.1", true),
      ("192.0.2.1:1", "192.0.2.2:1", false), ("[session]", "session", false),
    ])
  func networks(_ one: String, _ other: String, _ isSame: Bool) async throws {
    let server = try ServerFixture()
    for _ in 1...4 { _ = try await validate("x", server, from: one) }
    #expect(try await validate("x", server, from: other) == (isSame ? .waiting(seconds: 30) : .refused))
  }

  @Test("requesters without an address share one counter of their own")
  func withoutAddress() async throws {
    let server = try ServerFixture()
    for _ in 1...4 { _ = try await validate("x", server, from: nil) }
    #expect(try await validate("x", server, from: nil) == .waiting(seconds: 30))
    #expect(try await validate("x", server, from: "192.0.2.1") == .refused)
  }

  @Test(arguments: ["", " ", "a b", "ä", "a\n", String(repeating: "a", count: 65)])
  func refusesOtherTexts(_ client: String) async throws {
    let server = try ServerFixture()
    #expect(try await problem { try await validate("x", server, from: client) } == .malformed)
  }

  @Test("an unknown user gets the same answers and waits as any other") func tellsNothing() async throws {
    let server = try ServerFixture()
    _ = try await server.activate()
    for _ in 1...12 {
      let found = try await validate("000000", server, from: "192.0.2.1")
      #expect(try await validate("000000", server, from: "192.0.2.1", "nobody") == found)
      server.clock.advance(by: 20)
    }
  }

  @Test("an operator ends all waits for a user") func unlocks() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    for _ in 1...4 { _ = try await validate("x", server, from: "192.0.2.1") }
    try await server.codes.unlock(UserID("alice"), by: .local)
    #expect(try await validate(device.code(at: server.clock.now), server, from: "192.0.2.1") == .accepted)
  }

  @Test("two consecutive codes unlock a locked credential") func unlocksItself() async throws {
    let server = try ServerFixture { ($0.codeAttempts, $0.codes.firstWait) = (5, 0) }
    let device = try await server.activate()
    for _ in 1...5 { #expect(try await validate("x", server, from: "198.51.100.7") == .refused) }
    let codes = (try device.code(at: server.clock.now), try device.code(at: server.clock.now + 30))
    #expect(try await validate(codes.0, server, from: "192.0.2.1") == .locked)
    let asker = CodeService.Requester(.local, client: "192.0.2.1")
    let alice = UserID("alice")
    #expect(
      try await server.codes.resynchronise((codes.1, codes.0), user: alice, by: asker).value == .refused)
    #expect(try await server.codes.resynchronise(codes, user: alice, by: asker).value == .accepted)
    #expect(try await validate(codes.1, server, from: "192.0.2.1") == .refused)
    server.clock.advance(by: 60)
    #expect(try await validate(device.code(at: server.clock.now), server, from: "192.0.2.1") == .accepted)
  }
}
