import SignetCrypto
import SignetOATH
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTestKit
import Testing

/// Imported tokens: known, assigned, verified, used, lost.
@Suite(.timeLimit(.minutes(10))) struct TokenTests {
  private static let secret = [UInt8]("12345678901234567890".utf8)

  /// The codes of RFC 4226 appendix D, counters 0 to 9.
  private static let codes = [
    "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
  ]

  private func token(_ serial: String, user: UserID? = nil, counter: Int64 = 0) throws
    -> TokenService.NewToken
  {
    try TokenService.NewToken(
      serial: TokenSerial(serial), kind: .hotp, secret: SecretBytes(copying: Self.secret), counter: counter,
      user: user)
  }

  private func add(_ server: ServerFixture, _ serial: String, user: UserID? = nil) async throws -> [String] {
    try await server.tokens.add([try server.tokens.sealed(token(serial, user: user))], by: .local)
  }

  @Test("a token counts only after its first right code")
  func verifiesBeforeUse() async throws {
    let server = try ServerFixture()
    let alice = UserID("alice")
    try await server.users.add(alice, by: .local)
    #expect(try await add(server, "s1", user: "alice") == ["s1"])
    #expect(try await add(server, "s1", user: "alice") == [])
    let asker = CodeService.Requester(.local)
    #expect(try await server.codes.validate(Self.codes[0], user: alice, by: asker).value == .refused)
    #expect(try await server.codes.verify("000000", user: alice, serial: "s1", by: asker).value == .refused)
    #expect(
      try await server.codes.verify(Self.codes[1], user: alice, serial: "s2", by: asker).value == .refused)
    #expect(
      try await server.codes.verify(Self.codes[1], user: alice, serial: "s1", by: asker).value == .accepted)
    #expect(
      try await server.codes.verify(Self.codes[2], user: alice, serial: "s1", by: asker).value == .refused)
    #expect(try await server.codes.validate(Self.codes[1], user: alice, by: asker).value == .refused)
    #expect(try await server.codes.validate(Self.codes[3], user: alice, by: asker).value == .accepted)
    #expect(try await server.codes.validate(Self.codes[2], user: alice, by: asker).value == .refused)
    let listed = try await server.tokens.list(user: alice, limit: 9)
    #expect(listed.map(\.lastCounter) == [3])
  }

  @Test("a reassigned token must be verified again, and keeps its counter")
  func changesHands() async throws {
    let server = try ServerFixture()
    let (alice, bob) = (UserID("alice"), UserID("bob"))
    for user in [alice, bob] { try await server.users.add(user, by: .local) }
    _ = try await add(server, "s1", user: "alice")
    let serial = try TokenSerial("s1")
    let asker = CodeService.Requester(.local)
    #expect(
      try await server.codes.verify(Self.codes[4], user: alice, serial: "s1", by: asker).value == .accepted)
    try await server.tokens.assign(serial, to: bob, by: .local)
    #expect(try await server.codes.validate(Self.codes[5], user: alice, by: asker).value == .refused)
    #expect(try await server.codes.validate(Self.codes[5], user: bob, by: asker).value == .refused)
    #expect(
      try await server.codes.verify(Self.codes[4], user: bob, serial: "s1", by: asker).value == .refused)
    #expect(
      try await server.codes.verify(Self.codes[5], user: nil, serial: "s1", by: asker).value == .accepted)
    #expect(try await server.codes.validate(Self.codes[6], user: bob, by: asker).value == .accepted)
    try await server.tokens.disable(serial, true, by: .local)
    #expect(try await server.codes.validate(Self.codes[7], user: bob, by: asker).value == .refused)
    try await server.tokens.disable(serial, false, by: .local)
    #expect(
      try await server.codes.resynchronise(
        (Self.codes[7], Self.codes[8]), user: nil, serial: "s1", by: asker
      ).value == .accepted)
    #expect(try await server.codes.validate(Self.codes[9], user: bob, by: asker).value == .accepted)
    try await server.tokens.remove(serial, by: .local)
    #expect(try await problem { try await server.tokens.remove(serial, by: .local) } == .unknown)
    #expect(try await problem { try await server.tokens.assign(serial, to: nil, by: .local) } == .unknown)
    let log = try await server.audit()
    for event in [
      "token.added", "token.verified", "token.assigned", "token.disabled", "token.enabled", "token.removed",
    ] {
      #expect(log.contains { $0.contains("\"\(event)\"") }, "\(event)")
    }
  }

  @Test("a locked token waits for two codes in a row, or an operator") func locks() async throws {
    let server = try ServerFixture { ($0.codeAttempts, $0.codes.firstWait) = (3, 0) }
    let alice = UserID("alice")
    try await server.users.add(alice, by: .local)
    _ = try await add(server, "s1", user: "alice")
    let asker = CodeService.Requester(.local)
    _ = try await server.codes.verify(Self.codes[0], user: alice, serial: "s1", by: asker).value
    for _ in 1...3 {
      #expect(try await server.codes.validate("000000", user: alice, by: asker).value == .refused)
    }
    #expect(try await server.codes.validate(Self.codes[1], user: alice, by: asker).value == .locked)
    #expect(try await server.tokens.list(limit: 9).map { server.tokens.isLocked($0) } == [true])
    #expect(
      try await server.codes.resynchronise((Self.codes[1], Self.codes[2]), user: alice, by: asker).value
        == .accepted)
    #expect(try await server.codes.validate(Self.codes[3], user: alice, by: asker).value == .accepted)
  }

  @Test("an invalid token is refused together with its whole import") func refusals() async throws {
    let server = try ServerFixture()
    func refusal(_ make: () throws -> Void) throws -> Problem.Code? {
      do { try make() } catch let problem as Problem { return problem.code }
      return nil
    }
    for text in ["", ".", "..", "a b", "ä", String(repeating: "1", count: 65)] {
      #expect(try refusal { _ = try TokenSerial(text) } == .malformed)
    }
    for (bytes, digits, period, counter) in [
      (15, 6, 30, 0), (129, 6, 30, 0), (20, 5, 30, 0), (20, 11, 30, 0), (20, 6, 0, 0), (20, 6, 3601, 0),
      (20, 6, 30, -1), (20, 6, 30, Int64.max),
    ] as [(Int, Int, Int, Int64)] {
      #expect(
        try refusal {
          _ = try TokenService.NewToken(
            serial: TokenSerial("s1"), kind: .totp, secret: .random(byteCount: bytes), digits: digits,
            period: period, counter: counter)
        } == .malformed)
    }
    #expect(try await problem { try await add(server, "s1", user: "nobody") } == .unknown)
    #expect(try await server.tokens.list(limit: 9).isEmpty)
  }

  @Test("tokens of one secret are sealed for their own row") func sealsForARow() async throws {
    let server = try ServerFixture()
    let records = [try server.tokens.sealed(token("s1")), try server.tokens.sealed(token("s2"))]
    #expect(records[0].id != records[1].id)
    let purpose = MasterKey.Purpose.otpSecret(credential: records[0].id)
    #expect(try server.context.masterKey.open(records[0].sealedSecret, for: purpose).byteCount == 20)
    #expect(throws: CryptoFailure.self) {
      _ = try server.context.masterKey.open(records[1].sealedSecret, for: purpose).byteCount
    }
  }

  @Test("two servers on one database file accept a code once")
  func twoServers() async throws {
    let server = try ServerFixture()
    let second = ServiceContext(
      settings: server.context.settings,
      storage: try Storage(server.location),
      masterKey: server.context.masterKey, clock: server.clock, log: server.capture.log)
    let alice = UserID("alice")
    try await server.users.add(alice, by: .local)
    _ = try await add(server, "s1", user: "alice")
    let asker = CodeService.Requester(.local)
    _ = try await server.codes.verify(Self.codes[0], user: alice, serial: "s1", by: asker).value
    let services = [server.codes, CodeService(second)]
    for code in Self.codes.dropFirst() {
      let outcomes = try await withThrowingTaskGroup(of: CodeOutcome.self) { group in
        for number in 0..<10 {
          // A separate client address for each request, so that none has to wait.
          let asker = CodeService.Requester(.local, client: "client-\(code)-\(number)")
          group.addTask { try await services[number % 2].validate(code, user: alice, by: asker).value }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes.filter { $0 == .accepted }.count == 1)
      #expect(outcomes.filter { $0 == .refused }.count == 9)
    }
    await second.storage.close()
  }
}
