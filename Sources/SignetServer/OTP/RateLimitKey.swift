import SignetCrypto
import SignetProtocol

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The end user's address from a relying party: an IP literal, or any text that identifies a client.
///
/// Of an IPv6 address only the first 64 bits count, since one client usually holds a network of that size. The server stores
/// only a keyed digest.
struct RateLimitKey: Hashable, Sendable {
  private let bytes: [UInt8]

  /// The key for all clients without an address.
  static let none = RateLimitKey(bytes: [])

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Parses an address.
  ///
  /// - Parameter text: 1 to 64 visible ASCII characters; any other text returns `nil`.
  init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
    bytes = Self.network(Self.bare(text)) ?? Array(text.utf8)
  }

  /// Returns an address without the port, brackets and zone that proxies add (RFC 7239 section 6, RFC 4007 section 11).
  private static func bare(_ text: String) -> String {
    var text = text[...]
    if text.first == "[", let end = text.firstIndex(of: "]") {
      text = text[text.index(after: text.startIndex)..<end]
    } else if let colon = text.firstIndex(of: ":"), text[..<colon].contains(".") {
      text = text[..<colon]  // In IPv6, a colon precedes any dot.
    }
    return String(text.prefix { $0 != "%" })
  }

  /// Returns the bytes of an address that count; `nil` if the text is not an IP address.
  ///
  /// For IPv4, also mapped into IPv6, these are all 4 bytes; for IPv6, a prefix and the first 8 bytes.
  private static func network(_ text: String) -> [UInt8]? {
    var (ipv4, ipv6) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &ipv4) == 1 { return withUnsafeBytes(of: ipv4) { Array($0) } }
    guard inet_pton(AF_INET6, text, &ipv6) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: ipv6) { Array($0) }
    let isIPv4 = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    return isIPv4 ? Array(bytes.suffix(4)) : Array("v6".utf8) + bytes.prefix(8)
  }

  /// Returns the network of an address for the log: `192.0.2.1` or `2001:db8:0:1::/64`; other texts unchanged.
  static func networkName(of text: String) -> String {
    guard let bytes = network(bare(text)) else { return text }
    guard bytes.count > 4 else { return bytes.map { String($0) }.joined(separator: ".") }
    let first = bytes.suffix(8).map { UInt16($0) }
    let groups = stride(from: 0, to: 8, by: 2).map { String(first[$0] << 8 | first[$0 + 1], radix: 16) }
    return groups.joined(separator: ":") + "::/64"
  }

  /// Returns the stored digest of an address from a relying party.
  ///
  /// - Throws: ``Problem/Code/malformed`` if the text is not 1 to 64 visible ASCII characters.
  static func digest(of text: String?, under key: HMACKey) throws(Problem) -> [UInt8] {
    guard let text else { return none.digest(under: key) }
    guard let address = Self(text) else {
      throw Problem(.malformed, "\"client\" must have 1 to 64 visible ASCII characters")
    }
    return address.digest(under: key)
  }

  /// Returns the stored digest: the first 16 bytes of HMAC-SHA256.
  func digest(under key: HMACKey) -> [UInt8] { Array(key.authenticationCode(for: bytes).prefix(16)) }
}
