import SignetHTTPServer

/// The checks of `Content-Type` and `Accept` (UAF Application API section 8.3).
enum UAFMediaTypes {
  /// Checks the content type of a request, and that it accepts the type of the answer.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - sent: The required type of the body; `nil` for no body.
  ///   - answered: The type of the answer; `nil` for no check.
  /// - Throws: ``UAFWebFailure``: 415 or 406.
  static func check(_ request: ServerRequest, sent: String?, answered: String?) throws(UAFWebFailure) {
    if let sent {
      guard let field = request.headers["Content-Type"], field.utf8.count <= 128, isType(field, sent) else {
        throw UAFWebFailure(415, "the content type must be \(sent)")
      }
    }
    guard let answered, let accept = request.headers["Accept"] else { return }
    guard accept.utf8.count <= 1_024,
      accept.split(separator: ",").contains(where: { accepts(String($0), answered) })
    else { throw UAFWebFailure(406, "the answer is \(answered)") }
  }

  /// Returns true if a content type is the expected one, with the charset UTF-8 or none.
  private static func isType(_ field: String, _ expected: String) -> Bool {
    let parts = field.lowercased().split(separator: ";").map { trimmed($0) }
    guard parts.first == expected else { return false }
    return parts.dropFirst().allSatisfy { part in
      guard part.hasPrefix("charset=") else { return true }
      let name = part.dropFirst("charset=".count).filter { $0 != "\"" }
      return name == "utf-8" || name == "utf8"
    }
  }

  private static func accepts(_ range: String, _ answered: String) -> Bool {
    let parts = range.lowercased().split(separator: ";").map { trimmed($0) }
    guard let type = parts.first else { return false }
    let isRefused = parts.dropFirst().contains { $0 == "q=0" || $0 == "q=0.0" }
    let group = answered.prefix { $0 != "/" } + "/*"
    return !isRefused && (type == answered || type == "*/*" || type == String(group))
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
