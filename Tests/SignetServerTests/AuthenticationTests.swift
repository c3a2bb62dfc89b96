import SignetCrypto
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// Authentication of requests: devices' signatures and API keys (`docs/protocol.md` sections 4 and 7).
@Suite(.timeLimit(.minutes(10))) struct AuthenticationTests {
  private static let path = "/main/v1/device/transactions"

  private func check(
    _ server: ServerFixture, _ authorization: String?, _ method: String = "POST", _ path: String = path,
    _ body: [UInt8] = [1]
  ) async throws -> Problem.Code? {
    try await problem {
      try await DeviceAuthentication(server.context).request(
        authorization: authorization, method: method, path: path, body: body
      ).container
    }
  }

  @Test func acceptsARequestOnce() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let header = try await device.authorization("POST", Self.path, [1], at: server.clock.now)
    #expect(try await check(server, header) == nil)
    #expect(try await check(server, header) == .unauthorized)
    server.clock.advance(by: 120)
    #expect(try await check(server, header) == .unauthorized)
  }

  @Test("a request dated in the future is not accepted again after the ids were swept")
  func keepsIDsLongEnough() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let header = try await device.authorization("POST", Self.path, [1], at: server.clock.now + 120)
    #expect(try await check(server, header) == nil)
    for _ in 0..<300 {
      server.clock.advance(by: 1)
      _ = try await server.storage.sweep(at: server.clock.now) { .sample("\($0)") }
      #expect(try await check(server, header) == .unauthorized)
    }
  }

  @Test("moving the clock by 15 minutes, back or forth, allows no replay of a request")
  func keepsIDsWhereTheClockIsSetBack() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let begin = server.clock.now
    let header = try await device.authorization("POST", Self.path, [1], at: begin)
    #expect(try await check(server, header) == nil)
    for time in [begin + 900, begin, begin + 600, begin + 120, begin + 1020, begin + 119, begin - 120] {
      server.clock.set(time)
      _ = try await server.storage.sweep(at: time) { .sample("\($0)") }
      #expect(try await check(server, header) == .unauthorized, "\(time - begin)")
    }
    server.clock.set(begin + 900 + 241)
    #expect(try await server.storage.sweep(at: server.clock.now) { .sample("\($0)") } == 0)
  }

  @Test("50 concurrent copies of one request: one is accepted")
  func acceptsARequestOnceInARace() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let header = try await device.authorization("POST", Self.path, [1], at: server.clock.now)
    let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { try await check(server, header) == nil } }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(accepted == 1)
  }

  @Test func refusesWhatWasSignedForAnotherRequest() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let header = try await device.authorization("POST", Self.path, [1], at: server.clock.now)
    #expect(try await check(server, header, "GET") == .unauthorized)
    #expect(try await check(server, header, "POST", Self.path + "/x") == .unauthorized)
    #expect(try await check(server, header, "POST", "/other/v1/device/transactions") == .unauthorized)
    #expect(try await check(server, header, "POST", Self.path, [2]) == .unauthorized)
    // A rejected request does not use up its ID.
    #expect(try await check(server, header) == nil)
  }

  @Test(arguments: [(-121, false), (-120, true), (120, true), (121, false)])
  func allowsTwoMinutes(_ offset: Int64, _ isAccepted: Bool) async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let header = try await device.authorization("POST", Self.path, [1], at: server.clock.now + offset)
    #expect(try await check(server, header) == (isAccepted ? nil : .unauthorized))
  }

  @Test func survivesImpossibleTimes() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    for time in [Int64.min, .max, 0, -1] {
      let header = try await device.authorization("POST", Self.path, [1], at: time)
      #expect(try await check(server, header) == .unauthorized)
    }
  }

  @Test func knowsNoOtherContainers() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let stranger = P256.Signing.PrivateKey()
    let proof = RequestProof(
      method: "POST", path: Self.path, body: [1], time: server.clock.now, random: SystemRandomSource())
    let container = try #require(device.container)
    let forged = try await proof.authorization(container: container, by: stranger.signature(for:))
    #expect(try await check(server, forged) == .unauthorized)
    let unknown = try await proof.authorization(
      container: ContainerID("nothing"), by: stranger.signature(for:))
    #expect(try await check(server, unknown) == .containerUnknown)
    for header in [nil, "", "Signet", "Signet x.y.z", "Bearer abc"] {
      #expect(try await check(server, header) == .unauthorized)
    }
    try await server.users.revokeContainer(container, by: .local)
    let header = try await device.authorization("POST", Self.path, [1], at: server.clock.now)
    #expect(try await check(server, header) == .containerUnknown)
  }

  @Test func checksAPIKeys() async throws {
    let server = try ServerFixture()
    let key = try await server.keys.create(name: "shop", scopes: [.relyingParty], by: .local)
    func check(_ header: String?, _ scope: APIKeyService.Scope = .relyingParty) async throws -> Problem.Code?
    {
      try await problem { try await server.keys.key(authorization: header, scope: scope) }
    }
    #expect(try await check("Bearer \(key.text)") == nil)
    #expect(try await check("bearer \(key.text)") == nil)
    #expect(try await check("Bearer \(key.text)", .admin) == .forbidden)
    let other = try await server.keys.create(name: "other", scopes: [.admin], by: .local)
    let mixed = "signet_\(key.id)_" + (other.text.split(separator: "_", maxSplits: 2).last ?? "")
    for header in [
      nil, "", "Bearer", "Bearer ", key.text, "Basic \(key.text)", "Bearer \(key.text)x",
      "Bearer \(key.text.dropLast())", "Bearer \(mixed)", "Bearer signet_\(key.id)_", "Bearer signet__",
      "Bearer signet_\(key.id)", "Bearer " + String(repeating: "a", count: 300),
    ] {
      #expect(try await check(header) == .unauthorized, "\(header ?? "none")")
    }
    try await server.keys.revoke(key.id, by: .local)
    #expect(try await check("Bearer \(key.text)") == .unauthorized)
    #expect(try await check("Bearer \(key.text)", .admin) == .unauthorized)
    #expect(try await problem { try await server.keys.revoke("none", by: .local) } == .unknown)
  }

  @Test(arguments: ["", "a\u{1B}[2J", "a\nb", "a\u{202E}b", String(repeating: "x", count: 129)])
  func refusesNamesOfKeys(_ name: String) async throws {
    let server = try ServerFixture()
    #expect(
      try await problem { try await server.keys.create(name: name, scopes: [.admin], by: .local) }
        == .malformed)
    #expect(
      try await problem { try await server.keys.create(name: "a", scopes: [], by: .local) } == .malformed)
  }

  @Test("the last valid operator key cannot be revoked")
  func keepsTheLastAdminKey() async throws {
    let server = try ServerFixture()
    let first = try await server.keys.create(name: "operator", scopes: [.admin], by: .local)
    _ = try await server.keys.create(name: "shop", scopes: [.relyingParty], by: .local)
    #expect(try await problem { try await server.keys.revoke(first.id, by: .local) } == .lastAdminKey)
    _ = try await server.keys.key(authorization: "Bearer \(first.text)", scope: .admin)
    let second = try await server.keys.create(name: "second", scopes: [.admin], by: .local)
    try await server.keys.revoke(first.id, by: .local)
    #expect(try await problem { try await server.keys.revoke(second.id, by: .local) } == .lastAdminKey)
    #expect(Problem.Code.lastAdminKey.status == 409)
    #expect(Problem.Code.lastAdminKey.rawValue == "key.last")
  }
}
