/// A request that is safe to send byte by byte; only the checks here create one.
struct CheckedRequest: Sendable {
  let method: HTTPMethod
  let url: String
  /// Each field as "Name: value", without a line end.
  let fieldLines: [String]
  let body: [UInt8]
  let acceptsRedirect: Bool

  /// Checks a request.
  ///
  /// - Throws: ``TransportFailure/insecureURL`` or ``TransportFailure/invalidRequest(_:)``.
  init(_ request: HTTPRequest) throws(TransportFailure) {
    try Self.checkURL(request.url)
    var lines: [String] = []
    for (name, value) in request.headers { lines.append(try Self.fieldLine(name, value)) }
    if !request.cookies.isEmpty {
      let value = request.cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
      guard value.utf8.count <= 8192 else { throw .invalidRequest(.headerValue) }
      lines.append("Cookie: \(value)")
    }
    if !request.body.isEmpty, request.method == .get || request.method == .head {
      throw .invalidRequest(.unexpectedBody)
    }
    method = request.method
    url = request.url
    fieldLines = lines
    body = request.body
    acceptsRedirect = request.acceptsRedirect
  }

  private static func checkURL(_ url: String) throws(TransportFailure) {
    guard url.prefix(8).lowercased() == "https://" else { throw .insecureURL }
    guard HTTPSURL(url) == nil else { return }
    let authority = url.utf8.dropFirst(8).prefix { !"/?\\".utf8.contains($0) }
    throw .invalidRequest(authority.contains(UInt8(ascii: "@")) ? .userInformation : .url)
  }

  private static func fieldLine(_ name: String, _ value: String) throws(TransportFailure) -> String {
    guard (1...128).contains(name.utf8.count), name.utf8.allSatisfy(isTokenByte) else {
      throw .invalidRequest(.headerName)
    }
    guard value.utf8.count <= 8192, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }),
      value.utf8.first.map(isBlank) != true, value.utf8.last.map(isBlank) != true
    else { throw .invalidRequest(.headerValue) }
    guard !reserved.contains(name.lowercased()) else { throw .invalidRequest(.reservedHeader) }
    // libcurl reads "Name:" as an instruction to omit the field, and "Name;" as a field with an empty value.
    return value.isEmpty ? "\(name);" : "\(name): \(value)"
  }

  /// True if a byte is allowed in a token (RFC 9110 section 5.6.2).
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: tokenSymbols.contains(byte)
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static let tokenSymbols = Set("!#$%&'*+-.^_`|~".utf8)
  private static let reserved: Set<String> = [
    "connection", "content-length", "cookie", "expect", "host", "keep-alive", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]
}
