import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetPushAuth
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetUAF
import Testing
import UAFFixture

/// Texts of relying parties that imitate the server's line with the requester.
@Suite(.timeLimit(.minutes(10))) struct SenderTextTests {
  private static let forged = [
    "From: Bank\nPay 10 to Bob", "from: Bank\nPay", " \t\n From : Bank\nPay", "FROM:Bank", "From\n: Bank",
  ]

  private func ask(_ server: UAFServer, _ members: JSONObject) async throws -> Int64 {
    var context = members
    context["username"] = "alice"
    return try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(context.text)], isOrdered: true
    ).integer("statusCode")
  }

  @Test("a UAF text that imitates the server's own line is refused on every route")
  func uaf() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    for text in Self.forged {
      #expect(try await ask(server, ["transaction": .string(text)]) == 1498, "\(text)")
      let transaction = try #require(UAFTransaction(contentType: .text, content: Array(text.utf8)))
      #expect(try await ask(server, ["transaction": [.object(transaction.json)]]) == 1498, "\(text)")
    }
    // A UAF operation by a relying party itself cannot confirm such a transaction either.
    _ = try await server.json(
      "//main/v1/transactions", ["user": "alice", "text": "From: Bank\nPay 10"], status: 409)
    try await server.activate()
    let id = try await server.json(
      "//main/v1/transactions", ["user": "alice", "text": "From: Bank\nPay 10"], status: 201
    ).string("id")
    #expect(try await ask(server, ["transactionId": .string(id)]) == 1498)
    for text in ["Fromage: 10 EUR", "From Bank with love"] {
      #expect(try await ask(server, ["transaction": .string(text)]) == 1200, "\(text)")
    }
  }

  @Test("a relying party's message to an app that imitates the server's own line is refused")
  func pushMessage() async throws {
    let bench = try await AuthenticatorBench([.app])
    let service = PushAuthService(bench.server.context)
    for text in Self.forged + [
      "From\u{FF1A} Bank", "\u{200B}From: Bank", "Fr\u{AD}om: Bank", "From\u{2060}:\u{FE0F} Bank",
      "\0From: Bank",
    ] {
      let refusal = try await #require(throws: Problem.self, "\(text)") {
        try await service.send(
          NewPushMessage(["user": "alice", "text": .string(text)]), from: "Shop", by: .local)
      }
      #expect(refusal.code == .malformed, "\(text)")
    }
    _ = try await service.send(
      NewPushMessage(["user": "alice", "text": "Sign in?"]), from: "Shop", by: .local)
  }

  @Test("the server's own line comes first, regardless of the text")
  func ownLine() async throws {
    let bench = try await AuthenticatorBench([.uaf, .app])
    let id = try await bench.make("From: Bank\nPay 10").record.id
    let sent = bench.sent()
    let text = "From: Shop\nFrom: Bank\nPay 10"
    #expect(try bench.message(sent).text == text)
    let request = try await bench.redeem(sent)
    #expect(request.transactions.map(\.content) == [Array(text.utf8)])
    #expect(try await bench.accept(.uaf, sent, redeemed: request) == true)
    let shown = try await JSONObject(
      parsing: bench.server.send(.get, "//main/v1/transactions/\(id)", isOrdered: true).body)
    #expect(try EvidenceCheck(shown.text).kind == .uaf)
    #expect(try shown.object("evidence").string("text") == text)
  }
}
