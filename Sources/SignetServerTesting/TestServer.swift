package import SignetCrypto
package import SignetHTTPClient
package import SignetHTTPServer
public import SignetPolicy
public import SignetProtocol
package import SignetServer
package import SignetStorage
public import SignetSystem
import SignetTestKit

/// A real server in this process: TLS on loopback with a new certificate authority, SQLite in a folder.
///
/// Only the clock can be simulated; code that works with it works with `signet-server`.
public final class TestServer: Sendable {
  package let context: ServiceContext
  /// The certificate authority that clients must trust.
  public let certificateAuthorityPEM: String
  /// The URL of the server for devices.
  public let serverURL: ServerURL
  let server: Server
  private let storage: @Sendable () throws -> Storage
  private let derivation: PasswordDerivation
  private let transport: HTTPServerConfiguration

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - directory: An existing folder for the database.
  ///   - protection: The protection of containers.
  ///   - clock: The clock.
  /// - Throws: The error of the start.
  public convenience init(
    directory: String, protection: ProtectionPolicy, clock: any WallClock = SystemWallClock()
  ) async throws {
    try await self.init(
      directory: directory, protection: protection, clock: clock, log: EventLog { _ in },
      derivation: .argon2id)
  }

  /// Starts a server with a log, push services, limits, a timer, and a storage; by default the storage is a file in the
  /// folder.
  ///
  /// Its invites have a minimal derivation cost, like those of a test vault.
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

  /// Restarts the server on the same port, folder and keys, with changed settings.
  ///
  /// - Parameter change: Changes the settings.
  /// - Returns: The server that now runs.
  /// - Throws: The error of the start.
  package func restarted(_ change: (inout ServicePolicy) -> Void) async throws -> TestServer {
    await stop()
    var settings = context.settings
    change(&settings)
    return try TestServer(self, settings)
  }

  private init(_ stopped: TestServer, _ settings: ServicePolicy) throws {
    storage = stopped.storage
    transport = stopped.transport
    serverURL = stopped.serverURL
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

  /// The endpoints of the server; see `Server.endpoints`.
  package var endpoints: [EndpointDescription] { server.endpoints }

  package var waitingDeviceCount: Int {
    get async { await server.waitingDeviceCount }
  }

  /// Stops the server; requests in flight finish, and its database is closed.
  public func stop() async { await server.stop() }
}
