/// The scheme, host and port of a web page; the host is in lower case.
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
  package let host: String
  package let port: UInt16

  /// Parses an `https` URL; the part after host and port is not validated.
  ///
  /// - Parameters:
  ///   - text: The URL, in ASCII.
  ///   - isOriginOnly: True to reject anything after scheme, host and port.
  package init?(_ text: String, isOriginOnly: Bool = false) {
    let scheme = "https://"
    guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      text.utf8.count > scheme.utf8.count, text.prefix(scheme.count).lowercased() == scheme
    else { return nil }
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
    guard !isOriginOnly || authority.count == rest.count, !authority.contains("@") else { return nil }
    var host = authority
    var port: UInt16 = 443
    if let colon = authority.lastIndex(of: ":"), authority.last != "]" {
      let digits = authority[authority.index(after: colon)...]
      guard (1...5).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }),
        let number = UInt16(digits), number > 0
      else { return nil }
      host = authority[..<colon]
      port = number
    }
    let name = host.lowercased()
    guard Self.isHost(name) else { return nil }
    (self.host, self.port) = (name, port)
  }

  /// Indicates whether a host consists of labels of letters, digits and hyphens, or is an address in brackets.
  private static func isHost(_ name: String) -> Bool {
    guard (1...253).contains(name.utf8.count) else { return false }
    if name.hasPrefix("["), name.hasSuffix("]") {
      return name.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }
    return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy {
          (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
        }
    }
  }

  /// The origin in the form of a facet id.
  package var description: String { "https://\(host)" + (port == 443 ? "" : ":\(port)") }
}
