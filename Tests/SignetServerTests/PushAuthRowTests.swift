import PostgreSQLFixture
import SignetHTTPServer
import SignetProtocol
import SignetPushAuth
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTesting
import Testing

/// An attacker who can write to the database, without the master key, cannot decide by an authenticator app.
@Suite(.timeLimit(.minutes(10))) struct PushAuthRowTests {
  private static func bench() async throws -> AuthenticatorBench {
    let bench = try await AuthenticatorBench([.app], on: .sqlite)
    try await bench.server.users.add(UserID("bob"), by: .local)
    return bench
  }

  private static func mechanism(_ bench: AuthenticatorBench) async throws -> PushAuthMechanismRecord {
    try #require(await bench.server.storage.pushAuthMechanisms(user: "alice").first)
  }

  @Test(
    "an app with an altered row is shown as altered, and can be removed",
    arguments: [
      "user_id = 'bob'", "mechanism = 'other'", "sealed_secret = x'00'", "challenge = x'00'",
      "sealed_device = NULL", "created = 1", "expires = 1", "state = 'open'", "state = 'x'",
      "credential = 'c'",
      "seen_changes = x'00'", "issuer = 'Other'", "account = 'Other'", "code = NULL", "code = zeroblob(32)",
    ])
  func mechanisms(_ change: String) async throws {
    let bench = try await Self.bench()
    let storage = bench.server.storage
    let id = try await Self.mechanism(bench).id
    try bench.server.tamper("UPDATE pushauth_mechanisms SET \(change)")
    let user: UserID = change.contains("bob") ? "bob" : "alice"
    #expect(try await storage.pushAuthMechanisms(user: user).map(\.state) == [.altered])
    let shown = try await storage.holdings(of: user, codeAttempts: 100).authenticators
    #expect(shown.map(\.state) == [.altered] && shown[0].reason.contains("not written by this server"))
    await #expect(throws: StorageFailure.altered(row: id.text, of: "pushauth_mechanisms")) {
      try await storage.pushAuthMechanism(id)
    }
    #expect(try await storage.removePushAuthMechanism(id, audit: .sample()))
  }

  @Test("an app moved to another user gets none of that user's requests")
  func otherUser() async throws {
    let bench = try await Self.bench()
    try bench.server.tamper("UPDATE pushauth_mechanisms SET user_id = 'bob'")
    #expect(try await problem { _ = try await bench.make("Pay 10", user: "bob") } == .noAuthenticator)
    #expect(bench.sent().isEmpty)
  }

  @Test(
    "a message with an altered row is neither shown nor listed, and its answer is refused",
    arguments: [
      "kind = 'biometric'", "challenge = x'00'", "sealed_number = NULL", "created = 1",
      "expires = expires + 1", "state = 'approved', answered = 1",
      "txn = (SELECT id FROM transactions WHERE user_id IS NULL)", "code = NULL",
    ])
  func messages(_ change: String) async throws {
    let bench = try await Self.bench()
    _ = try await bench.make("Pay 11", user: nil)
    let made = try await bench.make("Pay 10", numberDigits: 2)
    let message = try bench.message(bench.sent())
    let id: ID<PushAuthMessageRecord> = "\(message.messageID.dropFirst("AUTHENTICATE:".count))"
    let (storage, mechanism) = (bench.server.storage, try await Self.mechanism(bench).id)
    try bench.server.tamper("UPDATE pushauth_messages SET \(change)")
    let failure = StorageFailure.altered(row: id.text, of: "pushauth_messages")
    await #expect(throws: failure) { try await storage.pushAuthMessage(id) }
    await #expect(throws: failure) { try await storage.pushAuthMessages(of: mechanism, after: 0) }
    let number = try #require(made.number).digits
    #expect(try await bench.post(.number(number), to: message).status == 500)
    #expect(try await storage.transaction(made.record.id)?.state == .pending)
    #expect(
      bench.server.capture.lines.contains {
        $0.contains("storage.failed") && $0.contains("pushauth_messages")
      })
    // The altered row does not prevent the transaction from ending in other ways.
    try await TransactionService(bench.server.context).withdraw(made.record.id, reason: "", by: .local)
    #expect(try await storage.transaction(made.record.id)?.state == .withdrawn)
  }

  @Test(
    "the text of an altered message is removed after its expiry, also after days without the server",
    arguments: [301, 300 + 3_601, 20 * 86_400] as [Int64])
  func forgetsTexts(_ seconds: Int64) async throws {
    let bench = try await Self.bench()
    _ = try await bench.make("Pay 10")
    try bench.server.tamper("UPDATE pushauth_messages SET created = created + 1")
    func hasText() throws -> Bool {
      try bench.server.look("SELECT sealed_token IS NOT NULL FROM pushauth_messages")[0] == .integer(1)
    }
    try await bench.server.context.sweep()
    #expect(try hasText())
    bench.server.clock.advance(by: seconds)
    try await bench.server.context.sweep()
    #expect(try !hasText())
  }

  @Test(
    "a message with an altered transaction expires on time, with the state of its transaction"
  )
  func transaction() async throws {
    let bench = try await Self.bench()
    _ = try await bench.make("Pay 10")
    let message = try bench.message(bench.sent())
    let id: ID<PushAuthMessageRecord> = "\(message.messageID.dropFirst("AUTHENTICATE:".count))"
    // No MAC covers the end of a request without an answer.
    try bench.server.tamper("UPDATE transactions SET state = 'withdrawn'")
    bench.server.clock.advance(by: 86_400)
    #expect(try await PushAuthService(bench.server.context).message(id).state == .expired)
    #expect(try await PushAuthService(bench.server.context).messageStatus(of: id).status == "withdrawn")
  }

  @Test("a message to one app is refused from another")
  func otherMechanism() async throws {
    let bench = try await Self.bench()
    let made = try await bench.make("Pay 10")
    let first = try bench.message(bench.sent())
    let old = try await Self.mechanism(bench).id
    bench.server.clock.advance(by: 1)
    try await bench.enrol(service: "webhook")
    try bench.server.tamper(
      "UPDATE pushauth_messages SET mechanism = (SELECT id FROM pushauth_mechanisms WHERE id <> ?)",
      .text(old.text))
    #expect(try await bench.post(.approve, to: first).status == 500)
    #expect(try await bench.server.storage.transaction(made.record.id)?.state == .pending)
  }
}
