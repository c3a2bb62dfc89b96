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
struct ClientAddress: Hashable, Sendable {
  private let bytes: [UInt8]

  /// No address: all who have none are one.
  static let none = ClientAddress(bytes: [])

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads an address.
  ///
  /// - Parameter text: 1 to 64 visible ASCII characters; `nil` is returned for any other text.
  init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
    bytes = Self.network(text) ?? Array(text.utf8)
  }

  /// The part of an IPv6 address that counts; an IPv4 address in IPv6's form is that IPv4 address.
  private static func network(_ text: String) -> [UInt8]? {
    guard text.utf8.contains(UInt8(ascii: ":")) else { return nil }
    var address = in6_addr()
    guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: address) { Array($0) }
    if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
      return Array(bytes.suffix(4).map { String($0) }.joined(separator: ".").utf8)
    }
    return Array("v6".utf8) + bytes.prefix(8)
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
