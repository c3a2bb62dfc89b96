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
