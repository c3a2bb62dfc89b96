import SignetCrypto
import SignetHTTP
import SignetJSON
import SignetServer
import SignetStorage
import SignetTesting
import SignetUAF
import SignetWire
import Testing
import UAFFixture

/// A server with UAF, spoken to by its router, and an authenticator.
struct UAFServer: Sendable {
  static let facet = "ios:bundle-id:org.example.app"

  let fixture: ServerFixture
  let router: Router
  let apiKey: String

  init(_ key: UAFTestKey, _ change: (inout UAFSettings) -> Void = { _ in }) async throws {
    var settings = UAFSettings(facets: [Self.facet])
    settings.hasConformanceAdapter = true
    change(&settings)
    let setup = UAFSetup(settings, models: AuthenticatorModels([try AuthenticatorModel(key.statement())]))
    fixture = try ServerFixture(uaf: setup)
    try await fixture.users.add(try UserID("alice"), by: "test")
    apiKey = try await fixture.keys.create(
      name: "Shop", displayName: nil, scopes: [.relyingParty], by: "test"
    ).text
    var router = Router()
    Server.addUAF(to: &router, fixture.context)
    self.router = router
  }

  /// Sends a request as it is.
  func send(
    _ method: String, _ path: String, _ body: [UInt8] = [], _ headers: HeaderFields = [:],
    isOrdered: Bool = false
  ) async throws -> ServerResponse {
    var headers = headers
    if isOrdered { headers["Authorization"] = "Bearer \(apiKey)" }
    return await router.respond(
      to: ServerRequest(
        method: method, path: try RequestPath(raw: "/nevisfido" + path), headers: headers, body: body))
  }

  /// Sends a message of UAF and reads the answer's body.
  func uaf(
    _ path: String, _ object: JSONObject, _ headers: HeaderFields = [:], isOrdered: Bool = false
  ) async throws -> JSONObject {
    var headers = headers
    headers["Content-Type"] = "application/fido+uaf;charset=UTF-8"
    headers["Accept"] = "application/fido+uaf"
    let response = try await send("POST", path, object.bytes, headers, isOrdered: isOrdered)
    #expect(response.status == 200)
    #expect(response.headers["Content-Type"] == "application/fido+uaf;charset=UTF-8")
    return try JSONObject(parsing: response.body)
  }

  func json(
    _ path: String, _ object: JSONObject, status: Int = 200, isOrdered: Bool = true
  ) async throws -> JSONObject {
    let response = try await send(
      "POST", path, object.bytes, ["Content-Type": "application/json"], isOrdered: isOrdered)
    #expect(response.status == status)
    return try JSONObject(parsing: response.body)
  }

  // MARK: Operations

  func registrationRequest(_ context: String = #"{"username":"alice"}"#) async throws -> RegistrationRequest {
    let answer = try await uaf(
      "/uaf/1.1/request/registration", ["op": "Reg", "context": .string(context)], isOrdered: true)
    return try RegistrationRequest(parsing: Array(answer.string("uafRequest").utf8), versions: [.v1_1])
  }

  func authenticationRequest(
    _ context: String = #"{"username":"alice"}"#, isOrdered: Bool = false
  ) async throws -> AuthenticationRequest {
    let answer = try await uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(context)], isOrdered: isOrdered)
    return try AuthenticationRequest(parsing: Array(answer.string("uafRequest").utf8), versions: [.v1_1])
  }

  @discardableResult
  func register(_ key: UAFTestKey) async throws -> JSONObject {
    let request = try await registrationRequest()
    return try await uaf("/uaf/1.1/registration", ["uafResponse": .string(Self.answer(request, key))])
  }

  func authenticate(
    _ key: UAFTestKey, _ context: String = #"{"username":"alice"}"#, isOrdered: Bool = false
  ) async throws -> JSONObject {
    let request = try await authenticationRequest(context, isOrdered: isOrdered)
    return try await uaf("/uaf/1.1/authentication", ["uafResponse": .string(Self.answer(request, key))])
  }

  static func answer(_ request: RegistrationRequest, _ key: UAFTestKey) throws -> String {
    let challenge = final(request.header, request.challenge)
    let assertion = try key.registrationAssertion(key.registrationElements(challenge.hash))
    return RegistrationResponse(
      header: request.header, finalChallenge: challenge, assertions: [ResponseAssertion(bytes: assertion)]
    ).text
  }

  static func answer(_ request: AuthenticationRequest, _ key: UAFTestKey) throws -> String {
    let challenge = final(request.header, request.challenge)
    let assertion = try key.authenticationAssertion(
      key.authenticationElements(challenge.hash, transactionHash: request.transactions.first?.hash ?? []))
    return AuthenticationResponse(
      header: request.header, finalChallenge: challenge, assertions: [ResponseAssertion(bytes: assertion)]
    ).text
  }

  private static func final(_ header: OperationHeader, _ challenge: [UInt8]) -> FinalChallenge {
    FinalChallenge(FinalChallengeParams(appID: header.appID ?? "", challenge: challenge, facetID: facet))
  }
}
