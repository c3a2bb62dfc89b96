import PostgreSQLFixture
import SignetConcurrency
import SignetSQLite
import SignetServer
import SignetStorage
import SignetTestKit
import SignetTesting
import SignetWire
import Testing

/// What befalls a user while a code is looked at: what there is in the step that judges counts.
@Suite(.timeLimit(.minutes(10))) struct CodeInterleavingTests {
  /// The database, as another process has it.
  private static func database(of server: ServerFixture) throws -> Database {
    let database = try Database(path: "\(server.folder.path)/signet.sqlite", mode: .readWrite)
    try database.execute("PRAGMA foreign_keys = OFF")
    return database
  }

  private static func count(_ condition: String, in server: ServerFixture) throws -> Int64 {
    let row = try database(of: server).query("SELECT count(*) AS number FROM \(condition)").first
    return try #require(row).integer("number")
  }

  @Test("a code for clients of a user who is deleted meanwhile is one of an unknown user, and is not counted")
  func deletedOwner() async throws {
    let fixture = try await OpenIDFixture(on: .sqlite)
    let (server, users) = (fixture.server, fixture.server.users)
    let client = try await fixture.register()
    let interruption = StepInterruption()
    let interrupted = fixture.suffering(interruption.faults)
    let judged = "audit WHERE event LIKE '%\"event\":\"userCode.%'"
    var outcomes: [String] = []
    var hasEnded = false
    for step in 1...40 {
      let name = "user\(step)"
      try await users.add(UserID(name), by: .local)
      let code = try await users.setCode(of: UserID(name), by: .local)
      let before = try Self.count(judged, in: server)
      let isUndecided: @Sendable () throws -> Bool = { try Self.count(judged, in: server) == before }
      interruption.arm(before: step, isUndecided: isUndecided) {
        try Self.database(of: server).execute("DELETE FROM users WHERE id = ?", .text(name))
      }
      let outcome = try await interrupted.ask(client, [("login_hint", name), ("user_code", code)]).outcome
      guard let wasUndecided = interruption.disarm() else {
        hasEnded = true
        break
      }
      if wasUndecided { outcomes.append(outcome) }
    }
    #expect(hasEnded, "a request takes more than 40 steps")
    #expect(outcomes.count > 2 && Set(outcomes) == ["400 unknown_user_id"], "\(outcomes)")
    #expect(try await server.audit().allSatisfy { !$0.contains("userCode.refused") })
    #expect(try Self.count("waits", in: server) == 0)
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
