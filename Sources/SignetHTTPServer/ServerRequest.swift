import SignetSystem

/// A complete request: its head was validated and its body is within the limits.
package struct ServerRequest: Sendable {
  /// The method: a token of at most 32 bytes, with its case as sent (`GET`, `POST` …).
  package var method: String
  /// The path, as it was sent and decoded.
  package var path: RequestPath
  /// The decoded query; empty if there was none.
  package var query: QueryParameters
  /// The header fields, in order.
  ///
  /// Values are UTF-8 without control bytes.
  package var headers: HeaderFields
  /// The body, at most ``ServerLimits/bodyByteCount`` bytes; empty if there was none.
  package var body: [UInt8]
  /// The client's numeric address, such as `192.0.2.7` or `2001:db8::1`.
  package var remoteAddress: String
  /// The segments captured by the pattern of ``Router``, by name; empty outside a router.
  package var parameters: [String: String]

  /// Creates a request, for tests of handlers.
  package init(
    method: String, path: RequestPath, query: QueryParameters = QueryParameters(),
    headers: HeaderFields = [:], body: [UInt8] = [], remoteAddress: String = "127.0.0.1",
    parameters: [String: String] = [:]
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.remoteAddress = remoteAddress
    self.parameters = parameters
  }
}

/// The path of a request target (RFC 3986 section 3.3).
package struct RequestPath: Sendable, Hashable {
  /// The path as it was sent, percent-encoded, starting with `/`; `*` for a server-wide `OPTIONS`.
  package let raw: String
  /// The segments between the slashes, each percent-decoded after splitting.
  ///
  /// A decoded slash stays inside its segment. `/` is one empty segment, `*` is none.
  package var segments: [String] {
    if let decoded { return decoded }
    return Array(raw.parts(separatedBy: UInt8(ascii: "/")).dropFirst())
  }

  /// The decoded segments, if they differ from the text between the slashes.
  private let decoded: [String]?

  /// Splits and decodes a path.
  ///
  /// - Parameter raw: An absolute path, visible ASCII; `*` is accepted as well.
  /// - Throws: ``RequestRefusal/malformed`` for a percent sign without two hexadecimal digits, decoded bytes that are not
  ///   UTF-8, control bytes (NUL included), and `.` or `..` segments, encoded or not.
  package init(raw: String) throws(RequestRefusal) {
    self.raw = raw
    guard raw != "*" else {
      decoded = []
      return
    }
    guard raw.utf8.first == UInt8(ascii: "/") else { throw .malformed }
    guard !raw.allBytesSatisfy(Self.isPlain) else {
      decoded = nil
      return
    }
    var segments: [String] = []
    for part in raw.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      let segment = try PercentDecoding.decode(part, plusIsSpace: false)
      guard segment != ".", segment != ".." else { throw .malformed }
      segments.append(segment)
    }
    decoded = segments
  }

  /// True for a byte that needs no decoding and is in no dot segment: a letter, a digit, `-`, `_`, or the slash.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
}

/// The name and value pairs of a query in the form `a=1&b=2` (WHATWG URL section 5.1; `+` is a space).
package struct QueryParameters: Sendable, Hashable {
  /// The query as it was sent, without the question mark; `nil` if the target had none.
  package let raw: String?
  /// The decoded pairs, in order; a name without `=` has an empty value.
  package let items: [HeaderFields.Field]

  /// Creates an empty query.
  package init() {
    raw = nil
    items = []
  }

  /// Splits and decodes a query.
  ///
  /// - Throws: ``RequestRefusal/malformed`` if percent-encoding is broken, or decodes to bytes that are not UTF-8 or are
  ///   control bytes.
  package init(raw: String) throws(RequestRefusal) {
    self.raw = raw
    var items: [HeaderFields.Field] = []
    for pair in raw.utf8.split(separator: UInt8(ascii: "&")) {
      let separator = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      items.append(
        HeaderFields.Field(
          name: try PercentDecoding.decode(pair[..<separator], plusIsSpace: true),
          value: try PercentDecoding.decode(pair[separator...].dropFirst(), plusIsSpace: true)))
    }
    self.items = items
  }

  /// The first value of that name (case matters), or `nil`.
  package subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  /// Returns every value of that name, in order.
  package func values(for name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }
}
