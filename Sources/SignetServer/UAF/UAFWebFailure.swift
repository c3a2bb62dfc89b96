import SignetHTTP
import SignetJSON
import SignetWire

/// What is answered with an HTTP status of its own: requests that are not UAF's, and those that are not well formed.
struct UAFWebFailure: Error {
  let status: Int
  let reason: String

  init(_ status: Int, _ reason: String) { (self.status, self.reason) = (status, reason) }

  init(_ problem: Problem) { self.init(problem.code.status, problem.detail) }

  /// Nobody, or somebody else, asks.
  static let unauthorized = UAFWebFailure(
    401, "authenticate by UAF as this user, or send the API key of a relying party")

  /// Reads members of a request.
  static func reading<Value>(
    _ read: @autoclosure () throws(JSONFailure) -> Value
  ) throws(UAFWebFailure) -> Value {
    do { return try read() } catch { throw UAFWebFailure(400, error.description) }
  }

  var response: ServerResponse {
    var response = ServerResponse.json(
      ["status": .integer(Int64(status)), "error": .string(reason)], status: status)
    if status == 401 { response.headers["WWW-Authenticate"] = "Bearer" }
    if status == 503 { response.headers["Retry-After"] = "1" }
    return response
  }
}
