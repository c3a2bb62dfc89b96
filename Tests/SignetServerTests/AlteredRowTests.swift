import PostgreSQLFixture
import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import Testing

/// Rows of users, containers, codes, invites and keys that an attacker has written.
///
/// `RowMACTests` has the covered columns of each table, on both databases.
@Suite(.timeLimit(.minutes(10))) struct AlteredRowTests {
  /// A change to the database by an attacker, and the attacker's goal.
  struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    let table: String
    let change: String
    /// Prepares the attacked state.
    let prepare: @Sendable (Bench) async throws -> Void
    /// Tries to reach the attacker's goal.
    let attempt: @Sendable (Bench) async throws -> Void

    var testDescription: String { name }
  }

  /// A server with a device, a key and a client's invite; each attack uses some of them.
  struct Bench: Sendable {
    let server: ServerFixture
    let device: ProtocolDevice
    let container: ContainerID
    let key: APIKeyService.NewKey

    func tamper(_ statement: String, _ values: SQLiteValue...) throws {
      try server.folder.tamper(statement, values)
    }

    func validate() async throws {
      let code = try device.code(at: server.clock.now)
      let outcome = try await server.codes.validate(code, user: device.user, by: .init(.local)).value
      #expect(outcome == .refused)
    }

    func authenticate(_ scope: APIKeyService.Scope) async throws {
      _ = try await server.keys.key(authorization: "Bearer \(key.text)", scope: scope)
    }
  }

  private static func bench() async throws -> Bench {
    let server = try ServerFixture(on: .sqlite)
    let device = try await server.activate()
    let key = try await server.keys.create(name: "shop", scopes: [.relyingParty], by: .local)
    return Bench(server: server, device: device, container: try #require(device.container), key: key)
  }

  static let attacks: [Attack] = [
    Attack(
      name: "a suspension is ended", table: "users", change: "UPDATE users SET state = 'active'"
    ) {
      _ = try await $0.server.users.suspend(UserID("alice"), reason: "", by: .local)
    } attempt: {
      try await $0.validate()
    },
    Attack(
      name: "a suspended user's device goes on", table: "users", change: "UPDATE users SET state = 'active'"
    ) {
      _ = try await $0.server.users.suspend(UserID("alice"), reason: "", by: .local)
    } attempt: {
      try await $0.device.send(to: $0.server)
    },
    Attack(
      name: "a suspended user is gone, and the codes go on", table: "users", change: "DELETE FROM users"
    ) {
      _ = try await $0.server.users.suspend(UserID("alice"), reason: "", by: .local)
    } attempt: {
      try await $0.validate()
    },
    Attack(
      name: "a suspended user is gone, and the device goes on", table: "users", change: "DELETE FROM users"
    ) {
      _ = try await $0.server.users.suspend(UserID("alice"), reason: "", by: .local)
    } attempt: {
      try await $0.device.send(to: $0.server)
    },
    Attack(
      name: "a container is in use again", table: "containers",
      change: "UPDATE containers SET state = 'active'"
    ) {
      try await $0.server.users.revokeContainer($0.container, by: .local)
    } attempt: {
      try await $0.device.send(to: $0.server)
    },
    Attack(
      name: "a lock of a container is ended", table: "containers",
      change: "UPDATE containers SET standing = 'open'"
    ) {
      _ = try await DeviceManagement($0.server.context).command(
        .lock, for: $0.container, reason: "", by: .local)
    } attempt: {
      try await $0.device.send(to: $0.server)
    },
    Attack(
      name: "a used code is good again", table: "credentials",
      change: "UPDATE credentials SET last_counter = -1"
    ) { bench in
      let code = try bench.device.code(at: bench.server.clock.now)
      let outcome = try await bench.server.codes.validate(code, user: bench.device.user, by: .init(.local))
        .value
      #expect(outcome == .accepted)
    } attempt: {
      try await $0.validate()
    },
    Attack(
      name: "an invite is somebody else's", table: "activations",
      change: "UPDATE activations SET user_id = 'alice' WHERE state = 'open'"
    ) {
      _ = try await $0.server.invite("mallory")
    } attempt: {
      _ = try await $0.server.activations.start($0.device.start.bytes)
    },
    Attack(
      name: "a revoked key is good", table: "api_keys", change: "UPDATE api_keys SET revoked = NULL"
    ) {
      try await $0.server.keys.revoke($0.key.id, by: .local)
    } attempt: {
      try await $0.authenticate(.relyingParty)
    },
    Attack(
      name: "a key may do more", table: "api_keys",
      change: "UPDATE api_keys SET scopes = 'relying-party admin'"
    ) { _ in
    } attempt: {
      try await $0.authenticate(.admin)
    },
  ]

  @Test("an altered row is refused and named in the log", arguments: attacks)
  func refused(_ attack: Attack) async throws {
    let bench = try await Self.bench()
    try await attack.prepare(bench)
    let before = try await bench.server.audit()
    try bench.tamper(attack.change)
    do {
      try await attack.attempt(bench)
      Issue.record("it succeeds")
    } catch StorageFailure.altered(_, let table) {
      #expect(table == attack.table)
    }
    #expect(try await bench.server.audit() == before)
  }

  @Test("a key of a container that was exchanged signs nothing") func exchangedKeys() async throws {
    let bench = try await Self.bench()
    let thief = P256.Signing.PrivateKey()
    try bench.tamper("UPDATE containers SET session_key = ?", .blob(thief.publicKey.x963Representation))
    var device = bench.device
    device.session = thief
    await #expect(throws: StorageFailure.altered(row: bench.container.text, of: "containers")) {
      try await device.send(to: bench.server)
    }
  }

  @Test("operators see altered rows and can end them")
  func shown() async throws {
    let bench = try await Self.bench()
    let (server, user) = (bench.server, bench.device.user)
    // Suspending a user writes the row anew; then the user is resumed.
    try bench.tamper("UPDATE users SET created = 1")
    #expect(try await server.users.all().map(\.state) == [.altered])
    #expect(try await server.users.find(user).state == .altered)
    #expect(try await problem { try await server.users.resume(user, by: .local) } == .userNotActive)
    await #expect(throws: StorageFailure.self) { try await bench.validate() }
    #expect(try await server.users.suspend(user, reason: "altered", by: .local).state == .suspended)
    #expect(try await server.users.resume(user, by: .local).state == .active)
    // A container is revoked.
    try bench.tamper("UPDATE containers SET keystore = 'tpm2'")
    #expect(try await server.users.containers(of: user).map(\.state) == [.altered])
    #expect(try await server.users.container(bench.container).state == .altered)
    let holdings = try await server.storage.holdings(of: "alice", codeAttempts: 5).authenticators
    #expect(holdings.map(\.state) == [.altered])
    #expect(try await server.users.revokeContainer(bench.container, by: .local).state == .revoked)
    #expect(try await server.storage.credential(ID(of: bench.container)) == nil)
    // A key is revoked.
    try bench.tamper("UPDATE api_keys SET name = 'x'")
    #expect(try await server.keys.all().map(\.isAltered) == [true])
    try await server.keys.revoke(bench.key.id, by: .local)
    #expect(try await server.keys.all().map(\.isAltered) == [false])
    #expect(
      try await problem {
        try await server.keys.key(authorization: "Bearer \(bench.key.text)", scope: .relyingParty)
      } == .unauthorized)
    // Another invite replaces the altered one.
    _ = try await server.invite("alice")
    try bench.tamper("UPDATE activations SET expires = expires + 1 WHERE state = 'open'")
    await #expect(throws: StorageFailure.self) {
      _ = try await server.activations.start(bench.device.start.bytes)
    }
    _ = try await server.activate("alice")
  }

  @Test("an altered container is reported to its device and to operators until it is revoked")
  func alteredContainer() async throws {
    let bench = try await Self.bench()
    let (server, container) = (bench.server, bench.container)
    let accounts = DeviceManagement(server.context)
    try bench.tamper("UPDATE containers SET keystore = 'tpm2'")
    for action in [DeviceCommand.Action.lock, .unlock, .wipe] {
      let refusal = try await problem {
        try await accounts.command(action, for: container, reason: "", by: .local)
      }
      #expect(refusal == .containerAltered, "\(action)")
    }
    #expect(
      try await problem { try await accounts.attach([:], to: container, by: .local) }
        == .containerAltered)
    #expect(
      try await problem { try await RenewalService(server.context).ask(container, by: .local) }
        == .containerAltered)
    #expect(try await problem { try await bench.device.send(to: server) } == .containerAltered)
    let named = Dialect.problem(
      StorageFailure.altered(row: container.text, of: "containers"), server.context.log)
    #expect(named.detail.contains("signet-server container revoke \(container)"))
    #expect(server.capture.lines.contains { $0.contains("\(container) of containers") })
    // For rows of other tables, the answer says only that the server failed.
    let other = StorageFailure.altered(row: container.text, of: "credentials")
    #expect(Dialect.problem(other, server.context.log).code == .serverFailure)
    #expect(try await server.users.revokeContainer(container, by: .local).state == .revoked)
    #expect(try await problem { try await bench.device.send(to: server) } == .containerUnknown)
  }

  @Test("a container of an altered user row can be locked, and its pending request ends")
  func lockedAllTheSame() async throws {
    let bench = try await Self.bench()
    let order = TransactionDraft(.text("Pay 10"), from: "Shop", user: bench.device.user)
    let request = try await bench.server.transactions.create(order, by: .local).record.id
    try bench.tamper("UPDATE users SET created = 1")
    let accounts = DeviceManagement(bench.server.context)
    _ = try await accounts.command(.lock, for: bench.container, reason: "lost", by: .local)
    #expect(try await bench.server.storage.container(bench.container)?.compliance == .locked)
    #expect(try await bench.server.storage.transaction(request)?.state == .withdrawn)
  }

  @Test(
    "invalid values in a row do not prevent an operator from locking, revoking and suspending",
    arguments: [
      "UPDATE users SET state = 'x'", "UPDATE credentials SET kind = 'x'", "UPDATE credentials SET drift = 1",
      "UPDATE account_states SET verdict = 'x'", "UPDATE account_orders SET action = 'x'",
      "UPDATE transactions SET initiated = 2", "UPDATE containers SET standing = 'x'",
      "UPDATE transactions SET id = 'no id'", "UPDATE account_orders SET id = 'no id ' || number",
    ])
  func undecodable(_ change: String) async throws {
    let bench = try await Self.bench()
    let (server, accounts) = (bench.server, DeviceManagement(bench.server.context))
    for action in [DeviceCommand.Action.lock, .unlock] {
      _ = try await accounts.command(action, for: bench.container, reason: "", by: .local)
    }
    let order = TransactionDraft(.text("Pay 10"), from: "Shop", user: bench.device.user)
    _ = try await server.transactions.create(order, by: .local)
    try bench.tamper(change)
    if change.contains("containers") {
      #expect(try await server.users.container(bench.container).state == .altered)
    } else {
      _ = try await accounts.command(.lock, for: bench.container, reason: "lost", by: .local)
      #expect(try await server.storage.container(bench.container)?.compliance == .locked)
    }
    #expect(try await server.users.all().count == 1)
    #expect(try await server.users.revokeContainer(bench.container, by: .local).state == .revoked)
    #expect(try await server.users.suspend(bench.device.user, reason: "", by: .local).state == .suspended)
    #expect(try await server.users.delete(bench.device.user, by: .local).state == .deleted)
  }

  @Test("a forged command is not sent to the device, and operators see it")
  func madeUpOrder() async throws {
    let bench = try await Self.bench()
    let accounts = DeviceManagement(bench.server.context)
    let id = DeviceCommandID(random: SystemRandomSource())
    try bench.tamper(
      "INSERT INTO account_orders (id, container, action, reason, created) VALUES (?, ?, 'wipe', '', 0)",
      .text(id.text), .text(bench.container.text))
    let listed = try await bench.server.storage.deviceCommands(of: bench.container)
    #expect(listed.map(\.isAltered) == [true] && listed.map(\.isOpen) == [false])
    #expect(listed.map(\.reason) == ["its row was not written by this server"])
    let container = try #require(try await bench.server.storage.container(bench.container))
    let request = [UInt8](repeating: 1, count: 16)
    let answer = try await accounts.answer(nil, for: container, request: request)
    let payload = try Base64URL.decode(String(answer.split(separator: ".")[1]))
    #expect(!String(decoding: payload, as: UTF8.self).contains(id.text))
    await #expect(throws: StorageFailure.altered(row: id.text, of: "account_orders")) {
      let event = AuditRecord.sample()
      _ = try await bench.server.storage.receiveDeviceCommand(
        id, of: bench.container, receipt: "r", at: 9, audit: event
      ) { _ in event }
    }
    // An altered row does not keep an order of the server from the device either.
    _ = try await accounts.command(.lock, for: bench.container, reason: "lost", by: .local)
    _ = try await accounts.command(.unlock, for: bench.container, reason: "found", by: .local)
    #expect(try await bench.server.storage.container(bench.container)?.compliance == .open)
  }

  @Test(
    "an altered or missing account state counts as a lock",
    arguments: [false, true])
  func compliance(_ isRemoved: Bool) async throws {
    let bench = try await Self.bench()
    let accounts = DeviceManagement(bench.server.context)
    _ = try await accounts.command(.lock, for: bench.container, reason: "lost", by: .local)
    try bench.tamper(
      isRemoved
        ? "DELETE FROM account_states" : "UPDATE account_states SET ordered_lock = 0, verdict = 'open'")
    let state = try await bench.server.storage.accountState(of: bench.container)
    #expect(state?.compliance == .locked)
    #expect(state?.reason == "its row was not written by this server")
    _ = try await accounts.command(.unlock, for: bench.container, reason: "", by: .local)
    #expect(try await bench.server.storage.accountState(of: bench.container)?.compliance == .open)
    #expect(try await bench.server.storage.container(bench.container)?.compliance == .open)
  }

  @Test(
    "an altered retired signing key is not published and is logged")
  func retiredSigningKey() async throws {
    let bench = try await Self.bench()
    let service = SigningKeyService(bench.server.context)
    for _ in 0..<2 { _ = try await service.rotate(by: .local) }
    let keys = try await service.records().all
    try #require(keys.count == 3)
    try bench.tamper("UPDATE signing_keys SET created = 9 WHERE id = ?", .text(keys[1].id))
    #expect(try await service.records().all.filter(\.isAltered).map(\.id) == [keys[1].id])
    #expect(try await service.currentPublicKey().thumbprint == keys[2].id)
    #expect(try await service.published().keys.map(\.thumbprint) == [keys[0].id, keys[2].id])
    #expect(try await bench.server.activate(device: 2).serverKey?.thumbprint == keys[2].id)
    #expect(
      bench.server.capture.lines.contains { $0.contains("signingKey.altered") && $0.contains(keys[1].id) })
  }

  @Test(
    "with an altered current signing key nothing is signed until rotation; codes are still verified",
    arguments: ["created = 9", "retired = 9"])
  func presentSigningKey(_ change: String) async throws {
    let bench = try await Self.bench()
    let service = SigningKeyService(bench.server.context)
    let first = try await service.currentPublicKey().thumbprint
    try bench.tamper("UPDATE signing_keys SET \(change)")
    await #expect(throws: StorageFailure.altered(row: first, of: "signing_keys")) {
      _ = try await service.currentPublicKey()
    }
    await #expect(throws: StorageFailure.self) { _ = try await service.published() }
    let code = try bench.device.code(at: bench.server.clock.now)
    let outcome = try await bench.server.codes.validate(code, user: bench.device.user, by: .init(.local))
      .value
    #expect(outcome == .accepted)
    let made = try await service.rotate(by: .local)
    #expect(made.succession == nil, "what was altered gives no word")
    #expect(try await service.currentPublicKey().thumbprint == made.id)
    #expect(try await service.published().keys.map(\.thumbprint) == [made.id])
    #expect(try await service.records().all.map(\.isAltered) == [true, false])
    #expect(try await service.rotate(by: .local).succession != nil)
  }

  @Test("a removed signing key is not replaced without an operator")
  func removedSigningKey() async throws {
    let bench = try await Self.bench()
    let service = SigningKeyService(bench.server.context)
    let first = try await service.currentPublicKey().thumbprint
    _ = try await service.rotate(by: .local)
    try bench.tamper("DELETE FROM signing_keys WHERE retired IS NULL")
    await #expect(throws: StorageFailure.altered(row: "the key that signs", of: "signing_keys")) {
      _ = try await service.currentPublicKey()
    }
    #expect(try await service.published().keys.map(\.thumbprint) == [first])
    #expect(try await service.records().all.map(\.id) == [first])
    #expect(bench.server.capture.lines.contains { $0.contains("signingKey.removed") })
    let made = try await service.rotate(by: .local)
    #expect(made.succession == nil, "nobody knows which one it follows")
    #expect(try await service.currentPublicKey().thumbprint == made.id)
  }

  @Test("if all signing keys were removed, only an operator makes a new one; codes are still verified")
  func emptiedSigningKeys() async throws {
    let bench = try await Self.bench()
    let service = SigningKeyService(bench.server.context)
    try bench.tamper("DELETE FROM signing_keys")
    await #expect(throws: StorageFailure.altered(row: "the key that signs", of: "signing_keys")) {
      _ = try await service.currentPublicKey()
    }
    await #expect(throws: StorageFailure.self) { _ = try await service.published() }
    #expect(try await service.records().all.isEmpty)
    let line = bench.server.capture.lines.first { $0.contains("signingKey.removed") }
    #expect(try #require(line).contains("signet-server restore"))
    let code = try bench.device.code(at: bench.server.clock.now)
    let outcome = try await bench.server.codes.validate(code, user: bench.device.user, by: .init(.local))
      .value
    #expect(outcome == .accepted)
    // Without a container, the log still has the entry.
    try await bench.server.users.revokeContainer(bench.container, by: .local)
    await #expect(throws: StorageFailure.self) { _ = try await service.currentPublicKey() }
    let made = try await service.rotate(by: .local)
    #expect(made.succession == nil, "nobody knows which one it follows")
    #expect(try await service.published().keys.map(\.thumbprint) == [made.id])
  }

  @Test("signing keys keep their order after their numbers were altered")
  func numberedSigningKeys() async throws {
    let bench = try await Self.bench()
    let service = SigningKeyService(bench.server.context)
    for _ in 0..<2 {
      bench.server.clock.advance(by: 1)
      _ = try await service.rotate(by: .local)
    }
    let keys = try await service.records().all
    try bench.tamper("UPDATE signing_keys SET number = 100 - number")
    #expect(try await service.records().all == keys)
    #expect(try await service.published().keys.map(\.thumbprint) == keys.map(\.id))
  }
}
