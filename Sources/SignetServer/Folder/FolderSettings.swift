import SignetCrypto
import SignetJSON
import SignetPolicy
public import SignetStorage
public import SignetWire

/// What `server.json` in an operator's data folder says.
///
/// The file is strict JSON, which `schema` describes: docs/server-settings.md is made from it. A member that is not known is refused: a
/// setting with a typing error would otherwise be one that silently does not hold.
public struct FolderSettings: Hashable, Sendable {
  /// The format that this build writes, and the newest that it reads.
  public static let format: Int64 = 1

  /// The files of TLS: names within the folder, or full paths.
  public struct TLSFiles: Hashable, Sendable {
    /// The server's certificate, then its intermediates, PEM.
    public var certificate: String
    /// The certificate's private key, PEM.
    public var key: String
    /// The authority that clients trust, PEM; `nil` where a public one issued the certificate.
    public var authority: String?

    /// Names the files; the defaults are those that ``ServerFolder/create(at:_:alternativeNames:masterKeyFile:clock:)`` makes.
    public init(certificate: String = "tls.pem", key: String = "tls.key", authority: String? = "ca.pem") {
      (self.certificate, self.key, self.authority) = (certificate, key, authority)
    }
  }

  /// What the file says of its format.
  var writtenFormat = FolderSettings.format
  /// Where devices find the server.
  public var serverURL: ServerURL
  /// The numeric address to listen on; `::` serves IPv4 as well.
  public var listenAddress: String
  /// The TCP port to listen on, 1 to 65535; another than that of the URL behind a forwarding port.
  public var listenPort: UInt16
  /// What a new container holds and what protects it.
  public var profile: ContainerProfile
  /// What a broken account policy leads to, and which flavours of apps are taken.
  public var accountRules = AccountRules()
  /// What must keep the secrets of a device, at least.
  public var keystoreRequirement = KeystoreRequirement.any
  /// The files of TLS.
  public var tls = TLSFiles()
  /// Wrong proofs after which an invite is void.
  public var inviteAttempts: Int
  /// How long an invite lives unless its maker says otherwise, in seconds.
  public var inviteLifetime: Int64
  /// How long a transaction lives unless its maker says otherwise, in seconds.
  public var transactionLifetime: Int64
  /// Failed one-time codes in a row after which a user is locked.
  public var codeAttempts: Int
  /// How one-time codes are compared, and what slows down who guesses them.
  public var codes = CodeRules()
  /// How many transactions a user is asked to decide, and how often.
  public var challengeLimits = TransactionLimits()
  /// How many connections there may be.
  public var connections = ConnectionSettings()
  /// The PostgreSQL server that keeps the data, as libpq takes it; `nil` for the folder's own SQLite file.
  public var databaseServer: String?
  /// How long a change of the database waits for another process that writes, in seconds.
  public var busyTimeout: Int64 = 10
  /// Which services carry pushes.
  public var push = PushSettings()
  /// Certificates that are trusted where clients of OpenID Connect are told, PEM; `nil` for the system's.
  public var openIDAuthority: String?
  /// What relying parties can ask for by name.
  package var requirements = NamedRequirements()
  /// How UAF is served; `nil` for not at all.
  public var uaf: UAFSettings?
  /// The folder in memory in which the processes that serve the data folder share keys of handshakes, a full path; `nil` where one
  /// process serves it.
  public var runtime: String?
  /// The numeric addresses from which the operator asks whether the server is ready, in the form of `inet_ntop`.
  public var operatorAddresses = FolderSettings.defaultOperatorAddresses
  /// This machine's own.
  package static let defaultOperatorAddresses: Set<String> = ["127.0.0.1", "::1"]
  /// 16 bytes derived from the master key, by which another key is noticed; empty until the folder is made.
  var masterKeyCheck: [UInt8] = []

  /// Describes a server that listens for itself.
  ///
  /// - Parameters:
  ///   - serverURL: Where devices find it.
  ///   - listenAddress: A numeric address; `nil` for 127.0.0.1 where the URL's host is `localhost` or a loopback
  ///     address, and for all addresses (`::`) otherwise.
  ///   - listenPort: 1 to 65535; `nil` for the URL's.
  ///   - profile: What a new container holds.
  public init(
    serverURL: ServerURL, listenAddress: String? = nil, listenPort: UInt16? = nil, profile: ContainerProfile
  ) {
    let defaults = ServerSettings(serverURL: serverURL, pins: [], profile: profile)
    self.serverURL = serverURL
    self.listenAddress = listenAddress ?? Self.defaultAddress(for: serverURL.host)
    self.listenPort = listenPort ?? UInt16(clamping: serverURL.port)
    self.profile = profile
    (inviteAttempts, inviteLifetime) = (defaults.inviteAttempts, defaults.inviteLifetime)
    (transactionLifetime, codeAttempts) = (defaults.transactionLifetime, defaults.codeAttempts)
  }

  private static func defaultAddress(for host: String) -> String {
    switch host {
    case "[::1]": "::1"
    case "localhost": "127.0.0.1"
    case _ where host.hasPrefix("127.") && host.split(separator: ".").count == 4: "127.0.0.1"
    default: "::"
    }
  }

  /// What the services are told, with the pins of acceptable certificates: SHA-256 of SubjectPublicKeyInfo.
  func serverSettings(pins: [[UInt8]]) -> ServerSettings {
    var settings = ServerSettings(serverURL: serverURL, pins: pins, profile: profile)
    (settings.inviteAttempts, settings.inviteLifetime) = (inviteAttempts, inviteLifetime)
    (settings.transactionLifetime, settings.codeAttempts) = (transactionLifetime, codeAttempts)
    settings.keystoreRequirement = keystoreRequirement
    settings.accountRules = accountRules
    settings.requirements = requirements
    settings.codes = codes
    settings.operatorAddresses = operatorAddresses
    settings.challengeLimits = challengeLimits
    (settings.waitingCount, settings.waitingCountPerAddress) =
      (connections.waiting, connections.waitingPerAddress)
    return settings
  }
}
