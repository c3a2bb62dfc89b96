import Foundation
import Signet
import SignetCrypto
import SignetHTTPClient
import SignetIntegrity
import SignetSQLite
import SignetTesting
import SignetTestKit
import SignetUAF
import SignetUAFClient
import SignetVault
import Synchronization
import Testing

/// A device with all parts of a UAF client, simulated except for the vault.
struct UAFDevice {
  static let facetID = "linux:app-id:org.example.bank"
  static let appID = "https://uaf.example.com/facets"
  static let pin = "271828"

  let folder: TemporaryFolder
  let clock: VirtualTrustedClock
  let vault: Vault
  let fingerprint: SimulatedBiometrics
  let face: SimulatedBiometrics
  let passcode: SimulatedPasscode
  let facets: FacetServer
  let device: Device
  let client: UAFClient

  init(
    folder: TemporaryFolder? = nil, named name: String = "device", clock: VirtualTrustedClock? = nil,
    keystore: (any HardwareKeystore)? = nil, facets: FacetServer = FacetServer(),
    facetID: String = Self.facetID,
    acceptsOlderFacetLists: Bool = false, willExecute: Database.StatementObserver? = nil,
    integrity: IntegrityGate? = nil
  ) throws {
    self.folder = try folder ?? TemporaryFolder()
    self.clock = clock ?? VirtualTrustedClock()
    let path = self.folder.file(name)
    vault = try Vault.forTests(path, keystore: keystore, clock: self.clock) { $0.willExecute = willExecute }
    fingerprint = SimulatedBiometrics()
    face = SimulatedBiometrics(.ready(.simulated(fingers: 9)))
    passcode = SimulatedPasscode("swordfish")
    self.facets = facets
    device = Device(vault: vault, biometrics: fingerprint, passcode: passcode, integrity: integrity) {
      _ throws(TransportFailure) in facets
    }
    client = UAFClient(
      device: device, facetID: facetID, face: face, facetTransport: facets,
      acceptsOlderFacetLists: acceptsOlderFacetLists)
  }

  /// The same vault, opened by another process or by another app of the same user.
  func opened(facetID: String = Self.facetID) throws -> UAFDevice {
    try UAFDevice(folder: folder, clock: clock, facets: facets, facetID: facetID)
  }

  /// The user verification for a kind.
  static func authentication(_ kind: UAFAuthenticator.Kind) -> Authentication {
    switch kind {
    case .pin: .password(SharedSecretBox(SecretBytes(text: pin)))
    case .password: .password(SharedSecretBox(SecretBytes(text: "correct horse")))
    case .fingerprint, .face: .biometrics(reason: "sign in")
    default: .passcode(reason: "sign in", conversation: ScriptedPasscodeConversation("swordfish"))
    }
  }

  static func pin(_ text: String) -> Authentication { .password(SharedSecretBox(SecretBytes(text: text))) }

  func aaid(_ kind: UAFAuthenticator.Kind) async throws -> String {
    try #require(try await client.authenticators().first { $0.kind == kind }).aaid
  }
}

extension SecretBytes {
  init(text: String) { self.init(copying: Array(text.utf8)) }
}

/// A relying party: makes requests, verifies responses, and stores keys and counters.
final class UAFParty: Sendable {
  private let stored = Mutex<[KeyReference: RegisteredKey]>([:])
  let models: AuthenticatorModels
  let appID: String?

  init(appID: String? = UAFDevice.appID) throws {
    models = AuthenticatorModels(try UAFAuthenticatorModel.statements.map { try AuthenticatorModel($0) })
    self.appID = appID
  }

  /// The stored counters, in no order.
  var counters: [UInt32] { stored.withLock { $0.values.compactMap(\.signCounter) } }

  var keyIDs: [KeyID] { stored.withLock { $0.keys.map(\.keyID) } }

  static let anything = Policy(
    accepted: UAFAuthenticatorModel.allCases.map { model in
      [MatchCriteria(aaids: [model.aaid(inHardware: false), model.aaid(inHardware: true)])]
    })

  func registrationRequest(
    _ username: String = "alice", policy: Policy = UAFParty.anything, header: OperationHeader? = nil
  ) -> RegistrationRequest {
    RegistrationRequest(
      header: header ?? OperationHeader(operation: .registration, appID: appID, serverData: "state"),
      challenge: SecureRandom.bytes(32), username: username, policy: policy)
  }

  func authenticationRequest(
    policy: Policy = UAFParty.anything, transactions: [UAFTransaction] = []
  ) -> AuthenticationRequest {
    AuthenticationRequest(
      header: OperationHeader(operation: .authentication, appID: appID, serverData: "state"),
      challenge: SecureRandom.bytes(32), transactions: transactions, policy: policy)
  }

  func deregistrationRequest(_ targets: [DeregistrationRequest.Target]) -> DeregistrationRequest {
    DeregistrationRequest(header: OperationHeader(operation: .deregistration, appID: appID), targets: targets)
  }

  @discardableResult
  func accept(
    _ response: UAFResponse, to request: RegistrationRequest, from facetID: String = UAFDevice.facetID
  ) throws -> VerifiedRegistration {
    let verified = try RegistrationExpectation(
      request, trustedFacets: [facetID], models: models, unixTime: 1_795_230_000
    ).verify(Array(response.message.utf8))
    stored.withLock { for key in verified.keys { $0[key.reference] = key.registered } }
    return verified
  }

  @discardableResult
  func accept(
    _ response: UAFResponse, to request: AuthenticationRequest, from facetID: String = UAFDevice.facetID
  ) throws -> VerifiedAuthentication {
    let verified = try AuthenticationExpectation(
      request, trustedFacets: [facetID], models: models, keys: stored.withLock { Array($0.values) }
    ).verify(Array(response.message.utf8))
    stored.withLock { stored in
      for use in verified.uses {
        guard let key = stored[use.reference] else { continue }
        stored[use.reference] = RegisteredKey(
          reference: key.reference, publicKey: key.publicKey, algorithm: key.algorithm,
          signCounter: use.signCounter)
      }
    }
    return verified
  }
}

extension UAFDevice {
  func registration(_ request: RegistrationRequest) async throws -> UAFRegistration {
    guard case .registration(let registration) = try await client.open(request.text) else {
      throw UAFFailure.protocol(.unknown, "not a registration")
    }
    return registration
  }

  func authentication(_ request: AuthenticationRequest) async throws -> UAFAuthentication {
    guard case .authentication(let authentication) = try await client.open(request.text) else {
      throw UAFFailure.protocol(.unknown, "not an authentication")
    }
    return authentication
  }

  /// Completes the registration of an account with one authenticator.
  @discardableResult
  func register(
    _ kind: UAFAuthenticator.Kind, with party: UAFParty, _ username: String = "alice",
    by authentication: Authentication? = nil, invalidates: Bool = true, allowsPasscode: Bool = false
  ) async throws -> UAFKey {
    let request = party.registrationRequest(username)
    let registration = try await registration(request)
    let response = try await registration.register([
      UAFEnrolment(
        aaid: try await aaid(kind), authentication: authentication ?? Self.authentication(kind),
        invalidateOnNewOsBiometrics: invalidates, allowDevicePasscodeAsFallback: allowsPasscode)
    ])
    try party.accept(response, to: request, from: client.facetID)
    try await registration.finish(response, isAccepted: true)
    return try #require(response.keys.first)
  }

  /// Completes an authentication with a key.
  @discardableResult
  func authenticate(
    _ key: UAFKey, with party: UAFParty, by authentication: Authentication? = nil,
    transactions: [UAFTransaction] = []
  ) async throws -> VerifiedAssertion {
    let request = party.authenticationRequest(transactions: transactions)
    let response = try await self.authentication(request).authenticate([
      KeyUnlock(key: key, authentication: authentication ?? Self.authentication(key.kind))
    ])
    #expect(response.keys == [key])
    return try #require(try party.accept(response, to: request, from: client.facetID).uses.first)
  }
}

/// The servers of trusted facet lists, with answers from the test; records the requests.
final class FacetServer: HTTPTransport {
  private struct Values: Sendable {
    var answers: [String: HTTPResponse] = [:]
    var requests: [HTTPRequest] = []
    var failure: TransportFailure?
  }

  private let values: Mutex<Values>

  /// Serves the list of the default application unless a test sets another.
  init(_ list: TrustedFacetList = FacetServer.list()) {
    values = Mutex(Values(answers: [UAFDevice.appID: Self.answer(list)]))
  }

  static func list(_ ids: [String] = [UAFDevice.facetID], version: UAFVersion = .v1_1) -> TrustedFacetList {
    TrustedFacetList([TrustedFacetList.Facets(version: version, ids: ids)])
  }

  static func answer(_ list: TrustedFacetList, headers: [(String, String)] = []) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: [("Content-Type", TrustedFacetList.mediaType)] + headers, body: list.json.bytes)
  }

  func set(_ answer: HTTPResponse, at url: String = UAFDevice.appID) {
    values.withLock { $0.answers[url] = answer }
  }

  func fail(_ failure: TransportFailure?) { values.withLock { $0.failure = failure } }

  var requests: [HTTPRequest] { values.withLock { $0.requests } }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let (answer, failure) = values.withLock { values in
      values.requests.append(request)
      return (values.answers[request.url], values.failure)
    }
    if let failure { throw failure }
    return answer ?? HTTPResponse(status: 404)
  }
}

/// Returns the failure of a call of the UAF client as one value to compare; `nil` if it succeeds.
func uafFailure(_ body: () async throws -> Void) async -> UAFFailure? {
  do {
    try await body()
    return nil
  } catch let failure as UAFFailure {
    return failure  // of a step inside of the module
  } catch let error as SignetError {
    guard case .uaf(let cause) = error else { return .device(error) }
    if let failure = cause.failure as? UAFFailure { return failure }
    Issue.record(error)
    return nil
  } catch {
    Issue.record(error)
    return nil
  }
}
