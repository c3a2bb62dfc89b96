/// The parts of an https URL that name the server and the resource (RFC 9110 section 4.2.2).
package struct HTTPSURL: Hashable, Sendable {
  /// Scheme, host and port, as written.
  package let origin: String
  /// The host in lower case.
  package let host: String
  /// The path, at least `/`.
  package let path: String

  /// Reads a URL; `nil` unless its scheme is https, it has a host and at most a port after it, and it has neither a user nor a fragment.
  package init?(_ url: String) {
    guard url.prefix(8).lowercased() == "https://", !url.contains("#"),
      url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    let rest = url.dropFirst(8)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = rest[..<end]
    guard !authority.isEmpty, !authority.contains("@"), !authority.contains("\\") else { return nil }
    var host = authority
    if authority.first == "[" {
      guard let bracket = authority.firstIndex(of: "]") else { return nil }
      host = authority[...bracket]
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
    }
    let port = authority[host.endIndex...]
    guard !host.isEmpty,
      port.isEmpty || (port.first == ":" && port.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) })
    else { return nil }
    (origin, self.host) = ("https://\(authority)", host.lowercased())
    let path = rest[end...].prefix { $0 != "?" }
    self.path = path.isEmpty ? "/" : String(path)
  }

  /// The path up to its last slash, which a cookie without a path has (RFC 6265 section 5.1.4).
  package var directory: String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
