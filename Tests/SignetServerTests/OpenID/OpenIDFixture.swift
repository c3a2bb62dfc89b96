import PostgreSQLFixture
import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Synchronization
import Testing

/// A server with clients of OpenID Connect, a device of alice, and a client's notification endpoint that records its requests.
struct OpenIDFixture: Sendable {
  static let grant = "urn:openid:params:grant-type:ciba"

  let server: ServerFixture
  let callback = CallbackEndpoint()
  let sender: OutboxSender
  let device: ProtocolDevice
  /// The services that answer.
  private var services: ServiceContext

  init(
    on backend: StorageBackend = .ofServices, random: any RandomSource = SystemRandomSource(),
    _ change: (inout ServicePolicy) -> Void = { _ in }
  ) async throws {
    server = try ServerFixture(on: backend, notices: callback, random: random, change)
    sender = try #require(OutboxSender(server.context))
    device = try await server.activate()
    services = server.context
  }

  /// Returns the fixture with services whose steps have `faults`.
  func suffering(_ faults: StepFaults) -> Self {
    var copy = self
    copy.services = server.context(suffering: faults)
    return copy
  }

  var issuer: String { server.context.settings.serverURL.fullForm }
  var now: Int64 { server.clock.now }

  func register(
    _ delivery: ClientRecord.Delivery = .poll, _ authentication: ClientRecord.Authentication = .privateKeyJWT,
    _ further: JSONObject = [:]
  ) async throws -> TestClient {
    let key = P256.Signing.PrivateKey()
    var body: JSONObject = [
      "name": "Example Bank", "authentication": .string(authentication.rawValue),
      "delivery": .string(delivery.rawValue),
      "jwks": ["keys": [.object(try JWK(key.publicKey, keyID: "k1").publicObject())]],
    ]
    if delivery != .poll { body["notificationEndpoint"] = "https://client.example.org/cb" }
    for (name, value) in further.members { body[name] = value }
    let made = try await ClientService(server.context).add(ClientRegistration(NewClient(body)), by: .local)
    return TestClient(id: made.record.id, secret: made.secret, key: key, issuer: issuer)
  }

  func authorize(
    _ client: TestClient, _ parameters: [(String, String)], authorization: String? = nil
  ) async throws -> OpenIDAnswer {
    try await post(client, parameters, authorization) { try await answer("authenticate", $0) }
  }

  func token(
    _ client: TestClient, _ parameters: [(String, String)], authorization: String? = nil
  ) async throws -> OpenIDAnswer {
    try await post(client, parameters, authorization) { try await answer("token", $0) }
  }

  /// Answers a request by the endpoint with this ID.
  func answer(_ id: String, _ request: ServerRequest) async throws -> ServerResponse {
    let routes = OpenIDEndpoints(services, TransactionService(services)).routes
    let route = try #require(routes.first { $0.endpoint.id == id })
    return try #require(await route.response(to: request, CallerAuthentication(services)))
  }

  /// Polls for the tokens of a request with the client's credentials.
  func poll(_ client: TestClient, _ id: String) async throws -> OpenIDAnswer {
    try await token(client, client.proof(at: now) + [("grant_type", Self.grant), ("auth_req_id", id)])
  }

  /// Makes a request to alice with the client's credentials.
  func ask(
    _ client: TestClient, _ further: [(String, String)] = [("login_hint", "alice")]
  ) async throws -> OpenIDAnswer {
    try await authorize(
      client,
      client.proof(at: now) + [("scope", "openid"), ("client_notification_token", "n-0.token~+/==")] + further
    )
  }

  private func post(
    _ client: TestClient, _ parameters: [(String, String)], _ authorization: String?,
    _ endpoint: (ServerRequest) async throws -> ServerResponse
  ) async throws -> OpenIDAnswer {
    var headers: HeaderFields = ["Content-Type": "application/x-www-form-urlencoded"]
    if let authorization = authorization ?? client.basic { headers["Authorization"] = authorization }
    let request = ServerRequest(
      method: "POST", path: try RequestPath(raw: "/main/oidc"), headers: headers,
      body: Array(Self.form(parameters).utf8))
    return try await OpenIDAnswer(endpoint(request))
  }

  static func form(_ parameters: [(String, String)]) -> String {
    parameters.map { "\(percentEncoded($0.0))=\(percentEncoded($0.1))" }.joined(separator: "&")
  }

  private static func percentEncoded(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        String(decoding: [byte], as: UTF8.self)
      default: "%" + Hex.encode([byte])
      }
    }.joined()
  }

  /// Decides alice's last request with her device.
  func decide(_ status: DecisionStatus) async throws {
    let waiting = try await server.storage.pendingTransactions(user: "alice", at: now)
    try await decide(status, #require(waiting.last))
  }

  /// Decides a request with alice's device, or with another of her devices.
  func decide(
    _ status: DecisionStatus, _ record: TransactionRecord, on other: ProtocolDevice? = nil
  ) async throws {
    let device = other ?? device
    let request = TransactionRequest(
      id: record.id, content: try TransactionContent(parsing: record.content),
      created: record.created, expires: record.expires,
      statuses: record.statuses.compactMap { DecisionStatus(rawValue: $0.rawValue) })
    _ = try await server.transactions.decide(
      device.decision(status, request, at: now), id: record.id, by: device.send(to: server))
  }

  /// The pending notifications to clients that are due at a time.
  func due(at time: Int64 = .max) async throws -> [OutboxRecord] {
    try await server.context.storage.dueDeliveries(on: .ciba, at: time, limitPerReceiver: 9)
  }

  /// Marks expired requests, as the server's timer does.
  func sweep() async throws {
    try await server.context.sweep()
  }
}

/// A client with its credentials.
struct TestClient: Sendable {
  let id: ID<ClientRecord>
  let secret: String?
  var key: P256.Signing.PrivateKey
  let issuer: String

  /// The `Authorization` header of a client with a secret.
  var basic: String? { secret.map { "Basic " + Base64.encode(Array("\(id):\($0)".utf8)) } }

  /// The client's credential as form parameters.
  func proof(
    at time: Int64, _ change: (inout JSONObject) -> Void = { _ in }, type: String? = "JWT"
  ) throws -> [(String, String)] {
    guard secret == nil else { return [] }
    var claims: JSONObject = [
      "iss": .string(id.text), "sub": .string(id.text), "aud": .string("\(issuer)/oidc/token"),
      "jti": .string(Hex.encode(SystemRandomSource().bytes(16))), "iat": .integer(time),
      "exp": .integer(time + 300),
    ]
    change(&claims)
    return Self.assertion(try signed(claims, type: type))
  }

  static func assertion(_ text: String) -> [(String, String)] {
    [
      ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
      ("client_assertion", text),
    ]
  }

  func signed(_ claims: JSONObject, type: String? = "JWT") throws -> String {
    try JWS.sign(claims.bytes, with: SigningKey(key, keyID: "k1"), type: type)
  }

  /// The claims of a signed request.
  func request(at time: Int64, _ change: (inout JSONObject) -> Void = { _ in }) -> JSONObject {
    var claims: JSONObject = [
      "iss": .string(id.text), "aud": .string(issuer),
      "jti": .string(Hex.encode(SystemRandomSource().bytes(16))),
      "iat": .integer(time), "nbf": .integer(time), "exp": .integer(time + 300), "scope": "openid",
      "login_hint": "alice", "client_notification_token": "t",
    ]
    change(&claims)
    return claims
  }
}

/// An endpoint's answer.
struct OpenIDAnswer: Sendable {
  let status: Int
  let headers: HeaderFields
  let body: JSONObject

  init(_ response: ServerResponse) throws {
    (status, headers) = (response.status, response.headers)
    body = try JSONObject(parsing: response.body)
    #expect(headers["Content-Type"] == "application/json" && headers["Cache-Control"] == "no-store")
  }

  /// `status error`, in one text; `200` without an error.
  var outcome: String {
    get throws { try body.optionalString("error").map { "\(status) \($0)" } ?? "\(status)" }
  }

  /// The `auth_req_id`.
  var id: String { get throws { try body.string("auth_req_id") } }
}

/// A client's notification endpoint, which records requests and gives prepared answers.
final class CallbackEndpoint: HTTPTransport {
  private struct State {
    var requests: [HTTPRequest] = []
    var answers: [Result<HTTPResponse, TransportFailure>] = []
    /// The held URL, which is not answered until its release, and the waiting requests.
    var held: String?
    var holding: [CheckedContinuation<Result<HTTPResponse, TransportFailure>?, Never>] = []
    var expected: (count: Int, waiter: CheckedContinuation<Void, Never>)?

    mutating func takeExpected() -> CheckedContinuation<Void, Never>? {
      guard let expected, requests.count >= expected.count else { return nil }
      self.expected = nil
      return expected.waiter
    }
  }

  private let state = Mutex(State())

  /// The requests so far.
  var requests: [HTTPRequest] { state.withLock { $0.requests } }

  /// Sets the answers to the next requests; later ones get 204.
  func answer(_ answers: Result<HTTPResponse, TransportFailure>...) {
    state.withLock { $0.answers = answers }
  }

  /// The received bodies in order.
  func bodies() throws -> [JSONObject] { try requests.map { try JSONObject(parsing: $0.body) } }

  /// Answers no request to the URL until ``release(_:)``.
  func hold(_ url: String) { state.withLock { $0.held = url } }

  /// Answers the held requests, and holds none any more.
  func release(_ answer: Result<HTTPResponse, TransportFailure>) {
    let holding = state.withLock { state in
      state.held = nil
      defer { state.holding = [] }
      return state.holding
    }
    for one in holding { one.resume(returning: answer) }
  }

  /// Waits until the endpoint has received a number of requests.
  func waitForRequests(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let waiter = state.withLock { state in
        state.expected = (count, continuation)
        return state.takeExpected()
      }
      waiter?.resume()
    }
  }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let answer: Result<HTTPResponse, TransportFailure>? = await withCheckedContinuation { continuation in
      let (answer, waiter, isHeld) = state.withLock {
        state -> (Result<HTTPResponse, TransportFailure>?, CheckedContinuation<Void, Never>?, Bool) in
        state.requests.append(request)
        let waiter = state.takeExpected()
        guard state.held != request.url else {
          state.holding.append(continuation)
          return (nil, waiter, true)
        }
        return (state.answers.isEmpty ? nil : state.answers.removeFirst(), waiter, false)
      }
      waiter?.resume()
      if !isHeld { continuation.resume(returning: answer) }
    }
    return try answer?.get() ?? HTTPResponse(status: 204)
  }
}
