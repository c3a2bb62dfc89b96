import SignetHTTPServer
import SignetJSON
import SignetProtocol

extension ServerResponse {
  static func json(_ object: JSONObject, status: Int = 200) -> ServerResponse {
    bytes(JSONValue.object(object).bytes, type: "application/json", status: status)
  }

  /// Returns an answer of any media type.
  ///
  /// No answer may be cached.
  static func bytes(_ body: [UInt8], type: String, status: Int = 200) -> ServerResponse {
    ServerResponse(
      status: status,
      headers: ["Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"],
      body: body)
  }

  static func problem(_ problem: Problem) -> ServerResponse {
    var response = bytes(problem.bytes, type: Problem.mediaType, status: problem.code.status)
    // RFC 9110 section 15.5.2 requires this field.
    if problem.code.status == 401 { response.headers["WWW-Authenticate"] = "Signet, Bearer" }
    if problem.code == .busy { response.headers["Retry-After"] = "1" }
    if let seconds = problem.retryAfter { response.headers["Retry-After"] = String(seconds) }
    return response
  }
}

/// Rejects a body whose content type is not JSON (RFC 9110 section 8.3).
func requireJSON(_ request: ServerRequest) throws(Problem) {
  let field = request.headers["Content-Type"] ?? ""
  // The limit bounds the time to compare: a long run of combining marks would take long to normalize.
  guard field.utf8.count <= 128 else { throw Problem(.mediaType, "Send Content-Type: application/json.") }
  if field == "application/json" { return }
  let type = field.split(separator: ";").first.map(String.init) ?? ""
  guard type.trimmingSpaces.lowercased() == "application/json" else {
    throw Problem(.mediaType, "Send Content-Type: application/json.")
  }
}

/// Parses a part of a request; a failure states what is wrong with it.
///
/// - Throws: ``Problem/Code/malformed``.
func reading<Value>(_ message: @autoclosure () throws -> Value) throws(Problem) -> Value {
  do { return try message() } catch { throw Problem(reading: error) }
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
