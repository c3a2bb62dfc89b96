import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetTestKit
import SignetUAF
import SignetUAFClient
import Synchronization
import Testing

/// A user with scripted answers, which records the questions.
final class ScriptedPerson: UAFInteraction {
  enum Event: Hashable, Sendable {
    case account([String], shown: String?)
    case choice([String], shown: String?)
    case enrol(UAFRecoverableError?)
    case change(UAFRecoverableError?, LockStatus)
    case verify(UAFRecoverableError?, LockStatus, shown: String?)
    case prompt(UAFRecoverableError?, shown: String?)
    case valid(String)
  }

  private struct Values: Sendable {
    var kind = UAFAuthenticator.Kind.pin
    var username = "alice"
    var secrets: [String] = []
    var changes: [(String, String)] = []
    var choice: String?
    var silent: String?
    var stopsAtLast = false
    var events: [Event] = []
    var obstacles: [String: UAFAuthenticatorChoice.Obstacle?] = [:]
  }

  private let values = Mutex(Values())
  let pinPolicy: UAFPINPolicy
  let passwordPolicy: UAFPasswordPolicy

  /// Typed text is the same for PINs and passwords: a rejecting policy would repeat the question without end.
  static let anyPassword = UAFPasswordPolicy(enrolmentRule: { _ in }, changeRule: { _ in })

  init(
    pinPolicy: UAFPINPolicy = UAFPINPolicy(), passwordPolicy: UAFPasswordPolicy = ScriptedPerson.anyPassword
  ) {
    (self.pinPolicy, self.passwordPolicy) = (pinPolicy, passwordPolicy)
  }

  /// Returns the questions since the last call, in order.
  func events() -> [Event] {
    values.withLock { values in
      defer { values.events = [] }
      return values.events
    }
  }

  /// The obstacles of the authenticators at the last choice.
  var obstacles: [String: UAFAuthenticatorChoice.Obstacle?] { values.withLock { $0.obstacles } }

  func use(_ kind: UAFAuthenticator.Kind) { values.withLock { $0.kind = kind } }
  func choose(_ aaid: String?) { values.withLock { $0.choice = aaid } }
  func be(_ username: String) { values.withLock { $0.username = username } }
  /// Sets the next typed texts in order; the last one repeats, and `271828` is the default.
  func type(_ secrets: String...) { values.withLock { $0.secrets = secrets } }
  func change(_ changes: (String, String)...) { values.withLock { $0.changes = changes } }
  /// Types the first of the set texts, and then cancels the question.
  func cancelAfterTyping() { values.withLock { $0.stopsAtLast = true } }
  /// Cancels the question of this name: account, choice, enrol, change, verify, prompt.
  func cancel(at question: String?) { values.withLock { $0.silent = question } }

  private func take(_ event: Event, _ name: String) -> String? {
    values.withLock { values in
      values.events.append(event)
      if values.silent == name { return nil }
      let asksSecret = ["enrol", "verify", "prompt"].contains(name)
      if asksSecret, values.secrets.count > 1 { return values.secrets.removeFirst() }
      if asksSecret, values.stopsAtLast {
        values.stopsAtLast = false
        return nil
      }
      return values.secrets.first ?? "271828"
    }
  }

  func selectAccount(_ question: UAFAccountSelection, answer: UAFAnswer<String>) async {
    let names = question.accounts.map(\.username)
    guard take(.account(names, shown: question.transaction?.text), "account") != nil else {
      answer.cancel()
      return
    }
    answer.give(values.withLock { $0.username })
  }

  func selectAuthenticator(_ question: UAFAuthenticatorSelection, answer: UAFAnswer<String>) async {
    let usable = question.choices.filter { $0.obstacle == nil }
    values.withLock { values in
      values.obstacles = [:]
      for choice in question.choices {
        values.obstacles[choice.authenticator.kind.rawValue] = .some(choice.obstacle)
      }
    }
    let kinds = usable.map(\.authenticator.kind.rawValue).sorted()
    guard take(.choice(kinds, shown: question.transaction?.text), "choice") != nil else {
      answer.cancel()
      return
    }
    let (kind, aaid) = values.withLock { ($0.kind, $0.choice) }
    answer.give(
      aaid ?? question.choices.first { $0.authenticator.kind == kind }?.authenticator.aaid ?? "none")
  }

  func enrol(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
    give(answer, take(.enrol(question.lastRecoverableError), "enrol"))
  }

  func verify(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
    give(
      answer,
      take(
        .verify(
          question.lastRecoverableError, question.protectionStatus, shown: question.transaction?.text),
        "verify"))
  }

  func change(_ question: UAFCredentialRequest, answer: UAFAnswer<UAFChangedCredential>) async {
    guard take(.change(question.lastRecoverableError, question.protectionStatus), "change") != nil else {
      answer.cancel()
      return
    }
    let (old, new) = values.withLock { $0.changes.count > 1 ? $0.changes.removeFirst() : $0.changes[0] }
    answer.give(UAFChangedCredential(from: .typed(old), to: .typed(new)))
  }

  func verifyBiometrics(_ question: UAFPromptRequest, answer: UAFAnswer<UAFBiometricPrompt>) async {
    guard
      take(.prompt(question.lastRecoverableError, shown: question.transaction?.text), "prompt") != nil
    else {
      answer.cancel()
      return
    }
    answer.give(UAFBiometricPrompt(reason: "Sign in"))
  }

  func verifyPasscode(_ question: UAFPromptRequest, answer: UAFAnswer<UAFPasscodePrompt>) async {
    guard
      let typed = take(.prompt(question.lastRecoverableError, shown: question.transaction?.text), "prompt")
    else {
      answer.cancel()
      return
    }
    answer.give(UAFPasscodePrompt(reason: "Sign in", conversation: ScriptedPasscodeConversation(typed)))
  }

  func validCredentialsProvided(by username: String, to authenticator: UAFAuthenticator) async {
    values.withLock { $0.events.append(.valid(authenticator.kind.rawValue)) }
  }

  private func give(_ answer: UAFAnswer<SharedSecretBox>, _ typed: String?) {
    if let typed { answer.give(.typed(typed)) } else { answer.cancel() }
  }
}

extension SharedSecretBox {
  static func typed(_ text: String) -> SharedSecretBox {
    SharedSecretBox(SecretBytes(copying: Array(text.utf8)))
  }
}

/// A transport that forwards and records requests, and changes answers as a test demands.
final class ChangingTransport: HTTPTransport {
  typealias Change = @Sendable (HTTPRequest, inout HTTPResponse) -> Void

  private let inner: any HTTPTransport
  private let values = Mutex<(requests: [HTTPRequest], change: Change?)>(([], nil))

  init(_ inner: any HTTPTransport) { self.inner = inner }

  /// Returns the requests since the last call, in order.
  func requests() -> [HTTPRequest] {
    values.withLock { values in
      defer { values.requests = [] }
      return values.requests
    }
  }

  func change(_ change: Change?) { values.withLock { $0.change = change } }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    values.withLock { $0.requests.append(request) }
    var response = try await inner.send(request)
    values.withLock { $0.change }?(request, &response)
    return response
  }
}

/// A real server with UAF and a device, which communicate over TLS.
struct UAFOperationsFixture {
  static let facet = "linux:app-id:org.example.test"

  let folder: TemporaryFolder
  let server: TestServer
  let clock: VirtualClock
  let device: Device
  let vault: Vault
  let client: UAFClient
  let person: ScriptedPerson
  let timer = VirtualTimer()
  let biometrics = SimulatedBiometrics()
  let passcode = SimulatedPasscode("secret")
  let transport: CuttingTransport
  let changes: ChangingTransport
  let trusted = VirtualTrustedClock()
  let apiKey: String

  init(
    _ person: ScriptedPerson = ScriptedPerson(), facet: String = Self.facet,
    face: SimulatedBiometrics? = nil, _ change: (inout UAFSettings) -> Void = { _ in }
  ) async throws {
    folder = try TemporaryFolder()
    clock = VirtualClock()
    self.person = person
    var settings = UAFSettings(facets: [Self.facet])
    change(&settings)
    let models = AuthenticatorModels(try UAFAuthenticatorModel.statements.map { try AuthenticatorModel($0) })
    server = try await TestServer(
      directory: folder.path, protection: .device, clock: clock, uaf: UAFSetup(settings, models: models))
    let inner = try CurlTransport(
      ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
    changes = ChangingTransport(inner)
    let transport = CuttingTransport(changes)
    self.transport = transport
    let path = folder.path + "/device"
    vault = try Vault.forTests(path, clock: trusted)
    device = Device(vault: vault, clock: clock, biometrics: biometrics, passcode: passcode) {
      _ throws(TransportFailure) in transport
    }
    client = UAFClient(device: device, facetID: facet, face: face)
    for name in ["alice", "bob"] { try await UserService(server.context).add(try UserID(name), by: .local) }
    apiKey = try await APIKeyService(server.context).create(
      name: "Shop", displayName: nil, scopes: [.relyingParty], by: .local
    ).text
  }

  /// Scheme, host, port and prefix.
  var baseURL: String { "https://127.0.0.1:\(server.serverURL.port)/nevisfido" }

  var operations: UAFOperations {
    get throws {
      UAFOperations(
        client: client, configuration: try UAFConfiguration(baseURL: baseURL), interaction: person,
        clock: timer)
    }
  }

  /// Registers with a relying party's authorization.
  @discardableResult
  func register(
    _ username: String = "alice", _ kind: UAFAuthenticator.Kind = .pin, named name: String = "laptop",
    pushToken: String? = nil
  ) async throws -> UAFRegistrationOutcome {
    person.use(kind)
    return try await operations.register(
      username, device: UAFNewDevice(name: name, pushToken: pushToken), authorization: .jwt(apiKey))
  }

  /// Sends a request to the server as a relying party.
  func ask(_ path: String, _ body: JSONObject, _ method: HTTPMethod = .post) async throws -> JSONObject {
    let response = try await transport.send(
      HTTPRequest(
        method: method, url: baseURL + path,
        headers: [("Content-Type", "application/json"), ("Authorization", "Bearer \(apiKey)")],
        body: method == .get ? [] : body.bytes))
    return response.body.isEmpty ? [:] : try JSONObject(parsing: response.body)
  }

  /// Makes a token at the server and returns its payload as a link.
  func link(
    _ operation: String, _ context: JSONObject, to target: String? = nil, data: String? = nil
  ) async throws -> String {
    var body: JSONObject = [
      "dispatcher": "link", "getUafRequest": ["context": .string(context.text)],
    ]
    if let target { body["dispatchTargetId"] = .string(target) }
    if let data { body["dispatchInformation"] = ["data": .string(data)] }
    let answer = try await ask("/token/dispatch/\(operation)", body)
    return try answer.object("dispatcherInformation").string("response")
  }

  /// The server's keys of a user.
  func serverKeys(_ username: UserID = "alice") async throws -> [String] {
    try await server.context.storage.uafCredentials(user: username).map { Base64URL.encode($0.keyID) }
  }

  /// The device's keys of a user.
  func ownKeys(_ username: String = "alice") async throws -> [String] {
    try await client.keys().filter { $0.username == username }.map(\.keyID)
  }
}

/// Returns the failure of a UAF operation.
func failure(of body: () async throws -> Void) async -> UAFOperationFailure? {
  do {
    try await body()
    return nil
  } catch let error as SignetError {
    guard case .uaf(let cause) = error else { return .device(error) }
    if let failure = cause.failure as? UAFOperationFailure { return failure }
    Issue.record("another failure: \(error)")
    return nil
  } catch {
    Issue.record("another failure: \(error)")
    return nil
  }
}

/// Records that a test has reached an unexpected place.
func failed(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) {
  Issue.record(comment, sourceLocation: sourceLocation)
}
