import SignetHTTPClient
import SignetJOSE
import SignetJSON

/// A notification as it reached a client of OpenID Connect.
struct Notice: Hashable, Sendable {
  /// The request's `auth_req_id`.
  let request: String
  /// The client of the endpoint.
  let client: String
  /// `ping`, an error, or the claims of the ID token.
  let content: String
  /// The moments of the round's beginning and of the arrival in the run.
  var began = 0
  var moment = 0

  /// The notification endpoint of a client.
  static func endpoint(of client: String) -> String { "https://\(client).example.org/cb" }

  /// The notification token of a request.
  static func token(of request: String) -> String { "token-\(request)" }

  /// Reads a notification; an invalid one has the error in ``content``.
  init(_ message: HTTPRequest) {
    client = String(message.url.dropFirst(8).prefix { $0 != "." })
    do { (request, content) = try Self.read(message) } catch {
      (request, content) = ("-", "not read: \(error)")
    }
  }

  private static func read(_ message: HTTPRequest) throws -> (request: String, content: String) {
    let body = try JSONObject(parsing: message.body)
    let request = try body.string("auth_req_id")
    let isKnown = message.headers.contains {
      $0.0 == "Authorization" && $0.1 == "Bearer \(token(of: request))"
    }
    guard isKnown else { return (request, "not with its token") }
    if let error = try body.optionalString("error") {
      return (request, body.contains("id_token") ? "tokens beside an error" : error)
    }
    guard let token = try body.optionalString("id_token") else { return (request, "ping") }
    return (request, try claims(of: token))
  }

  /// The claims of an ID token about its user and the authentication.
  ///
  /// - Throws: `JOSEFailure` or `JSONFailure` for an invalid token.
  static func claims(of token: String) throws -> String {
    let claims = try JSONObject(parsing: JWS(compact: token).unverifiedPayload)
    let methods = try claims.strings("amr")
    return
      "\(try claims.string("acr")) \(methods.joined(separator: ",")) \(try claims.string("signet_user")) \(try claims.integer("auth_time")) \(try claims.string("sub"))"
  }
}
