import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import Testing

/// One-time codes: accepted once, within the window, and not by guessing (`docs/protocol.md` section 6).
@Suite(.timeLimit(.minutes(10))) struct CodeTests {
  private func validate(_ code: String, _ server: ServerFixture, _ user: String = "alice") async throws
    -> Bool
  {
    try await server.codes.validate(code, user: UserID(user), by: .init(.local)).value == .accepted
  }

  @Test func acceptsACodeOnce() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let code = try device.code(at: server.clock.now)
    #expect(try await validate(code, server))
    #expect(try await server.lastReason() == nil)
    #expect(try await !validate(code, server))
    #expect(try await server.lastReason()?.contains("already used") == true)
    // An unused earlier step is rejected after a later one.
    let earlier = try device.code(at: server.clock.now - 30)
    #expect(try await !validate(earlier, server))
  }

  @Test("50 concurrent uses of one code: one is accepted")
  func acceptsACodeOnceInARace() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let code = try device.code(at: server.clock.now)
    let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { try await validate(code, server) } }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(accepted == 1)
  }

  @Test(
    "codes of one step either side are accepted, exact to the second",
    arguments: [(-31, false), (-30, true), (0, true), (59, true), (60, false)])
  func acceptsTheWindow(_ offset: Int64, _ isAccepted: Bool) async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    // The first second of a step; the server's clock then moves forward or back.
    let step = server.clock.now / 30 * 30
    server.clock.set(step + offset)
    let code = try device.code(at: step)
    #expect(try await validate(code, server) == isAccepted)
  }

  @Test func triesEveryContainerOfAUserAndNoOther() async throws {
    let server = try ServerFixture()
    let (one, two) = (try await server.activate(device: 1), try await server.activate(device: 2))
    let bobs = try await server.activate("bob")
    let now = server.clock.now
    #expect(try await validate(two.code(at: now), server))
    #expect(try await validate(one.code(at: now), server))
    let code = try bobs.code(at: now)
    #expect(try await !validate(code, server))
    #expect(try await validate(code, server, "bob"))
    try await server.users.revokeContainer(#require(two.container), by: .local)
    server.clock.advance(by: 30)
    #expect(try await !validate(two.code(at: server.clock.now), server))
    #expect(try await !validate("000000", server, "nobody"))
  }

  @Test("100 wrong codes lock, and the audit log does not reveal whether a later code was correct")
  func locksAndUnlocks() async throws {
    let server = try ServerFixture { $0.codes.firstWait = 0 }
    let device = try await server.activate()
    let right = try device.code(at: server.clock.now)
    for code in ["", "1", "12345", "1234567", "abcdef", "１２３４５６", "      "] {
      #expect(try await !validate(code, server))
    }
    for _ in 7..<100 { #expect(try await !validate("x", server)) }
    #expect(try await server.audit().last?.contains("\"locked\":") == true)
    #expect(try await !validate("x", server))
    let wrong = try await server.audit().last
    #expect(try await !validate(right, server))
    #expect(try await server.audit().last == wrong)
    #expect(try await server.lastReason()?.contains("unlock") == true)
    try await server.codes.unlock(UserID("alice"), by: .local)
    #expect(try await validate(right, server))
    #expect(try await problem { try await server.codes.unlock(UserID("nobody"), by: .local) } == .unknown)
  }
}
