import SignetCrypto
import SignetWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The end user's address, as a relying party tells it: an IP literal, or any text that stands for a client.
///
/// Of an IPv6 address the first 64 bits count, which is what one client can be expected to hold. It is stored as a keyed digest
/// only.
struct RateLimitKey: Hashable, Sendable {
  private let bytes: [UInt8]

  /// No address: all who have none are one.
  static let none = RateLimitKey(bytes: [])

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads an address.
  ///
  /// - Parameter text: 1 to 64 visible ASCII characters; `nil` is returned for any other text.
  init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
    bytes = Self.network(Self.bare(text)) ?? Array(text.utf8)
  }

  /// An address without the port, brackets and zone that proxies write around it (RFC 7239 section 6, RFC 4007 section 11).
  private static func bare(_ text: String) -> String {
    var text = text[...]
    if text.first == "[", let end = text.firstIndex(of: "]") {
      text = text[text.index(after: text.startIndex)..<end]
    } else if let colon = text.firstIndex(of: ":"), text[..<colon].contains(".") {
      text = text[..<colon]  // IPv6 has a colon before a dot
    }
    return String(text.prefix { $0 != "%" })
  }

  /// The part of an address that counts: all of IPv4, which may be in IPv6's form, and the first 64 bits of IPv6; `nil` where the
  /// text is neither.
  private static func network(_ text: String) -> [UInt8]? {
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: six) { Array($0) }
    let isFour = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    return isFour ? Array(bytes.suffix(4)) : Array("v6".utf8) + bytes.prefix(8)
  }

  /// The network of a connection's address as the log names it: `192.0.2.1`, `2001:db8:0:1::/64`; what is no address as it is.
  static func networkName(of text: String) -> String {
    guard let bytes = network(bare(text)) else { return text }
    guard bytes.count > 4 else { return bytes.map { String($0) }.joined(separator: ".") }
    let first = bytes.suffix(8).map { UInt16($0) }
    let groups = stride(from: 0, to: 8, by: 2).map { String(first[$0] << 8 | first[$0 + 1], radix: 16) }
    return groups.joined(separator: ":") + "::/64"
  }

  /// What is stored of the address that a relying party tells.
  ///
  /// - Throws: ``Problem/Code/malformed`` for what is no such text.
  static func digest(of text: String?, under key: HMACKey) throws(Problem) -> [UInt8] {
    guard let text else { return none.digest(under: key) }
    guard let address = Self(text) else {
      throw Problem(.malformed, "\"client\" has 1 to 64 visible ASCII characters")
    }
    return address.digest(under: key)
  }

  /// What is stored: 16 bytes of HMAC-SHA256.
  func digest(under key: HMACKey) -> [UInt8] { Array(key.authenticationCode(for: bytes).prefix(16)) }
}
