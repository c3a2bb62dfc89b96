import PostgreSQLFixture
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// Changes during the check of a response: the state in the step that accepts it decides.
@Suite(.timeLimit(.minutes(10))) struct UAFInterleavingTests {
  /// A server that `interruption` interrupts, with a requirement `staff`, which every key meets at first.
  private func started(
    _ key: UAFTestKey, _ interruption: StepInterruption, _ change: (inout UAFSettings) -> Void = { _ in }
  ) async throws -> UAFServer {
    let server = try await StepInterruption.$isBackground.withValue(true) {
      try await UAFServer([key], on: .sqlite, suffering: interruption.faults, change)
    }
    Self.require(.software, on: server)
    return server
  }

  /// Sets the demand of `staff`.
  private static func require(_ protection: KeyAssurance, on server: UAFServer) {
    var requirement = AuthenticationRequirement()
    requirement.keyProtection = protection
    var settings = server.context.settings
    settings.requirements.own["staff"] = requirement
    server.context.apply(settings)
  }

  private static let staff = #"{"username":"alice","policy":"staff"}"#

  /// Repeats `respond` with `act` before another step of the server each time, followed by an undo.
  ///
  /// `respond` receives a closure that arms the interruption once the request is made, and returns the status. Only responses
  /// that were still undecided at the time of `act` are returned: the operation is pending, or `isUndecided` is true.
  private func statuses(
    _ server: UAFServer, _ interruption: StepInterruption,
    while isUndecided: (@Sendable () throws -> Bool)? = nil,
    respond: (_ interrupting: () -> Void) async throws -> Int64,
    act: @escaping @Sendable () throws -> Void, undo: () async throws -> Void
  ) async throws -> [Int64] {
    var statuses: [Int64] = []
    for step in 1...40 {
      let isRequested: @Sendable () throws -> Bool = {
        let session = try server.look("SELECT state FROM uaf_sessions ORDER BY rowid DESC LIMIT 1")
        return session["state"] == .text("requested")
      }
      let status = try await respond {
        interruption.arm(before: step, isUndecided: isUndecided ?? isRequested, act)
      }
      guard let wasUndecided = interruption.disarm() else { return statuses }
      try await undo()
      if wasUndecided {
        statuses.append(status)
      } else {
        #expect(status == 1200, "before step \(step) it was taken already")
      }
    }
    Issue.record("a response takes more than 40 steps")
    return statuses
  }

  private func authenticate(
    _ server: UAFServer, _ key: UAFTestKey, _ context: String, _ interrupting: () -> Void
  ) async throws -> Int64 {
    let request = try await server.authenticationRequest(context)
    interrupting()
    return try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(UAFServer.answer(request, key))]
    ).integer("statusCode")
  }

  @Test("a requirement tightened during an authentication refuses it")
  func tightenedAuthentication() async throws {
    var key = UAFTestKey()
    key.signCounter = 0
    let interruption = StepInterruption()
    let server = try await started(key, interruption)
    #expect(try await server.register(key).integer("statusCode") == 1200)
    let statuses = try await statuses(server, interruption) { [key] interrupting in
      try await authenticate(server, key, Self.staff, interrupting)
    } act: {
      Self.require(.hardwareAttested, on: server)
    } undo: {
      Self.require(.software, on: server)
    }
    #expect(statuses.count > 1 && Set(statuses) == [1492], "\(statuses)")
  }

  @Test("a requirement tightened during a registration refuses it")
  func tightenedRegistration() async throws {
    let (key, interruption) = (UAFTestKey(), StepInterruption())
    let server = try await started(key, interruption)
    let statuses = try await statuses(server, interruption) { interrupting in
      let request = try await server.registrationRequest(Self.staff)
      interrupting()
      return try await server.uaf(
        "/uaf/1.1/registration", ["uafResponse": .string(UAFServer.answer(request, key))]
      ).integer("statusCode")
    } act: {
      Self.require(.hardwareAttested, on: server)
    } undo: {
      Self.require(.software, on: server)
      _ = try await server.storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in .sample()
      }
    }
    #expect(statuses.count > 1 && Set(statuses) == [1492], "\(statuses)")
  }

  /// Begins an operation for a transaction; returns the UAF status, the HTTP status, or 404 if no user is asked.
  private func begin(_ path: String, for transaction: String, _ server: UAFServer) async throws -> Int64 {
    let order: JSONObject = [
      "op": "Auth", "context": .string(#"{"username":"alice","transactionId":"\#(transaction)"}"#),
    ]
    switch path {
    case "/uaf/1.1/request/authentication":
      return try await server.uaf(path, order, isOrdered: true).integer("statusCode")
    case "/token/dispatch/authentication":
      let body: JSONObject = ["dispatcher": "link", "getUafRequest": .object(order)]
      return try await server.json(path, body).string("dispatchResult") == "userNotFound" ? 404 : 200
    default:
      let type = [("Content-Type", "application/json")]
      return Int64(try await server.send(.post, path, order.bytes, type, isOrdered: true).status)
    }
  }

  @Test(
    "no operation begins for a transaction that ends meanwhile",
    arguments: [
      ("/uaf/1.1/request/authentication", 1404), ("/token/create/authentication", 404),
      ("/token/dispatch/authentication", 404),
    ] as [(String, Int64)])
  func endedTransaction(_ path: String, _ refusal: Int64) async throws {
    let (key, interruption) = (UAFTestKey(), StepInterruption())
    let server = try await started(key, interruption)
    #expect(try await server.register(key).integer("statusCode") == 1200)
    let id = try await server.json(
      "//main/v1/transactions", ["user": "alice", "text": "Pay 10 to Bob"], status: 201
    ).string("id")
    let begun = "uaf_sessions WHERE txn IS NOT NULL"
    let statuses = try await statuses(server, interruption, while: { try Self.isNone(server, begun) }) {
      interrupting in
      interrupting()
      return try await begin(path, for: id, server)
    } act: {
      try server.tamper(
        "UPDATE transactions SET state = 'withdrawn', end_reason = '', end_message = '', decided = 1")
    } undo: {
      #expect(try Self.isNone(server, begun))
      try server.tamper(
        "UPDATE transactions SET state = 'pending', end_reason = NULL, end_message = NULL, decided = NULL")
    }
    #expect(statuses.count > 1 && Set(statuses) == [refusal], "\(statuses)")
  }

  // MARK: What a user is known by

  /// The row of the device d1, locked and open; the server itself wrote both.
  private static func rows(_ server: UAFServer) async throws -> (locked: [SQLiteValue], open: [SQLiteValue]) {
    let found = try await server.storage.devices(user: "alice").first { $0.installation == "d1" }
    let (id, devices) = (try #require(found).id, DeviceService(server.context))
    func row() throws -> [SQLiteValue] {
      let row = try server.look(
        "SELECT standing, ordered_lock, ordered_reason, ordered, code FROM devices WHERE installation = 'd1'")
      return [row[0], row[1], row[2], row[3], row[4]]
    }
    _ = try await devices.lock(id, reason: "", by: .local)
    let locked = try row()
    _ = try await devices.unlock(id, by: .local)
    return (locked, try row())
  }

  private static let exchange =
    "UPDATE devices SET standing = ?, ordered_lock = ?, ordered_reason = ?, ordered = ?, code = ? WHERE installation = 'd1'"

  /// Requests an operation with alice's token.
  private func ask(
    _ server: UAFServer, _ operation: UAFOperation, _ context: String, by token: String
  ) async throws -> Int64 {
    let path = operation == .registration ? "registration" : "deregistration"
    return try await server.uaf(
      "/uaf/1.1/request/\(path)", ["op": .string(operation.rawValue), "context": .string(context)],
      [("Authorization", "Bearer \(token)")]
    ).integer("statusCode")
  }

  /// Returns whether a query finds no row.
  private static func isNone(_ server: UAFServer, _ rows: String) throws -> Bool {
    try server.look("SELECT count(*) FROM \(rows)")[0] == .integer(0)
  }

  @Test("a device locked meanwhile removes no key of another device")
  func lockedRemoval() async throws {
    var (own, other) = (UAFTestKey(), UAFTestKey())
    (own.signCounter, other.signCounter) = (0, 0)
    let interruption = StepInterruption()
    let server = try await started(own, interruption)
    let token = try UAFServer.token(await server.register(own, on: "d1"))
    let rows = try await Self.rows(server)
    let context =
      #"{"username":"alice","authenticators":[{"aaid":"\#(other.aaid.text)","keyID":"\#(other.keyID.text)"}]}"#
    let isThere: @Sendable () throws -> Bool = {
      try !Self.isNone(server, "uaf_credentials WHERE device = 'd2'")
    }
    let statuses = try await statuses(server, interruption, while: isThere) { [other] interrupting in
      if try !isThere() { try await server.register(other, on: "d2") }
      interrupting()
      return try await ask(server, .deregistration, context, by: token)
    } act: {
      try server.tamper(Self.exchange, rows.locked)
    } undo: {
      try server.tamper(Self.exchange, rows.open)
    }
    // Before the acting device is known, no such key can be removed; afterwards the removal is rejected.
    #expect(Set(statuses) == [1404, 1403], "\(statuses)")
  }

  @Test("a device locked meanwhile adds no key on another device")
  func lockedAddition() async throws {
    var key = UAFTestKey()
    key.signCounter = 0
    let interruption = StepInterruption()
    let server = try await started(key, interruption)
    let token = try UAFServer.token(await server.register(key, on: "d1"))
    let rows = try await Self.rows(server)
    let statuses = try await registrations(server, interruption, by: token) {
      try server.tamper(Self.exchange, rows.locked)
    } undo: {
      try server.tamper(Self.exchange, rows.open)
    }
    #expect(Set(statuses) == [1401, 1403], "\(statuses)")
  }

  @Test(
    "a token is refused if the default policy's requirement is tightened meanwhile"
  )
  func tightenedAuthorization() async throws {
    var key = UAFTestKey()
    key.signCounter = 0
    let interruption = StepInterruption()
    let server = try await started(key, interruption) { $0.requirements["default"] = "staff" }
    #expect(try await server.register(key).integer("statusCode") == 1200)
    let token = try UAFServer.token(await server.authenticate(key))
    let statuses = try await registrations(server, interruption, by: token) {
      Self.require(.hardwareAttested, on: server)
    } undo: {
      Self.require(.software, on: server)
    }
    #expect(statuses.count > 1 && Set(statuses) == [1401], "\(statuses)")
  }

  /// Does the same as ``statuses(_:_:while:respond:act:undo:)`` for the beginning of a registration.
  private func registrations(
    _ server: UAFServer, _ interruption: StepInterruption, by token: String,
    act: @escaping @Sendable () throws -> Void, undo: () async throws -> Void
  ) async throws -> [Int64] {
    let begun = "uaf_sessions WHERE operation = 'Reg' AND state = 'requested'"
    return try await statuses(server, interruption, while: { try Self.isNone(server, begun) }) {
      interrupting in
      if try !Self.isNone(server, begun) { try server.tamper("DELETE FROM \(begun)") }
      interrupting()
      return try await ask(server, .registration, #"{"username":"alice"}"#, by: token)
    } act: {
      try act()
    } undo: {
      try await undo()
    }
  }

  @Test("a response is refused if its key was replaced meanwhile")
  func exchangedKey() async throws {
    var key = UAFTestKey()
    key.signCounter = 0
    var other = key
    other.privateKey = P256.Signing.PrivateKey()
    let interruption = StepInterruption()
    let server = try await started(key, interruption)
    // The server itself wrote both rows, at different times.
    var rows: [[SQLiteValue]] = []
    for one in [other, key] {
      _ = try await server.storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in .sample()
      }
      #expect(try await server.register(one).integer("statusCode") == 1200)
      let row = try server.look("SELECT public_key, code FROM uaf_credentials")
      rows.append([row[0], row[1]])
    }
    let (others, own) = (rows[0], rows[1])
    let exchange = "UPDATE uaf_credentials SET public_key = ?, code = ?"
    let statuses = try await statuses(server, interruption) { [key] interrupting in
      try await authenticate(server, key, #"{"username":"alice"}"#, interrupting)
    } act: {
      try server.tamper(exchange, others)
    } undo: {
      try server.tamper(exchange, own)
    }
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.state) == [.active])
    #expect(statuses.count > 1 && !statuses.contains(1200) && statuses.last == 1481, "\(statuses)")
  }
}
