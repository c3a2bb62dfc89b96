import SignetHTTPClient

/// The scheme, host and port of a web page; the host is in lower case.
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
  package let host: String
  package let port: UInt16

  /// Parses an `https` URL; the part after host and port is not validated further.
  ///
  /// - Parameters:
  ///   - text: The URL, in ASCII, without a fragment.
  ///   - isOriginOnly: True to reject anything after scheme, host and port.
  package init?(_ text: String, isOriginOnly: Bool = false) {
    guard let url = HTTPSURL(text), !isOriginOnly || url.origin.utf8.count == text.utf8.count,
      Self.isHost(url.host)
    else { return nil }
    host = url.host
    port = url.port
  }

  /// Indicates whether a host consists of labels of letters, digits and hyphens, or is an address in brackets.
  private static func isHost(_ name: String) -> Bool {
    guard !name.hasPrefix("[") else { return true }
    return name.utf8.count <= 253
      && name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        (1...63).contains(label.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
          }
      }
  }

  /// The origin in the form of a facet id.
  package var description: String { "https://\(host)" + (port == 443 ? "" : ":\(port)") }
}
