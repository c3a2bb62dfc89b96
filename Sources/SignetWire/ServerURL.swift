/// Where a container's server is: host, port and domain.
///
/// Read from `host[:port]/domain` (the short form of an activation that is typed by hand) or from
/// `https://host[:port]/domain`. Two values are equal when they name the same place: the host is in lower case, an
/// IPv6 address in its shortest form (RFC 5952), and 443 is the port that is not written.
public struct ServerURL: Sendable, Hashable, CustomStringConvertible {
  /// The DNS name or IPv4 address, or an IPv6 address in brackets.
  public let host: String
  /// The TCP port, 1 to 65535.
  public let port: Int
  /// The server's domain: one path segment, in the case it was given.
  public let domain: String

  /// Parses text.
  ///
  /// - Parameter text: The short or the full form; at most 128 characters after the scheme.
  /// - Throws: ``ServerURLFailure``, which says what to change.
  public init(_ text: String) throws(ServerURLFailure) {
    guard text.utf8.count <= Self.maximumByteCount + 8 else { throw .tooLong }
    guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
      throw .forbiddenCharacter
    }
    let place = try Self.withoutScheme(text)
    guard place.utf8.count <= Self.maximumByteCount else { throw .tooLong }
    guard !place.utf8.contains(UInt8(ascii: "#")) else { throw .fragment }
    guard !place.utf8.contains(UInt8(ascii: "?")) else { throw .query }
    guard !place.utf8.contains(UInt8(ascii: "@")) else { throw .userInformation }
    let slash = place.firstIndex(of: "/") ?? place.endIndex
    let (host, port) = try Self.split(authority: place[..<slash])
    self.host = try ServerHost.canonical(host)
    self.port = try Self.parsePort(port)
    domain = try Self.checkDomain(place[slash...].dropFirst())
  }

  /// The canonical full form, `https://host[:port]/domain`; parses back to an equal value.
  public var description: String { "\(origin)/\(domain)" }

  /// Scheme, host and port, without a slash at the end (RFC 6454 section 6.2).
  public var origin: String { port == 443 ? "https://\(host)" : "https://\(host):\(port)" }

  /// The URL of something below the domain.
  ///
  /// - Parameter path: The path below the domain, percent-encoded by the caller where needed; a slash at its
  ///   beginning may be left out.
  /// - Returns: `https://host[:port]/domain/path`.
  public func url(path: String) -> String {
    path.hasPrefix("/") ? "\(self)\(path)" : "\(self)/\(path)"
  }

  /// The most characters of the short form.
  public static let maximumByteCount = 128

  private static func withoutScheme(_ text: String) throws(ServerURLFailure) -> Substring {
    let mark = "://".utf8
    var rest = text.utf8[...]
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      rest = rest[colon...]
      if rest.starts(with: mark) {
        switch text[..<colon].lowercased() {
        case "https": return text[rest.index(colon, offsetBy: mark.count)...]
        case "http": throw .plainHTTP
        default: throw .unknownScheme
        }
      }
      rest = rest.dropFirst()
    }
    return text[...]
  }

  /// Splits at the colon that is not part of an IPv6 address; a colon without digits after it is refused.
  private static func split(
    authority: Substring
  ) throws(ServerURLFailure) -> (host: Substring, port: Substring?) {
    guard authority.first == "[" else {
      guard let colon = authority.firstIndex(of: ":") else { return (authority, nil) }
      return (authority[..<colon], authority[colon...].dropFirst())
    }
    guard let bracket = authority.firstIndex(of: "]") else { throw .host }
    let rest = authority[bracket...].dropFirst()
    guard let colon = rest.first else { return (authority, nil) }
    guard colon == ":" else { throw .host }
    return (authority[...bracket], rest.dropFirst())
  }

  private static func parsePort(_ digits: Substring?) throws(ServerURLFailure) -> Int {
    guard let digits else { return 443 }
    let isDecimal = digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isDecimal, digits.first != "0", let port = Int(digits), (1...65_535).contains(port) else {
      throw .port
    }
    return port
  }

  private static func checkDomain(_ domain: Substring) throws(ServerURLFailure) -> String {
    guard !domain.isEmpty else { throw .missingDomain }
    let isUnreserved = domain.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        true
      default: false
      }
    }
    guard isUnreserved, domain != ".", domain != ".." else { throw .domain }
    return String(domain)
  }
}

/// Why text is not a server URL.
@nonexhaustive public enum ServerURLFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// More than 128 characters.
  case tooLong
  /// A blank or a control character.
  case forbiddenCharacter
  /// The scheme is `http`.
  case plainHTTP
  /// The scheme is neither `https` nor `http`.
  case unknownScheme
  /// A user name or password before the host.
  case userInformation
  /// A query.
  case query
  /// A fragment.
  case fragment
  /// The host is neither a DNS name nor an IP address.
  case host
  /// The host has letters outside ASCII.
  case internationalHost
  /// The port is not a number from 1 to 65535.
  case port
  /// There is no domain after the host.
  case missingDomain
  /// The domain is not one plain path segment.
  case domain

  /// What to change; never the text itself.
  public var description: String {
    switch self {
    case .tooLong: "the server URL is longer than 128 characters; use host[:port]/domain"
    case .forbiddenCharacter: "the server URL has blanks or control characters; remove them"
    case .plainHTTP: "only https is spoken; write https:// or leave the scheme out"
    case .unknownScheme: "only https is spoken; use host[:port]/domain"
    case .userInformation: "the server URL must not name a user; remove what is before the @"
    case .query: "the server URL must not have a query; remove the ? and what follows"
    case .fragment: "the server URL must not have a fragment; remove the # and what follows"
    case .host: "the server's name is not a host name or IP address; use host[:port]/domain"
    case .internationalHost: "write the server's name in its ASCII form (xn--...)"
    case .port: "the port must be a number from 1 to 65535"
    case .missingDomain: "the server's domain is missing; use host[:port]/domain"
    case .domain: "the domain may have letters, digits, and - . _ ~ only; use host[:port]/domain"
    }
  }
}
