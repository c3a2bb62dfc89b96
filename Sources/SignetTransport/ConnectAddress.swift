/// A numeric address and a port, to which a transport connects whatever host and port its URLs name.
///
/// The URL's host stays what the request says in `Host`, what TLS asks for, and what the certificate must be for.
package struct ConnectAddress: Sendable, Hashable {
  /// An IPv4 or IPv6 address, without brackets.
  package var address: String
  /// 1 to 65535.
  package var port: UInt16

  /// Names an address and a port.
  package init(address: String, port: UInt16) { (self.address, self.port) = (address, port) }

  /// Whether these are an address's characters and a port: nothing that libcurl reads in another way.
  var isValid: Bool {
    port > 0 && (1...45).contains(address.utf8.count)
      && address.utf8.allSatisfy {
        (0x30...0x3A).contains($0) || $0 == UInt8(ascii: ".") || (0x61...0x66).contains($0 | 0x20)
      }
  }

  /// An entry of `CURLOPT_CONNECT_TO` for every host and port.
  var entry: String { address.contains(":") ? "::[\(address)]:\(port)" : "::\(address):\(port)" }
}
