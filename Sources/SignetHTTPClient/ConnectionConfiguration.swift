/// The use of a proxy.
public enum ProxySetting: Sendable, Hashable {
  /// A direct connection; proxy variables in the environment are ignored.
  case none
  /// The proxy in `https_proxy`, `all_proxy` and `no_proxy` of the environment.
  case environment
  /// The proxy `http://host:port`; TLS still runs end to end through its tunnel.
  case address(String)
}

/// The HTTP version of a transport.
public enum HTTPVersion: Sendable, Hashable {
  /// HTTP/1.1 (RFC 9112), one request at a time on a connection.
  case http1
  /// HTTP/2 (RFC 9113), many concurrent requests on one connection; HTTP/1.1 if the server does not offer it.
  case http2
}

/// The connection settings and the trusted certificates of a transport.
public struct ConnectionConfiguration: Sendable, Hashable {
  /// Seconds for the whole exchange, 0 for no limit, at most 86 400.
  ///
  /// It includes name lookup, connection, TLS, request, response, waiting for a free connection, and all retries.
  public var timeoutSeconds: Int
  /// Further attempts after a failed connection, 0 to 10.
  ///
  /// A retry follows only if no connection was established: the name was not found, or nothing accepted the connection.
  /// After TLS has begun there is no retry, so no request is ever processed twice. Attempts are 100 ms apart, doubling each
  /// time, at most 2 s.
  public var retries: Int
  /// SHA-256 of the SubjectPublicKeyInfo (DER) of acceptable server keys, 32 bytes each.
  ///
  /// One of them must match; empty for no pinning. Pins add to the verification of chain and name, and never replace it (RFC
  /// 7469 section 2.4).
  public var pins: [[UInt8]]
  /// Certificates that are trusted *instead of* the system's roots, as PEM (RFC 7468); nil for the system's roots.
  public var certificateAuthoritiesPEM: String?
  /// The maximum size of a body, in bytes.
  public var maximumResponseByteCount: Int
  /// The maximum size of a header section, status line and line ends included, in bytes.
  public var maximumHeaderByteCount: Int
  /// The maximum number of concurrent requests, 1 to 256.
  ///
  /// With HTTP/1.1 each has its own connection. Further requests wait for a place within their time limit.
  public var maximumConnections: Int
  /// The use of a proxy.
  public var proxy: ProxySetting
  /// The version of HTTP.
  public var version: HTTPVersion
  /// The address to connect to instead of the URL's; `nil` for the URL's.
  package var connectAddress: ConnectAddress?

  /// Creates a configuration; each default suits a device.
  ///
  /// - Parameters:
  ///   - timeoutSeconds: The limit for the whole exchange; 0 for no limit.
  ///   - retries: Further attempts after a failed connection.
  ///   - pins: SHA-256 of acceptable server keys.
  ///   - certificateAuthoritiesPEM: Certificates that replace the system's roots.
  ///   - maximumResponseByteCount: The limit of the body.
  ///   - maximumHeaderByteCount: The limit of the header section.
  ///   - maximumConnections: The limit on concurrent requests.
  ///   - proxy: The use of a proxy; none by default.
  ///   - version: The HTTP version; HTTP/1.1 by default.
  public init(
    timeoutSeconds: Int = 30, retries: Int = 0, pins: [[UInt8]] = [],
    certificateAuthoritiesPEM: String? = nil, maximumResponseByteCount: Int = 1 << 21,
    maximumHeaderByteCount: Int = 16 << 10, maximumConnections: Int = 16, proxy: ProxySetting = .none,
    version: HTTPVersion = .http1
  ) {
    self.timeoutSeconds = timeoutSeconds
    self.retries = retries
    self.pins = pins
    self.certificateAuthoritiesPEM = certificateAuthoritiesPEM
    self.maximumResponseByteCount = maximumResponseByteCount
    self.maximumHeaderByteCount = maximumHeaderByteCount
    self.maximumConnections = maximumConnections
    self.proxy = proxy
    self.version = version
  }

  /// Rejects values out of range, so that a mistake never turns into "no limit" or "no check".
  ///
  /// - Throws: ``TransportFailure/invalidConfiguration(_:)``.
  public func check() throws(TransportFailure) {
    guard (0...86_400).contains(timeoutSeconds) else { throw .invalidConfiguration(.timeout) }
    guard (0...10).contains(retries) else { throw .invalidConfiguration(.retries) }
    guard pins.allSatisfy({ $0.count == 32 }) else { throw .invalidConfiguration(.pins) }
    if let pem = certificateAuthoritiesPEM {
      guard pem.utf8.count <= 1 << 20, pem.contains("-----BEGIN CERTIFICATE-----") else {
        throw .invalidConfiguration(.certificateAuthorities)
      }
    }
    guard maximumResponseByteCount >= 0, maximumHeaderByteCount > 0 else {
      throw .invalidConfiguration(.limits)
    }
    guard (1...256).contains(maximumConnections) else { throw .invalidConfiguration(.limits) }
    guard connectAddress?.isValid ?? true else { throw .invalidConfiguration(.connectAddress) }
    if case .address(let address) = proxy {
      let host = address.utf8.dropFirst(7)
      guard address.hasPrefix("http://"), !host.isEmpty, address.utf8.count <= 256,
        host.allSatisfy({ (0x21...0x7E).contains($0) })
      else { throw .invalidConfiguration(.proxy) }
    }
  }
}

/// A numeric address and port to connect to, instead of the host and port in URLs.
///
/// The URL's host is still used for `Host`, for TLS server name indication, and for the verification of the certificate.
package struct ConnectAddress: Sendable, Hashable {
  /// An IPv4 or IPv6 address, without brackets.
  package var address: String
  /// 1 to 65535.
  package var port: UInt16

  package init(address: String, port: UInt16) { (self.address, self.port) = (address, port) }

  /// True if the address has only the characters of an address, and the port is valid: libcurl cannot misread them.
  var isValid: Bool {
    port > 0 && (1...45).contains(address.utf8.count)
      && address.utf8.allSatisfy {
        (0x30...0x3A).contains($0) || $0 == UInt8(ascii: ".") || (0x61...0x66).contains($0 | 0x20)
      }
  }

  /// An entry of `CURLOPT_CONNECT_TO` that applies to every host and port.
  var entry: String { address.contains(":") ? "::[\(address)]:\(port)" : "::\(address):\(port)" }
}
