import PostgreSQLFixture
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetOATH
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import Testing

/// The services of a server over a separate storage, with a stopped clock and a recorded log.
struct ServerFixture: Sendable {
  let folder: TemporaryFolder
  let clock: VirtualClock
  let capture = EventCapture()
  let location: StorageLocation
  let context: ServiceContext

  /// The storage as the services use it, with the server's MACs on rows.
  var storage: Storage { context.storage }
  var activations: ActivationService { ActivationService(context) }
  var codes: CodeService { CodeService(context) }
  var transactions: TransactionService { TransactionService(context) }
  var users: UserService { UserService(context) }
  var keys: APIKeyService { APIKeyService(context) }
  var tokens: TokenService { TokenService(context) }

  init(
    on backend: StorageBackend = .ofServices, clock: VirtualClock = VirtualClock(), push: PushSetup = .none,
    notices: (any HTTPTransport)? = nil, random: any RandomSource = SystemRandomSource(),
    timer: any Clock<Duration> = ContinuousClock(),
    _ change: (inout ServicePolicy) -> Void = { _ in }
  ) throws {
    self.clock = clock
    folder = try TemporaryFolder()
    location = try backend.location(in: folder)
    let storage = try Storage.open(location)
    var settings = ServicePolicy(
      serverURL: try ServerURL("id.example.org/main"), pins: [[UInt8](repeating: 1, count: 32)],
      profile: ContainerProfile(protection: .device, totp: .standard))
    change(&settings)
    context = ServiceContext(
      settings: settings, storage: storage, masterKey: MasterKey(.random(byteCount: MasterKey.byteCount)),
      clock: clock, random: random, log: capture.log, push: push, notices: notices,
      derivation: .insecureForTests, timer: timer)
  }

  /// Returns a context over the same state whose steps have `faults`.
  func context(suffering faults: StepFaults) -> ServiceContext {
    ServiceContext(
      settings: context.settings, storage: storage.suffering(faults), masterKey: context.masterKey,
      clock: clock, log: capture.log, notices: context.notices, derivation: .insecureForTests)
  }

  /// Adds a user and makes an invite.
  func invite(_ name: String = "alice") async throws -> ActivationCode {
    let user = try UserID(name)
    if try await storage.user(user) == nil { try await users.add(user, by: .local) }
    return try await activations.invite(user, lifetime: nil, by: .local).code
  }

  /// Makes a device with an active container.
  func activate(
    _ name: String = "alice", device id: UInt8 = 1, _ change: (inout ProtocolDevice) -> Void = { _ in }
  ) async throws -> ProtocolDevice {
    var device = ProtocolDevice(code: try await invite(name), id: id)
    change(&device)
    try await device.activate(self)
    return device
  }

  /// The texts of the audit log, after its chain was verified.
  func audit() async throws -> [String] {
    #expect(try await storage.verifyAudit().isIntact)
    let entries = try await storage.auditEntries(after: 0, limit: 10_000)
    return entries.map(\.text)
  }

  /// The reason in the last entry of the audit log.
  func lastReason() async throws -> String? {
    guard let last = try await audit().last else { return nil }
    return try JSONObject(parsing: Array(last.utf8)).optionalString("reason")
  }
}

extension ServiceContext {
  /// Gives a user a device with a container.
  @discardableResult
  func activate(_ user: String) async throws -> ProtocolDevice {
    let invite = try await ActivationService(self).invite(UserID(user), lifetime: nil, by: .local)
    var device = ProtocolDevice(code: invite.code)
    try await device.activate(self)
    return device
  }
}

/// A device that makes its messages itself, so that a test can make invalid ones.
struct ProtocolDevice: Sendable {
  let code: ActivationCode
  var user: UserID
  var server: ServerURL
  var invite: InviteCode
  let ephemeral = P256.KeyAgreement.PrivateKey()
  var session = P256.Signing.PrivateKey()
  var encryption = P256.KeyAgreement.PrivateKey()
  var signing = P256.Signing.PrivateKey()
  let id: [UInt8]
  private(set) var container: ContainerID?
  private(set) var otpSecret: SharedSecretBox?
  private(set) var serverKey: P256.Signing.PublicKey?
  /// The body of *confirm*.
  private(set) var confirmation = ActivationConfirm(confirmation: nil)
  /// The reported keystore of its secrets and its signing key.
  var keystore = DeviceDescription.Keystore.software
  /// Indicates whether it reports that it is a simulation.
  var isSimulated = false
  /// The key that signs in place of `signing`; `nil` for `signing` itself.
  var possessionKey: P256.Signing.PrivateKey?

  init(code: ActivationCode, id: UInt8 = 1) {
    (self.code, user, server, invite) = (code, code.user, code.server, code.invite)
    self.id = [UInt8](repeating: id, count: 16)
  }

  var start: ActivationStart { ActivationStart(user: user, random: SeededRandomSource(seed: 1)) }

  var publicKeys: ContainerKeys {
    ContainerKeys(session: session.publicKey, encryption: encryption.publicKey, signing: signing.publicKey)
  }

  func possession(of transcript: [UInt8]) async throws -> String {
    let key = possessionKey ?? signing
    return try await KeyPossession.signed(transcript, for: key.publicKey, by: key.signature(for:))
  }

  /// Returns the body of *finish*, and the values that verify the answer.
  func finish(_ answer: StartAnswer<ActivationOffer>) async throws -> (
    body: [UInt8], proofKey: SharedSecretBox, otp: SharedSecretBox, transcript: [UInt8]
  ) {
    let core = ActivationCore(
      user: user, server: server, agreement: ephemeral.publicKey,
      keys: publicKeys,
      device: try DeviceDescription(
        id: id, name: "Laptop", platform: "linux", keystore: keystore, isSimulated: isSimulated,
        keyOrigin: keystore)
    ).bytes
    let secrets = try ActivationSecrets(
      ownKey: ephemeral, peerKey: answer.offer.key,
      inviteKey: invite.key(salt: answer.offer.salt, costs: answer.offer.costs, by: .insecureForTests),
      startTranscript: ActivationSecrets.startTranscript(start: start.bytes, offer: answer.offer.bytes),
      core: core)
    let message = try SignedMessage.sign(
      core, key: secrets.deviceProofKey(), type: SignedMessage.activationType)
    let transcript = secrets.transcript
    let (proofKey, otp) = (
      SharedSecretBox(secrets.serverProofKey()), SharedSecretBox(secrets.otpSecret())
    )
    let possession = try await possession(of: transcript)
    return (
      ActivationFinish(handshake: answer.handshake, message: message, possession: possession).bytes,
      proofKey, otp, transcript
    )
  }

  /// Runs *start* and *finish*; the container is pending afterwards.
  mutating func prove(_ server: ServerFixture) async throws { try await prove(server.context) }

  private mutating func prove(_ context: ServiceContext) async throws {
    let activations = ActivationService(context)
    let answer = try await activations.start(start.bytes)
    let (body, proofKey, otp, transcript) = try await finish(answer)
    let received = try await activations.finish(body)
    let message = try #require(ActivationReceipt.message(in: received))
    let payload = proofKey.withSecret {
      SignedMessage.verify(message, key: $0, type: SignedMessage.receiptType)
    }
    let receipt = try ActivationReceipt(parsing: #require(payload))
    (container, serverKey) = (receipt.container, receipt.serverKey)
    otpSecret = otp
    // A device that registers another's key gets a receipt that it cannot open.
    do {
      confirmation = ActivationConfirm(
        confirmation: try SealedConfirmation.open(receipt.sealed, with: encryption, transcript: transcript))
    } catch { confirmation = ActivationConfirm(confirmation: [UInt8](repeating: 0, count: 32)) }
  }

  mutating func activate(_ server: ServerFixture) async throws { try await activate(server.context) }

  mutating func activate(_ context: ServiceContext) async throws {
    try await prove(context)
    try await confirm(context)
  }

  func confirm(_ server: ServerFixture) async throws { try await confirm(server.context) }

  private func confirm(_ context: ServiceContext) async throws {
    let body = confirmation.bytes
    try await ActivationService(context).confirm(
      send(to: context, "POST", "/main/v1/activation/confirm", body, states: [.pending, .active]), body)
  }

  /// Signs a request and authenticates it at the server.
  @discardableResult
  func send(
    to server: ServerFixture, _ method: String = "GET", _ path: String = "/main/v1/device/transactions",
    _ body: [UInt8] = [], states: Set<ContainerRecord.State> = [.active]
  ) async throws -> ContainerRecord {
    try await send(to: server.context, method, path, body, states: states)
  }

  private func send(
    to context: ServiceContext, _ method: String, _ path: String, _ body: [UInt8],
    states: Set<ContainerRecord.State>
  ) async throws -> ContainerRecord {
    try await DeviceAuthentication(context).request(
      authorization: authorization(method, path, body, at: context.clock.now), method: method, path: path,
      body: body, states: states
    ).container
  }

  func authorization(
    _ method: String, _ path: String, _ body: [UInt8], at time: Int64
  ) async throws -> String {
    try await RequestProof(method: method, path: path, body: body, time: time, random: SystemRandomSource())
      .authorization(container: #require(container), by: session.signature(for:))
  }

  /// The code that the device shows.
  func code(at time: Int64) throws -> String {
    let secret = try #require(otpSecret)
    return try secret.withSecret { try TOTPParameters.standard.generator(secret: $0).code(at: time).code }
  }

  /// The body of a decision.
  func decision(
    _ status: DecisionStatus, _ request: TransactionRequest, at time: Int64,
    signedBy key: P256.Signing.PrivateKey? = nil, number: MatchingNumber? = nil
  ) async throws -> [UInt8] {
    let decision = Decision(
      status, of: request, at: time, server: server, user: user, container: try #require(container),
      device: id, number: number)
    let key = key ?? signing
    let jws = try await decision.signed(for: key.publicKey, by: key.signature(for:))
    let body: JSONObject = ["decision": .string(jws)]
    return JSONValue.object(body).bytes
  }
}

/// Returns the problem code that a caller sees for a service's failure; `nil` if there is none.
func problem<Value>(_ body: () async throws -> Value) async throws -> Problem.Code? {
  do { _ = try await body() } catch let problem as Problem { return problem.code } catch let failure
    as StorageFailure
  { return Dialect.problem(failure, EventLog { _ in }).code }
  return nil
}

extension TransactionService {
  /// Applies a decision in a container's new request.
  func decide(_ body: [UInt8], id: TransactionID, by container: ContainerRecord) async throws
    -> DecisionStatus
  {
    let attempt = DecisionAttempt(
      transaction: id, by: SignerRecord(container), request: SystemRandomSource().bytes(16), expires: .max)
    let key = try P256.Signing.PublicKey(x963: container.signingKey)
    return try await decide(
      Self.decision(in: body), attempt, signedWith: key,
      showing: AuthenticationEvidence(of: container, isSigned: true)
    ).value
  }

  /// Applies a text that a container has signed unasked.
  func initiate(_ body: [UInt8], by container: ContainerRecord) async throws -> TransactionID {
    try await initiate(Self.decision(in: body), by: container)
  }

  /// Reads the decision of a request as the endpoints do.
  private static func decision(in body: [UInt8]) throws -> String {
    do { return try SignedDecision(JSONObject(parsing: body)).decision } catch {
      throw Problem(reading: error)
    }
  }
}
