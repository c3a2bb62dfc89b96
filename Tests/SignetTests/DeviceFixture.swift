import Signet
import SignetCrypto
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetTestKit
import Synchronization
import Testing

/// A device in a separate folder, whose transport the test provides.
struct DeviceFixture {
  let folder: TemporaryFolder
  let device: Device
  let vault: Vault

  init(
    _ transport: any HTTPTransport, folder: TemporaryFolder? = nil, clock: (any TrustedClock)? = nil,
    keystore: (any HardwareKeystore)? = nil, settings: Vault.Settings = .forTests()
  ) throws {
    self.folder = try folder ?? TemporaryFolder()
    let path = self.folder.path + "/device"
    vault = try Vault.forTests(path, keystore: keystore) {
      $0 = settings
      $0.clock = clock
    }
    device = Device(vault: vault) { _ throws(TransportFailure) in transport }
  }

  /// Opens the same vault like another process.
  func openVault() throws -> Vault {
    let path = folder.path + "/device"
    return try Vault.forTests(path)
  }

  /// Indicates whether the vault has no container.
  var isEmpty: Bool {
    get async throws { try await vault.containers().isEmpty }
  }

  /// Activates, without a password by default.
  func activate(_ code: ActivationCode, password: String? = nil) async throws -> Container {
    try await device.createContainer(
      ContainerInitialization(code: code),
      handler: password.map { ScriptedActivation(password: $0) } ?? ScriptedActivation(reply: .abort))
  }
}

/// A real server, and an invite for one of its users.
struct InvitingServer {
  let folder: TemporaryFolder
  let server: TestServer
  let transport: CurlTransport

  init(
    _ protection: ProtectionPolicy = .device, derivation: PasswordDerivation = .insecureForTests
  ) async throws {
    let folder = try TemporaryFolder()
    try self.init(
      folder: folder,
      server: await TestServer(directory: folder.path, protection: protection, derivation: derivation))
  }

  init(folder: TemporaryFolder, server: TestServer) throws {
    (self.folder, self.server) = (folder, server)
    transport = try CurlTransport(
      ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
  }

  func invite(_ name: String = "alice") async throws -> ActivationCode {
    let user = try UserID(name)
    do { try await UserService(server.context).add(user, by: .local) } catch StorageFailure.exists {}
    return try await ActivationService(server.context).invite(user, lifetime: nil, by: .local).code
  }

  /// The states of a user's containers at the server.
  func states(_ name: UserID = "alice") async throws -> [String] {
    try await server.context.storage.containers(user: name).map(\.state.rawValue)
  }
}

/// A transport that forwards requests or breaks the connection.
final class CuttingTransport: HTTPTransport {
  /// The point at which the connection breaks: before the request, or after the server has handled it.
  enum Cut: Sendable { case before, after }

  private let inner: any HTTPTransport
  private let cuts = Mutex<[String: Cut]>([:])

  init(_ inner: any HTTPTransport) { self.inner = inner }

  /// Breaks the connection at each request whose path has this suffix.
  func cut(_ cut: Cut?, at suffix: String) { cuts.withLock { $0[suffix] = cut } }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let cut = cuts.withLock { $0.first { request.url.hasSuffix($0.key) }?.value }
    if cut == .before { throw .unreachable(code: 7) }
    let response = try await inner.send(request)
    if cut == .after { throw .incompleteResponse(code: 18) }
    return response
  }
}

/// A server that knows the invite but violates the protocol as a test demands.
final class HostileServer: HTTPTransport {
  /// The deviations from the protocol.
  struct Lies: Sendable {
    var costs = Argon2id.minimum
    var offerServer: ServerURL?
    var offer: (@Sendable ([UInt8]) -> [UInt8])?
    var receiptUser: UserID?
    var receiptServer: ServerURL?
    var receiptType = SignedMessage.receiptType
    var receiptKeyIsRight = true
    var transcriptIsRight = true
    var confirmationIsOfThis = true
    var answers: [String: HTTPResponse] = [:]
    var failures: [String: TransportFailure] = [:]
  }

  /// The key with which it signs.
  static let signingKey = P256.Signing.PrivateKey()

  private let code: ActivationCode
  private let protection: ProtectionPolicy
  private let lies: Lies
  private let derivation: PasswordDerivation
  private let state = Mutex<
    (key: P256.KeyAgreement.PrivateKey, transcript: [UInt8], offer: ActivationOffer?)
  >(
    (P256.KeyAgreement.PrivateKey(), [], nil))
  private let seen = Mutex<[String]>([])

  init(
    _ code: ActivationCode, protection: ProtectionPolicy = .device, _ lies: Lies = Lies(),
    derivation: PasswordDerivation = .insecureForTests
  ) {
    (self.code, self.protection, self.lies, self.derivation) = (code, protection, lies, derivation)
  }

  /// The requests in order.
  var requests: [String] { seen.withLock { $0 } }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let name = String(request.url.split(separator: "/").last ?? "")
    seen.withLock { $0.append(name) }
    if let failure = lies.failures[name] { throw failure }
    if let answer = lies.answers[name] { return answer }
    do {
      switch name {
      case "start": return HTTPResponse(status: 200, body: start(request.body))
      case "finish": return HTTPResponse(status: 200, body: try finish(request.body))
      default: return HTTPResponse(status: 200, body: Array(#"{"status":"active"}"#.utf8))
      }
    } catch {
      Issue.record(error)
      return HTTPResponse(status: 500)
    }
  }

  private func start(_ body: [UInt8]) -> [UInt8] {
    state.withLock { state in
      let made = ActivationOffer(
        key: state.key.publicKey, salt: [UInt8](repeating: 2, count: 16), costs: lies.costs,
        server: lies.offerServer ?? code.server,
        profile: ContainerProfile(protection: protection, totp: .standard), expires: .max,
        random: SystemRandomSource())
      if let change = lies.offer {
        let text = Base64URL.encode(change(made.bytes))
        return Array(#"{"handshake":"h","offer":"\#(text)"}"#.utf8)
      }
      state.offer = made
      state.transcript = ActivationSecrets.startTranscript(start: body, offer: made.bytes)
      return StartAnswer(handshake: "h", offer: made).bytes
    }
  }

  private func finish(_ body: [UInt8]) throws -> [UInt8] {
    let (key, transcript, offer) = state.withLock { $0 }
    let payload = try SignedMessage.unverifiedPayload(of: ActivationFinish(parsing: body).message)
    let core = try ActivationCore(parsing: payload)
    let invite = lies.receiptKeyIsRight ? code.invite : InviteCode(random: SystemRandomSource())
    let secrets = try ActivationSecrets(
      ownKey: key, peerKey: core.agreement,
      inviteKey: invite.key(salt: offer?.salt ?? [], costs: lies.costs, by: derivation),
      startTranscript: transcript,
      core: payload)
    let receipt = try ActivationReceipt(
      container: ContainerID("c1"), user: lies.receiptUser ?? code.user,
      server: lies.receiptServer ?? code.server, created: 1,
      transcript: lies.transcriptIsRight ? secrets.transcript : [UInt8](repeating: 0, count: 32),
      sealed: SealedConfirmation.seal(
        [UInt8](repeating: 8, count: 32),
        transcript: lies.confirmationIsOfThis ? secrets.transcript : [UInt8](repeating: 0, count: 32),
        to: core.keys.encryption),
      serverKey: Self.signingKey.publicKey)
    let message = try SignedMessage.sign(
      receipt.bytes, key: secrets.serverProofKey(), type: lies.receiptType)
    return Array(#"{"message":"\#(message)"}"#.utf8)
  }
}

extension ActivationCode {
  /// A code for a server that does not exist.
  static func made() throws -> ActivationCode {
    ActivationCode(
      server: try ServerURL("id.example.org/main"), user: UserID("alice"),
      invite: InviteCode(random: SystemRandomSource()))
  }
}

/// A password in the form that apps pass.
func secret(_ text: String) -> SharedSecretBox { SharedSecretBox(SecretBytes(copying: Array(text.utf8))) }
