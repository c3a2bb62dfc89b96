import CCurl

/// The parts of an https URL (RFC 9110 section 4.2.2), as libcurl reads it when a request is sent.
package struct HTTPSURL: Hashable, Sendable {
  /// The scheme, host and port; host and port as written.
  package let origin: String
  /// The host in lower case; an IPv6 address is in brackets.
  package let host: String
  /// The TCP port, 1 to 65535.
  package let port: UInt16
  /// The path as written, at least `/`.
  package let path: String

  /// Parses a URL; `nil` unless libcurl reads the host and port that are written.
  ///
  /// libcurl drops a user, removes the zone of an IPv6 address, decodes percent-encoded hosts, and rewrites ports and addresses
  /// (`0443`, `0x7f.1`, `[0::1]`). A URL with any of these is rejected.
  package init?(_ text: String) {
    let authority = text.dropFirst(8).prefix { $0 != "/" && $0 != "?" }
    guard text.utf8.count <= 2048, text.prefix(8).lowercased() == "https://",
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !Self.unsafeCharacters.contains($0) })
    else { return nil }
    guard let handle = unsafe curl_url() else { preconditionFailure("out of memory") }
    defer { unsafe curl_url_cleanup(handle) }
    guard unsafe curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK,
      let host = unsafe Self.part(CURLUPART_HOST, of: handle)?.lowercased(),
      let port = unsafe Self.part(CURLUPART_PORT, of: handle).flatMap({ UInt16($0) }), port > 0,
      let path = unsafe Self.part(CURLUPART_PATH, of: handle),
      [host, "\(host):\(port)"].contains(authority.lowercased())
    else { return nil }
    self.origin = "https://\(authority)"
    self.host = host
    self.port = port
    self.path = path
  }

  /// The path up to its last slash, which a cookie without a path has (RFC 6265 section 5.1.4).
  package var directory: String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Characters that two parsers may read in two ways (RFC 3986 section 2), and the start of a fragment.
  private static let unsafeCharacters = Set("\"<>\\^`{|}#".utf8)

  private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
    var bytes: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &bytes, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK,
      let text = unsafe bytes
    else { return nil }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
  }
}
