package import SignetCrypto
package import SignetHTTP
public import SignetPolicy
package import SignetServer
package import SignetStorage
import SignetTestKit
package import SignetTransport
public import SignetWire

/// A real server in this process: TLS on loopback with a fresh certificate authority, SQLite in a folder.
///
/// Nothing of it is simulated but, where asked, the clock; so what works against it works against `signet-server`.
public final class TestServer: Sendable {
  /// What the services work with.
  package let context: ServiceContext
  /// The certificate authority that clients must trust.
  public let certificateAuthorityPEM: String
  /// Where devices find the server.
  public let serverURL: ServerURL
  let server: Server
  private let storage: @Sendable () throws -> Storage
  private let derivation: PasswordDerivation
  private let transport: HTTPServerConfiguration

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - directory: An existing folder for the database.
  ///   - protection: What containers are protected with.
  ///   - clock: The time.
  /// - Throws: What goes wrong while starting.
  public convenience init(
    directory: String, protection: ProtectionPolicy, clock: any WallClock = SystemWallClock()
  ) async throws {
    try await self.init(
      directory: directory, protection: protection, clock: clock, log: EventLog { _ in },
      derivation: .argon2id)
  }

  /// Starts a server whose events go to `log`, whose pushes are carried by `push`, which has these limits, whose services wait by
  /// `timer`, and whose state is where `storage` opens it; otherwise in a file in the folder.
  ///
  /// Its invites cost nothing, as those of a vault for tests do.
  package init(
    directory: String, protection: ProtectionPolicy, storage: (@Sendable () throws -> Storage)? = nil,
    clock: any WallClock = SystemWallClock(),
    log: EventLog = EventLog { _ in }, push: PushSetup = .none, notices: (any HTTPTransport)? = nil,
    uaf: UAFSetup? = nil, limits: ServerLimits = ServerLimits(),
    derivation: PasswordDerivation = .insecureForTests, timer: any Clock<Duration> = ContinuousClock()
  ) async throws {
    let authority = try CertificateAuthority(commonName: "Signet test CA")
    let certificate = try authority.issueServerCertificate(
      dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
    let port = try FreePort.find()
    serverURL = try ServerURL("127.0.0.1:\(port)/main")
    certificateAuthorityPEM = try authority.certificatePEM
    let settings = ServicePolicy(
      serverURL: serverURL,
      pins: [try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: certificate.certificatePEM)],
      profile: ContainerProfile(protection: protection, totp: .standard))
    self.storage = storage ?? { try Storage(.file("\(directory)/signet.sqlite")) }
    context = ServiceContext(
      settings: settings, storage: try self.storage(),
      masterKey: MasterKey(.random(byteCount: MasterKey.byteCount)), clock: clock, log: log, push: push,
      notices: notices, uaf: uaf, derivation: derivation, timer: timer)
    self.derivation = derivation
    let identity = try certificate.privateKeyPEM.withSecret { key in
      try key.withBytes {
        try TLSIdentity(certificateChainPEM: certificate.certificatePEM, privateKeyPEM: $0)
      }
    }
    transport = HTTPServerConfiguration(port: port, security: .tls(identity), limits: limits)
    server = try Server(context, transport: transport)
    _ = try server.start()
  }

  /// Stops the server and starts it again on the same port, folder and keys, as an operator who has changed its settings does.
  ///
  /// - Parameter change: Changes the settings.
  /// - Returns: The server that runs now.
  /// - Throws: What goes wrong while starting.
  package func restarted(_ change: (inout ServicePolicy) -> Void) async throws -> TestServer {
    await stop()
    var settings = context.settings
    change(&settings)
    return try TestServer(self, settings)
  }

  private init(_ stopped: TestServer, _ settings: ServicePolicy) throws {
    (storage, transport, serverURL) = (stopped.storage, stopped.transport, stopped.serverURL)
    certificateAuthorityPEM = stopped.certificateAuthorityPEM
    context = ServiceContext(
      settings: settings, storage: try storage(),
      masterKey: stopped.context.masterKey, clock: stopped.context.clock, log: stopped.context.log,
      push: stopped.context.push, notices: stopped.context.notices, uaf: stopped.context.uaf,
      derivation: stopped.derivation)
    derivation = stopped.derivation
    server = try Server(context, transport: transport)
    _ = try server.start()
  }

  /// What the server answers; see `Server.endpoints`.
  package var endpoints: [EndpointDescription] { server.endpoints }

  /// How many devices wait for something new.
  package var waitingDeviceCount: Int {
    get async { await server.waitingDeviceCount }
  }

  /// Stops the server; requests in flight finish, and its database is closed.
  public func stop() async { await server.stop() }
}
