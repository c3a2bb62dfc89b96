import PostgreSQLFixture
import SignetProtocol
import SignetServer
import SignetSQLite
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import Testing

/// Changes to a user during the check of a code: the state in the step that judges the code decides.
@Suite(.timeLimit(.minutes(10))) struct CodeInterleavingTests {
  /// A connection to the database, as another process has one.
  private static func database(of server: ServerFixture) throws -> Database {
    let database = try Database(path: "\(server.folder.path)/signet.sqlite", mode: .readWrite)
    try database.execute("PRAGMA foreign_keys = OFF")
    return database
  }

  private static func count(_ condition: String, in server: ServerFixture) throws -> Int64 {
    let row = try database(of: server).query("SELECT count(*) AS number FROM \(condition)").first
    return try #require(row).integer("number")
  }

  /// Makes requests to users by their codes, each with a change before another step of the server.
  ///
  /// - Parameters:
  ///   - fixture: The server.
  ///   - prepare: Gives the user of this name a code; returns the code and the change.
  /// - Throws: Errors of the setup.
  /// - Returns: The outcomes of the requests whose code was not judged yet at the time of the change.
  private static func outcomes(
    _ fixture: OpenIDFixture,
    _ prepare: (String) async throws -> (code: String, act: @Sendable () throws -> Void)
  ) async throws -> [String] {
    let server = fixture.server
    let client = try await fixture.register()
    let interruption = StepInterruption()
    let interrupted = fixture.suffering(interruption.faults)
    let judged = "audit WHERE event LIKE '%\"event\":\"userCode.%'"
    var outcomes: [String] = []
    for step in 1...40 {
      let name = "user\(step)"
      try await server.users.add(UserID(name), by: .local)
      let (code, act) = try await prepare(name)
      let before = try Self.count(judged, in: server)
      let isUndecided: @Sendable () throws -> Bool = { try Self.count(judged, in: server) == before }
      interruption.arm(before: step, isUndecided: isUndecided, act)
      let outcome = try await interrupted.ask(client, [("login_hint", name), ("user_code", code)]).outcome
      guard let wasUndecided = interruption.disarm() else { return outcomes }
      if wasUndecided { outcomes.append(outcome) }
    }
    Issue.record("a request takes more than 40 steps")
    return outcomes
  }

  @Test("a code for clients of a user who is deleted meanwhile is one of an unknown user, and is not counted")
  func deletedOwner() async throws {
    let fixture = try await OpenIDFixture(on: .sqlite)
    let server = fixture.server
    let outcomes = try await Self.outcomes(fixture) { name in
      let code = try await server.users.setCode(of: UserID(name), by: .local)
      return (code, { try Self.database(of: server).execute("DELETE FROM users WHERE id = ?", .text(name)) })
    }
    #expect(outcomes.count > 2 && Set(outcomes) == ["400 unknown_user_id"], "\(outcomes)")
    #expect(try await server.audit().allSatisfy { !$0.contains("userCode.refused") })
    #expect(try Self.count("waits", in: server) == 0)
  }

  @Test("a code for clients that is replaced meanwhile is wrong")
  func replacedCode() async throws {
    let fixture = try await OpenIDFixture(on: .sqlite)
    let server = fixture.server
    // The server itself wrote both rows, at different times.
    let outcomes = try await Self.outcomes(fixture) { name in
      func row() throws -> [SQLiteValue] {
        let found = try Self.database(of: server).query(
          "SELECT user_code, code FROM users WHERE id = ?", .text(name)
        ).first
        let row = try #require(found)
        return [row[0], row[1], .text(name)]
      }
      let exchange = "UPDATE users SET user_code = ?, code = ? WHERE id = ?"
      let code = try await server.users.setCode(of: UserID(name), by: .local)
      let old = try row()
      _ = try await server.users.setCode(of: UserID(name), by: .local)
      let new = try row()
      try Self.database(of: server).execute(exchange, old)
      return (code, { try Self.database(of: server).execute(exchange, new) })
    }
    #expect(outcomes.count > 2 && Set(outcomes) == ["400 invalid_user_code"], "\(outcomes)")
  }

  @Test("a one-time password of a user who is deleted meanwhile is recorded as one of an unknown user")
  func deletedUser() async throws {
    let server = try ServerFixture(on: .sqlite)
    let device = try await server.activate()
    let code = try device.code(at: server.clock.now)
    let interruption = StepInterruption()
    let codes = CodeService(server.context(suffering: interruption.faults))
    interruption.arm(before: 1, isUndecided: { true }) {
      let database = try Self.database(of: server)
      for table in ["credentials", "users"] { try database.execute("DELETE FROM \(table)") }
    }
    let outcome = try await codes.validate(code, user: device.user, by: .init(.local)).value
    #expect(interruption.disarm() == true && outcome == .refused)
    let refusals = try await server.audit().filter { $0.contains("code.refused") }
    #expect(
      refusals.count == 1 && refusals.allSatisfy { $0.contains("unknown user") }, "\(refusals)")
  }
}
