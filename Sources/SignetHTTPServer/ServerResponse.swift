/// A response with fixed bytes.
///
/// The server itself sets `Content-Length`, `Transfer-Encoding`, `Connection`, `Keep-Alive`, `Trailer`, `Upgrade` and
/// `Date`. A response that contains one of them, a field value that would break its line, or a status outside 200 to 599 is
/// not sent; the client gets ``RequestRefusal/invalidResponse`` instead.
package struct ServerResponse: Sendable, Hashable {
  /// The status code, 200 to 599 (RFC 9110 section 15).
  package var status: Int { didSet { prepared = nil } }
  /// The header fields.
  package var headers: HeaderFields { didSet { prepared = nil } }
  /// The body; not sent for `HEAD`, and empty for 204 and 304.
  package var body: [UInt8] { didSet { prepared = nil } }
  /// The response in the library's form, if it was prepared.
  package private(set) var prepared: PreparedResponse?

  /// Creates a response.
  package init(status: Int, headers: HeaderFields = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the same response, converted to the library's form once, for frequent answers.
  package func preparedForSending() -> ServerResponse {
    guard isValid else { return self }
    var response = self
    response.prepared = PreparedResponse(self)
    return response
  }

  /// True if both have the same status, fields and body.
  package static func == (a: ServerResponse, b: ServerResponse) -> Bool {
    a.status == b.status && a.headers == b.headers && a.body == b.body
  }

  /// Hashes status, fields and body.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(headers)
    hasher.combine(body)
  }

  /// True if the server can send it.
  var isValid: Bool {
    guard (200...599).contains(status) else { return false }
    guard body.isEmpty || (status != 204 && status != 304) else { return false }
    return headers.fields.allSatisfy { field in
      field.isValid && !Self.ownedByServer.contains { HeaderFields.isSame($0, field.name) }
    }
  }

  private static let ownedByServer = [
    "content-length", "transfer-encoding", "connection", "keep-alive", "trailer", "upgrade", "date",
  ]

  /// The whole message as bytes, for use in the middle of a body, where MHD cannot queue a response.
  var closingMessage: [UInt8] {
    var head = "HTTP/1.1 \(status) \(RequestRefusal.reasonPhrase(status))\r\n"
    for field in headers.fields { head += "\(field.name): \(field.value)\r\n" }
    head += "Connection: close\r\nContent-Length: \(body.count)\r\n\r\n"
    return Array(head.utf8) + body
  }
}
