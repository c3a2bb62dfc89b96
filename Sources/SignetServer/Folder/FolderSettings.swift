public import SignetWire

/// What `server.json` in an operator's data folder says.
///
/// The file is strict JSON, which `schema` describes: docs/server-settings.md is made from it. A member that is not known is refused: a
/// setting with a typing error would otherwise be one that silently does not hold.
@dynamicMemberLookup public struct FolderSettings: Hashable, Sendable {
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

  /// What its services go by, whose members are members of these settings as well; the pins are those of ``serverSettings(pins:)``.
  public var services: ServerSettings
  /// What the file says of its format.
  var writtenFormat = FolderSettings.format
  /// The numeric address to listen on; `::` serves IPv4 as well.
  public var listenAddress: String
  /// The TCP port to listen on, 1 to 65535; another than that of the URL behind a forwarding port.
  public var listenPort: UInt16
  /// The files of TLS.
  public var tls = TLSFiles()
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
  /// How UAF is served; `nil` for not at all.
  public var uaf: UAFSettings?
  /// The folder in memory in which the processes that serve the data folder share keys of handshakes, a full path; `nil` where one
  /// process serves it.
  public var runtime: String?
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
    services = ServerSettings(serverURL: serverURL, pins: [], profile: profile)
    self.listenAddress = listenAddress ?? Self.defaultAddress(for: serverURL.host)
    self.listenPort = listenPort ?? UInt16(clamping: serverURL.port)
  }

  /// A setting of the services.
  public subscript<Value>(dynamicMember path: WritableKeyPath<ServerSettings, Value>) -> Value {
    get { services[keyPath: path] }
    set { services[keyPath: path] = newValue }
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
    var settings = services
    settings.pins = pins
    (settings.waitingCount, settings.waitingCountPerAddress) =
      (connections.waiting, connections.waitingPerAddress)
    return settings
  }
}
