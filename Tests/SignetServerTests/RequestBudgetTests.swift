import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetTestKit
import SignetUAF
import Testing
import UAFFixture

/// One rate limit for each user against request fatigue, across all routes that can ask the user.
@Suite(.timeLimit(.minutes(10))) struct RequestBudgetTests {
  /// The answer of a route.
  private struct Answer: Equatable, CustomStringConvertible {
    let status: Int
    var code: String?
    var retryAfter: String?

    init(_ status: Int, _ code: String? = nil, retryAfter: String? = nil) {
      (self.status, self.code, self.retryAfter) = (status, code, retryAfter)
    }

    init(_ response: HTTPResponse) throws {
      let body = try JSONObject(parsing: response.body)
      let problem = Problem(parsing: response.body)?.code.rawValue
      self.init(
        response.status, try problem ?? body.optionalString("code"),
        retryAfter: response.header("Retry-After"))
      if response.status == 200, try body.optionalInteger("statusCode") ?? 1200 != 1200 { code = "UAF" }
    }

    var isTaken: Bool { status / 100 == 2 && code == nil }
    var description: String { "\(status) \(code ?? "-") \(retryAfter ?? "-")" }

    static let tooMany = Answer(429, "transaction.tooMany", retryAfter: "60")
    static let tooManyOfClient = Answer(403, "access_denied", retryAfter: "60")
  }

  /// The routes that ask a user; a new one belongs here, with its call below.
  private static let asking = [
    "createTransaction", "sendPushAuthMessage", "authenticate", "uafDispatchTokenRegistration",
    "uafDispatchTokenAuthentication", "uafCreateTokenAuthentication", "uafCreateTokenAuthenticationByOldName",
    "uafRequestAuthentication", "uafRequestAuthenticationWithSlash",
  ]

  /// The other routes that manage or grant something, without asking a user.
  private static let askingNobody = [
    // Operators
    "addUser", "renameUser", "suspendUser", "resumeUser", "deleteUser", "unlockUser", "invite",
    "setUserCode", "removeUserCode", "addKey", "revokeKey", "addClient", "revokeClient", "rotateSigningKey",
    "attachAccountPolicies", "detachAccountPolicies", "lockContainer", "unlockContainer", "wipeContainer",
    "revokeContainer", "askForRenewal", "lockDevice", "unlockDevice", "revokeDevice", "addTokens",
    "removeToken", "assignToken", "disableToken", "enableToken", "verifyTokenAsOperator",
    "resynchroniseTokenAsOperator", "enrolPushAuth", "removePushAuth", "removeUAFCredential",
    "releaseUAFCredential", "removeUAFTarget",
    // Relying parties and clients: the user's input, and the outcome of requests
    "validateCode", "resynchroniseCodes", "verifyToken", "withdrawTransaction", "answerTransaction", "token",
    // UAF without a device that the server can reach, or without a request
    "uafCreateTokenRegistration", "uafCreateTokenRegistrationByOldName", "uafCreateTokenDeregistration",
    "uafCreateTokenDeregistrationByOldName", "uafDispatchTokenDeregistration", "uafRequestRegistration",
    "uafRequestRegistrationWithSlash", "uafConformanceGet", "uafAddTarget", "uafAddTargetWithSlash",
    // The user's devices and apps, which answer
    "startActivation", "finishActivation", "confirmActivation", "startRenewal", "finishRenewal", "decide",
    "initiate", "addPushTarget", "changePushTarget", "takePushAuth", "uafRegistration",
    "uafRegistrationWithSlash", "uafAuthentication", "uafAuthenticationWithSlash", "uafConformanceRespond",
    "uafRedeemRegistration", "uafRedeemRegistrationByOldName", "uafRedeemAuthentication",
    "uafRedeemAuthenticationByOldName", "uafRedeemDeregistration", "uafRedeemDeregistrationByOldName",
    "uafChangeTarget", "uafChangeDevice",
  ]

  private static let isConfirmed = #"{"username":"alice","transaction":"Pay 10"}"#

  /// Makes a request to alice by a route.
  private static func ask(_ route: String, _ bench: AuthenticatorBench, _ client: TestClient) async throws
    -> Answer
  {
    let server = bench.server
    func send(_ path: String, _ body: JSONObject) async throws -> Answer {
      try Answer(
        await server.send(
          .post, path, body.bytes, [("Content-Type", "application/json")], isOrdered: true))
    }
    func uaf(_ path: String) async throws -> Answer {
      let body: JSONObject = ["op": "Auth", "context": .string(isConfirmed)]
      let types = [
        ("Content-Type", "application/fido+uaf;charset=UTF-8"), ("Accept", "application/fido+uaf"),
      ]
      return try Answer(await server.send(.post, path, body.bytes, types, isOrdered: true))
    }
    func dispatch(_ operation: String, _ path: String) async throws -> Answer {
      let target = try #require(await server.storage.uafTargets(user: "alice").first)
      return try await send(
        "/token/dispatch/\(path)",
        [
          "dispatchTargetId": .string(target.id.text),
          "getUafRequest": ["op": .string(operation), "context": #"{"username":"alice"}"#],
        ])
    }
    let created: JSONObject = ["op": "Auth", "context": .string(isConfirmed)]
    switch route {
    case "createTransaction":
      return try await send("//main/v1/transactions", ["user": "alice", "text": "Pay 10"])
    case "sendPushAuthMessage": return try await send("//main/v1/pushauth/messages", ["user": "alice"])
    case "authenticate":
      let answer = try await bench.ask(client)
      return Answer(
        answer.status, try answer.body.optionalString("error"), retryAfter: answer.headers["Retry-After"])
    case "uafDispatchTokenRegistration": return try await dispatch("Reg", "registration")
    case "uafDispatchTokenAuthentication": return try await dispatch("Auth", "authentication")
    case "uafCreateTokenAuthentication": return try await send("/token/create/authentication", created)
    case "uafCreateTokenAuthenticationByOldName": return try await send("/token/authentication", created)
    case "uafRequestAuthentication": return try await uaf("/uaf/1.1/request/authentication")
    case "uafRequestAuthenticationWithSlash": return try await uaf("/uaf/1.1/request/authentication/")
    default:
      Issue.record("nobody knows how \(route) asks")
      return Answer(0)
    }
  }

  @Test("each route that asks a user counts, and leaves half of the budget to others", arguments: asking)
  func counts(_ route: String) async throws {
    let bench = try await AuthenticatorBench(AnyAuthenticatorTests.Kind.allCases)
    let client = try await bench.register()
    let isClients = route == "authenticate"
    for _ in 0..<4 {
      let answer = try await Self.ask(route, bench, client)
      #expect(answer.isTaken, "\(answer)")
    }
    let refused = isClients ? Answer.tooManyOfClient : .tooMany
    #expect(try await Self.ask(route, bench, client) == refused)
    // Another requester has the other half; the same requester gets none of it by another route.
    for other in Self.asking where (other == "authenticate") == isClients {
      #expect(try await Self.ask(other, bench, client) == refused, "\(other)")
    }
    let rest = isClients ? "createTransaction" : "authenticate"
    for _ in 0..<4 {
      let answer = try await Self.ask(rest, bench, client)
      #expect(answer.isTaken, "\(answer)")
    }
    for other in Self.asking {
      let expected = other == "authenticate" ? Answer.tooManyOfClient : .tooMany
      #expect(try await Self.ask(other, bench, client) == expected, "\(other), after all have asked")
    }
    let audit = try await bench.server.audit()
    #expect(audit.contains { $0.contains("uaf.notAsked") && $0.contains(#""target":"#) })
    // A rejected request makes neither a row nor a push.
    bench.server.clock.advance(by: 60)
    _ = bench.sent()
    #expect(try await Self.ask("uafDispatchTokenAuthentication", bench, client).status == 429)
    #expect(bench.sent().isEmpty)
    _ = try await bench.server.storage.unlockUser("alice", audit: .sample())
    bench.server.clock.advance(by: 10_000)
    for other in Self.asking where other != "authenticate" {
      _ = try await bench.server.storage.unlockUser("alice", audit: .sample())
      bench.server.clock.advance(by: 10_000)
      let answer = try await Self.ask(other, bench, client)
      #expect(answer.isTaken, "\(other): \(answer)")
    }
  }

  @Test("each route that starts a user prompt counts against the request budget")
  func routes() async throws {
    let server = try await UAFServer(UAFTestKey())
    let changing = server.endpoints.filter { [.manage, .grant].contains($0.effect) }.map(\.id)
    let unknown = Set(changing).symmetricDifference(Self.asking + Self.askingNobody)
    #expect(
      unknown.isEmpty, "\(unknown.sorted()): say in this test whether it has a user asked, and count it")
  }

  @Test("a transaction sent to a UAF device counts once, and once more if sent again")
  func carried() async throws {
    let bench = try await AuthenticatorBench([.uaf])
    let server = bench.server
    let target = try #require(await server.storage.uafTargets(user: "alice").first)
    let body: JSONObject = [
      "dispatchTargetId": .string(target.id.text),
      "getUafRequest": ["op": "Auth", "context": .string(Self.isConfirmed)],
    ]
    func dispatch(_ body: JSONObject) async throws -> HTTPResponse {
      try await server.send(
        .post, "/token/dispatch/authentication", body.bytes, [("Content-Type", "application/json")],
        isOrdered: true)
    }
    for _ in 0..<3 { #expect(try await dispatch(body).status == 200) }
    let waiting = try await server.storage.pendingTransactions(user: "alice", at: server.clock.now)
    #expect(waiting.count == 3, "three transactions, and as many requests")
    let last = try #require(waiting.last)
    let again: JSONObject = [
      "dispatchTargetId": .string(target.id.text),
      "getUafRequest": [
        "op": "Auth", "context": .string(#"{"username":"alice","transactionId":"\#(last.id)"}"#),
      ],
    ]
    #expect(try await dispatch(again).status == 200)
    #expect(try Answer(await dispatch(again)) == .tooMany)
  }
}
