/// Whether requests go through a proxy.
public enum ProxySetting: Sendable, Hashable {
  /// Straight to the server, whatever the environment says.
  case none
  /// As `https_proxy`, `all_proxy` and `no_proxy` of the environment say.
  case environment
  /// Through this proxy, `http://host:port`; TLS still runs end to end through its tunnel.
  case address(String)
}

/// The version of HTTP that a transport speaks.
public enum HTTPVersion: Sendable, Hashable {
  /// HTTP/1.1 (RFC 9112), one request at a time on a connection.
  case http1
  /// HTTP/2 (RFC 9113), many requests at a time on one connection; HTTP/1.1 where the server does not offer it.
  case http2
}

/// How a transport connects and what it trusts.
public struct ConnectionConfiguration: Sendable, Hashable {
  /// Seconds for the whole exchange, 0 for no limit, at most 86 400.
  ///
  /// Counts name lookup, connection, TLS, request, answer, waiting for a free connection, and all retries.
  public var timeoutSeconds: Int
  /// Further attempts after a connection could not be made, 0 to 10.
  ///
  /// Only an attempt that ended before the connection stood is repeated: the name was not found, or nothing
  /// accepted the connection. Once TLS has begun there is no second attempt, so no request is ever processed twice.
  /// Attempts are 100 ms apart, doubling each time, at most 2 s.
  public var retries: Int
  /// SHA-256 of the SubjectPublicKeyInfo (DER) of acceptable server keys, 32 bytes each.
  ///
  /// Any may match; empty for no pinning. Pins come on top of chain and name verification, never instead of it (RFC 7469 section 2.4).
  public var pins: [[UInt8]]
  /// Certificates that are trusted *instead of* the system's roots, as PEM (RFC 7468); nil for the system's roots.
  public var certificateAuthoritiesPEM: String?
  /// The largest accepted body, in bytes.
  public var maximumResponseByteCount: Int
  /// The largest accepted header section, status line and line ends included, in bytes.
  public var maximumHeaderByteCount: Int
  /// Requests under way at a time, 1 to 256, with HTTP/1.1 each on its connection; further ones wait their turn within their time limit.
  public var maximumConnections: Int
  /// The proxy, if any.
  public var proxy: ProxySetting
  /// The version of HTTP.
  public var version: HTTPVersion
  /// Where to connect in place of what URLs name; `nil` for that.
  package var connectAddress: ConnectAddress?

  /// Creates a configuration; each default suits a device.
  ///
  /// - Parameters:
  ///   - timeoutSeconds: For the whole exchange; 0 for no limit.
  ///   - retries: After a connection could not be made.
  ///   - pins: SHA-256 of acceptable server keys.
  ///   - certificateAuthoritiesPEM: Trusted instead of the system's roots.
  ///   - maximumResponseByteCount: Limit of the body.
  ///   - maximumHeaderByteCount: Limit of the header section.
  ///   - maximumConnections: At a time.
  ///   - proxy: None unless said.
  ///   - version: HTTP/1.1 unless said.
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

  /// Refuses values that are out of range, so that a slip never turns into "no limit" or "no check".
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
