import SignetSystem

/// The address of a container's server: host, port and domain.
///
/// Parsed from `host[:port]/domain` (the short form, for typed activations) or from `https://host[:port]/domain`. Values are
/// canonical, so equal addresses compare equal: the host is in lower case, an IPv6 address has its shortest form (RFC 5952),
/// and port 443 is not written.
public struct ServerURL: Sendable, Hashable, CustomStringConvertible {
  /// The DNS name or IPv4 address, or an IPv6 address in brackets.
  public let host: String
  /// The TCP port, 1 to 65535.
  public let port: Int
  /// The server's domain: one path segment, with its case preserved.
  public let domain: String

  /// Parses a server URL.
  ///
  /// - Parameter text: The short or the full form; at most 128 characters after the scheme.
  /// - Throws: ``ServerURLFailure`` with the rule that the text breaks.
  public init(_ text: String) throws(ServerURLFailure) {
    guard text.utf8.count <= Self.maximumByteCount + 8 else { throw .tooLong }
    guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
      throw .forbiddenCharacter
    }
    let authorityAndPath = try Self.withoutScheme(text)
    guard authorityAndPath.utf8.count <= Self.maximumByteCount else { throw .tooLong }
    guard !authorityAndPath.utf8.contains(UInt8(ascii: "#")) else { throw .fragment }
    guard !authorityAndPath.utf8.contains(UInt8(ascii: "?")) else { throw .query }
    guard !authorityAndPath.utf8.contains(UInt8(ascii: "@")) else { throw .userInformation }
    let slash = authorityAndPath.firstIndex(of: "/") ?? authorityAndPath.endIndex
    let (host, port) = try Self.split(authority: authorityAndPath[..<slash])
    self.host = try ServerHost.canonical(host)
    self.port = try Self.parsePort(port)
    domain = try Self.checkDomain(authorityAndPath[slash...].dropFirst())
  }

  /// The canonical full form, `https://host[:port]/domain`; it parses back to an equal value.
  public var description: String { "\(origin)/\(domain)" }

  /// The scheme, host and port without a trailing slash (RFC 6454 section 6.2).
  public var origin: String { port == 443 ? "https://\(host)" : "https://\(host):\(port)" }

  /// Returns the URL of a path below the domain.
  ///
  /// - Parameter path: The path below the domain, percent-encoded by the caller where needed; a leading slash is optional.
  /// - Returns: `https://host[:port]/domain/path`.
  public func url(path: String) -> String {
    path.hasPrefix("/") ? "\(self)\(path)" : "\(self)/\(path)"
  }

  /// The greatest length of the short form, in bytes.
  public static let maximumByteCount = 128

  private static func withoutScheme(_ text: String) throws(ServerURLFailure) -> Substring {
    let delimiter = "://".utf8
    var rest = text.utf8[...]
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      rest = rest[colon...]
      if rest.starts(with: delimiter) {
        switch text[..<colon].lowercased() {
        case "https": return text[rest.index(colon, offsetBy: delimiter.count)...]
        case "http": throw .plainHTTP
        default: throw .unknownScheme
        }
      }
      rest = rest.dropFirst()
    }
    return text[...]
  }

  /// Splits at the colon that is not part of an IPv6 address; a colon without digits after it is rejected later.
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

/// The reasons why a text is no server URL.
@nonexhaustive public enum ServerURLFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The short form has more than 128 bytes.
  case tooLong
  /// The text has a blank or a control character.
  case forbiddenCharacter
  /// The scheme is `http`.
  case plainHTTP
  /// The scheme is neither `https` nor `http`.
  case unknownScheme
  /// The URL has a user name or a password before the host.
  case userInformation
  /// The URL has a query.
  case query
  /// The URL has a fragment.
  case fragment
  /// The host is neither a DNS name nor an IP address.
  case host
  /// The host has letters outside ASCII.
  case internationalHost
  /// The port is not a number from 1 to 65535.
  case port
  /// The domain after the host is missing.
  case missingDomain
  /// The domain is not one path segment of unreserved characters (RFC 3986 section 2.3).
  case domain

  /// The rule that the text breaks; it never contains the text.
  public var description: String {
    switch self {
    case .tooLong: "the server URL is longer than 128 characters; use host[:port]/domain"
    case .forbiddenCharacter: "the server URL has blanks or control characters; remove them"
    case .plainHTTP: "only https is supported; write https:// or leave the scheme out"
    case .unknownScheme: "only https is supported; use host[:port]/domain"
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

extension ServerURL {
  /// The short form `host[:port]/domain`, as typed and as carried by activation codes.
  public var shortForm: String { String(fullForm.dropFirst("https://".count)) }
  /// The full form `https://host[:port]/domain`: the server id.
  public var fullForm: String { description }

  init(wire text: String, member: String) throws(WireFailure) {
    do { try self.init(text) } catch {
      throw .invalid(member: member, reason: "is not a server URL: \(error)")
    }
  }

  /// Parses a server id, which must be in its canonical form: a comparison as text then gives the same result as `==`.
  init(serverID text: String, member: String = "server") throws(WireFailure) {
    try self.init(wire: text, member: member)
    guard fullForm.hasSameBytes(as: text) else {
      throw .invalid(member: member, reason: "is not in the full form of a server id")
    }
  }
}
