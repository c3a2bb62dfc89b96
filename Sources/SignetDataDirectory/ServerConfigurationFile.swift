import SignetHTTPServer
package import SignetJSON
package import SignetProtocol
package import SignetServer

/// The settings of a server, as stored in `server.json` of its data folder.
///
/// The file is strict JSON, which `schema` describes; docs/server-settings.md is generated from it. An unknown member is
/// rejected, because a misspelled setting would otherwise be silently ignored.
@dynamicMemberLookup package struct ServerConfigurationFile: Hashable, Sendable {
  /// The format that this build writes, and the newest that it reads.
  package static let format: Int64 = 1

  /// The files of TLS: names within the folder, or full paths.
  package struct TLSFiles: Hashable, Sendable {
    /// The server's certificate, then its intermediates, PEM.
    package var certificate: String
    /// The certificate's private key, PEM.
    package var key: String
    /// The authority that clients trust, PEM; `nil` if a public one issued the certificate.
    package var authority: String?

    /// Creates file names; the defaults are those of ``DataDirectory/create(at:_:alternativeNames:masterKeyFile:clock:)``.
    package init(certificate: String = "tls.pem", key: String = "tls.key", authority: String? = "ca.pem") {
      self.certificate = certificate
      self.key = key
      self.authority = authority
    }
  }

  /// The settings of the services, whose members are also members of this structure; ``servicePolicy(pins:)`` adds the pins.
  package var services: ServicePolicy
  var writtenFormat = ServerConfigurationFile.format
  /// The numeric address to listen on; `::` serves IPv4 as well.
  package var listenAddress: String
  /// The TCP port to listen on, 1 to 65535; behind a forwarding port it differs from the URL's.
  package var listenPort: UInt16
  package var tls = TLSFiles()
  package var connections = ConnectionLimits()
  /// The PostgreSQL server with the data, as a libpq URI; `nil` for the folder's own SQLite file.
  package var databaseServer: String?
  /// Seconds that a database change waits while another process writes.
  package var busyTimeout: Int64 = 10
  package var push = PushSettings()
  /// The trusted certificates for notifications to OpenID Connect clients, PEM; `nil` for the system's.
  package var openIDAuthority: String?
  /// The settings of FIDO UAF; `nil` if the server does not offer it.
  package var uaf: UAFSettings?
  /// The full path of the memory-backed folder in which the processes of the data folder share handshake keys.
  ///
  /// It is `nil` if only one process serves the data folder.
  package var runtime: String?
  /// 16 bytes derived from the master key, to recognize it; empty until the folder is created.
  var masterKeyCheck: [UInt8] = []

  /// Creates the settings of a server.
  ///
  /// - Parameters:
  ///   - serverURL: The URL of the server for devices.
  ///   - listenAddress: A numeric address; `nil` for 127.0.0.1 if the URL's host is `localhost` or a loopback address, and
  ///     for all addresses (`::`) otherwise.
  ///   - listenPort: 1 to 65535; `nil` for the URL's.
  ///   - profile: The contents of a new container.
  package init(
    serverURL: ServerURL, listenAddress: String? = nil, listenPort: UInt16? = nil, profile: ContainerProfile
  ) {
    services = ServicePolicy(serverURL: serverURL, pins: [], profile: profile)
    self.listenAddress = listenAddress ?? Self.defaultAddress(for: serverURL.host)
    self.listenPort = listenPort ?? UInt16(clamping: serverURL.port)
  }

  /// A setting of the services.
  package subscript<Value>(dynamicMember path: WritableKeyPath<ServicePolicy, Value>) -> Value {
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

  /// Returns the settings of the services with pins.
  ///
  /// A pin is SHA-256 of the SubjectPublicKeyInfo of a certificate that devices accept.
  func servicePolicy(pins: [[UInt8]]) -> ServicePolicy {
    var settings = services
    settings.pins = pins
    (settings.waitingCount, settings.waitingCountPerAddress) =
      (connections.waiting, connections.waitingPerAddress)
    return settings
  }
}

extension ServerConfigurationFile {
  package init(parsing bytes: [UInt8]) throws(Refusal) {
    do {
      let object = try JSONObject(parsing: bytes)
      // The format is checked first, because members of a newer format are unknown here.
      let format = try object.integer(Self.formatSetting.name)
      guard (1...Self.format).contains(format) else { throw Refusal.tooNew(format) }
      self = try Self.schema.read(object)
    } catch let refusal as Refusal {
      throw refusal
    } catch let failure as JSONFailure {
      throw .reason(failure.description(in: bytes))
    } catch {
      throw .reason("\(error)")  // each error names the wrong member and the reason
    }
  }

  /// The settings in the form of `server.json`.
  package var json: JSONObject { Self.schema.json(of: self) }
}

extension ServerConfigurationFile {
  /// Why settings were refused; the caller adds the file's name.
  package enum Refusal: Error {
    /// The file has this format, which this build does not read.
    case tooNew(Int64)
    /// A setting is missing, unknown or invalid; the text names it and the reason.
    case reason(String)
  }
}

/// The maximum numbers of simultaneous connections of a server.
package struct ConnectionLimits: Hashable, Sendable {
  /// All connections.
  package var total: Int
  /// Connections from one IPv4 address or one IPv6 /64 network.
  package var perAddress: Int
  /// Connections on which a device waits for news, fewer than `total`; `nil` for half of `total`.
  package var waiting: Int?
  /// Waiting connections from one address, fewer than `perAddress`; `nil` for half of `perAddress`.
  package var waitingPerAddress: Int?

  package init() {
    let limits = ServerLimits()
    (total, perAddress) = (limits.connectionCount, limits.connectionCountPerAddress)
  }
}
