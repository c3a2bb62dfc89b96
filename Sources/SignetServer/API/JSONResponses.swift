import SignetHTTP
import SignetJSON
import SignetWire

extension ServerResponse {
  /// A JSON answer.
  static func json(_ object: JSONObject, status: Int = 200) -> ServerResponse {
    bytes(JSONValue.object(object).bytes, type: "application/json", status: status)
  }

  /// An answer of any media type.
  ///
  /// Nothing that we answer may be kept by a cache.
  static func bytes(_ body: [UInt8], type: String, status: Int = 200) -> ServerResponse {
    ServerResponse(
      status: status,
      headers: ["Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"],
      body: body)
  }

  /// A problem document.
  static func problem(_ problem: Problem) -> ServerResponse {
    var response = bytes(problem.bytes, type: Problem.mediaType, status: problem.code.status)
    // RFC 9110 section 15.5.2 wants to hear how to authenticate.
    if problem.code.status == 401 { response.headers["WWW-Authenticate"] = "Signet, Bearer" }
    if problem.code == .busy { response.headers["Retry-After"] = "1" }
    if let seconds = problem.retryAfter { response.headers["Retry-After"] = String(seconds) }
    return response
  }
}

/// Refuses a body that does not say that it is JSON (RFC 9110 section 8.3).
func requireJSON(_ request: ServerRequest) throws(Problem) {
  let field = request.headers["Content-Type"] ?? ""
  // What is long is not compared: it could be a run of combining marks, which takes long to put into its normal form.
  guard field.utf8.count <= 128 else { throw Problem(.mediaType, "Send Content-Type: application/json.") }
  if field == "application/json" { return }
  let type = field.split(separator: ";").first.map(String.init) ?? ""
  guard type.trimmingSpaces.lowercased() == "application/json" else {
    throw Problem(.mediaType, "Send Content-Type: application/json.")
  }
}

/// Reads what somebody sent, who is told what is wrong with it.
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
