import Foundation
import PostgreSQLFixture
import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetPush
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTesting
import SignetTestKit
import SignetUAF
import Testing
import UAFFixture

/// A server with UAF, called over HTTPS, and a relying party's key.
///
/// It stops with its last reference.
final class UAFServer: Sendable {
  static let facet = "ios:bundle-id:org.example.app"

  let clock: VirtualClock
  let capture = EventCapture()
  let apiKey: String
  private let folder: TemporaryFolder
  private let server: TestServer
  private let transport: CurlTransport
  private let described: DescribedAPI

  var context: ServiceContext { server.context }
  var storage: Storage { context.storage }
  var users: UserService { UserService(context) }
  var endpoints: [EndpointDescription] { server.endpoints }
  /// The number of devices that wait for something new.
  var waitingDeviceCount: Int { get async { await server.waitingDeviceCount } }
  /// Scheme, host and port.
  var origin: String { "https://127.0.0.1:\(server.serverURL.port)" }

  /// Starts a server with the models of keys, and the user alice.
  init(
    _ keys: [UAFTestKey], roots: [[UInt8]] = [], clock: VirtualClock = VirtualClock(),
    push: PushSetup = .none, notices: (any HTTPTransport)? = nil, on backend: StorageBackend = .ofServices,
    suffering faults: StepFaults = StepFaults(willBegin: {}, didEnd: {}),
    _ change: (inout UAFSettings) -> Void = { _ in }
  ) async throws {
    self.clock = clock
    var settings = UAFSettings(facets: [Self.facet])
    settings.hasConformanceAdapter = true
    change(&settings)
    let models = AuthenticatorModels(try keys.map { try AuthenticatorModel($0.statement(roots: roots)) })
    folder = try TemporaryFolder()
    let location = try backend.location(in: folder)
    server = try await TestServer(
      directory: folder.path, protection: .device,
      storage: { try Storage.open(location).suffering(faults) }, clock: clock, log: capture.log, push: push,
      notices: notices,
      uaf: UAFSetup(settings, models: models))
    transport = try CurlTransport(
      ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
    described = try DescribedAPI(server.endpoints, at: server.serverURL, uaf: settings.prefix)
    try await UserService(server.context).add(UserID("alice"), by: .local)
    apiKey = try await APIKeyService(server.context).create(
      name: "Shop", displayName: nil, scopes: [.relyingParty], by: .local
    ).text
  }

  /// Starts a server with the model of one key.
  convenience init(
    _ key: UAFTestKey, on backend: StorageBackend = .ofServices,
    _ change: (inout UAFSettings) -> Void = { _ in }
  ) async throws {
    try await self.init([key], on: backend, change)
  }

  deinit {
    let (server, folder) = (server, folder)
    Task {
      await server.stop()
      withExtendedLifetime(folder) {}
    }
  }

  func tamper(_ statement: String, _ values: SQLiteValue...) throws { try tamper(statement, values) }

  func tamper(_ statement: String, _ values: [SQLiteValue]) throws { try folder.tamper(statement, values) }

  /// Queries the SQLite database directly, bypassing the server; returns the first row.
  func look(_ query: String) throws -> Row {
    let database = try Database(path: "\(folder.path)/signet.sqlite", mode: .readWrite)
    return try #require(try database.query(query).first)
  }

  /// Returns whether the files of an SQLite database have a text in plain form.
  func keeps(_ text: String) throws -> Bool {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try names.contains { name in
      guard name.hasPrefix("signet.sqlite") else { return false }
      let data = try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)"))
      return data.range(of: Data(text.utf8)) != nil
    }
  }

  /// The texts of the audit log, after its chain was verified.
  func audit() async throws -> [String] {
    #expect(try await storage.verifyAudit().isIntact)
    let entries = try await storage.auditEntries(after: 0, limit: 10_000)
    return entries.map(\.text)
  }

  /// Sends a request unchanged, to a path below the UAF prefix, or with two slashes at its start from the root.
  ///
  /// Validates the answer by the description.
  func send(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [], _ headers: [(String, String)] = [],
    isOrdered: Bool = false
  ) async throws -> HTTPResponse {
    let full =
      path.hasPrefix("//") ? String(path.dropFirst()) : "\(context.uaf?.settings.prefix ?? "")\(path)"
    let own = isOrdered ? [("Authorization", "Bearer \(apiKey)")] : []
    let request = HTTPRequest(method: method, url: origin + full, headers: headers + own, body: body)
    let response = try await transport.send(request)
    try described.check(request, response)
    return response
  }

  /// Sends a UAF message and returns the answer's body.
  func uaf(
    _ path: String, _ object: JSONObject, _ headers: [(String, String)] = [], isOrdered: Bool = false
  ) async throws -> JSONObject {
    let types = [
      ("Content-Type", "application/fido+uaf;charset=UTF-8"), ("Accept", "application/fido+uaf"),
    ]
    let response = try await send(.post, path, object.bytes, headers + types, isOrdered: isOrdered)
    #expect(response.status == 200)
    #expect(response.header("Content-Type") == "application/fido+uaf;charset=UTF-8")
    #expect(response.header("Access-Control-Allow-Origin") == nil)
    return try JSONObject(parsing: response.body)
  }

  /// Sends JSON and returns the answer's body.
  func json(
    _ path: String, _ object: JSONObject, status: Int = 200, isOrdered: Bool = true
  ) async throws -> JSONObject {
    let response = try await send(
      .post, path, object.bytes, [("Content-Type", "application/json")], isOrdered: isOrdered)
    #expect(response.status == status)
    return try JSONObject(parsing: response.body)
  }

  // MARK: Operations

  /// Gives alice a device with a container.
  @discardableResult
  func activate() async throws -> ProtocolDevice {
    try await context.activate("alice")
  }

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
  func register(_ key: UAFTestKey, on device: String? = nil) async throws -> JSONObject {
    try await answer(registrationRequest(), key, on: device)
  }

  /// Sends the response to a registration, as a client that names its device.
  func answer(
    _ request: RegistrationRequest, _ key: UAFTestKey, on device: String?
  ) async throws -> JSONObject {
    var body: JSONObject = ["uafResponse": .string(try Self.answer(request, key))]
    if let device { body["context"] = .string(#"{"deviceId":"\#(device)"}"#) }
    return try await uaf("/uaf/1.1/registration", body)
  }

  /// Returns the user's token in the answer to an operation.
  static func token(_ answer: JSONObject) throws -> String {
    guard case .object(let token)? = try answer.array("additionalTokens").first else {
      throw JSONFailure.missingMember("additionalTokens")
    }
    return try token.string("value")
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
