import PostgreSQLFixture
import SignetCrypto
import SignetJSON
import SignetSQLite
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// What befalls a response while it is looked at: it is held against what there is in the step that takes it.
@Suite(.timeLimit(.minutes(10))) struct UAFInterleavingTests {
  /// A server that `interruption` interrupts, and that knows a requirement `staff`, which everything meets.
  private func started(_ key: UAFTestKey, _ interruption: StepInterruption) async throws -> UAFServer {
    let server = try await StepInterruption.$isBackground.withValue(true) {
      try await UAFServer([key], on: .sqlite, suffering: interruption.faults)
    }
    Self.require(.software, on: server)
    return server
  }

  /// Says what `staff` means.
  private static func require(_ protection: KeyAssurance, on server: UAFServer) {
    var requirement = AuthenticationRequirement()
    requirement.keyProtection = protection
    var settings = server.context.settings
    settings.requirements.add("staff", requirement)
    server.context.apply(settings)
  }

  private static let staff = #"{"username":"alice","policy":"staff"}"#

  /// Has `respond` take a response again and again, with `act` done before another step of the server each time, and undone.
  ///
  /// What it gets has the interruption set once the request is made, and returns the status of the response. The statuses are those of
  /// responses that were not taken yet when `act` was done.
  private func statuses(
    _ server: UAFServer, _ interruption: StepInterruption,
    respond: (_ interrupting: () -> Void) async throws -> Int64,
    act: @escaping @Sendable () throws -> Void, undo: () async throws -> Void
  ) async throws -> [Int64] {
    var statuses: [Int64] = []
    for step in 1...40 {
      let isUndecided: @Sendable () throws -> Bool = {
        let session = try server.look("SELECT state FROM uaf_sessions ORDER BY rowid DESC LIMIT 1")
        return session["state"] == .text("requested")
      }
      let status = try await respond { interruption.arm(before: step, isUndecided: isUndecided, act) }
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

  @Test("a response is refused if its key was exchanged meanwhile")
  func exchangedKey() async throws {
    var key = UAFTestKey()
    key.signCounter = 0
    var other = key
    other.privateKey = P256.Signing.PrivateKey()
    let interruption = StepInterruption()
    let server = try await started(key, interruption)
    // Both rows are the server's own: each was there at its time.
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
