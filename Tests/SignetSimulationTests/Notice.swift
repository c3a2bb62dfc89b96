import SignetJOSE
import SignetJSON
import SignetTransport

/// What a client of OpenID Connect was told, as it came to the client.
struct Notice: Hashable, Sendable {
  /// The request that it is about, by its `auth_req_id`.
  let request: String
  /// Whose endpoint it came to.
  let client: String
  /// `ping`, an error, or the claims of the ID token.
  let content: String
  /// When the round of telling began, and when it came, in moments of the run.
  var began = 0
  var moment = 0

  /// Where a client is told.
  static func endpoint(of client: String) -> String { "https://\(client).example.org/cb" }

  /// What a client knows a notice of a request by.
  static func token(of request: String) -> String { "token-\(request)" }

  /// Reads what came; what is none says so in ``content``.
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

  /// What an ID token says of its user and of how the user was authenticated.
  ///
  /// - Throws: `JOSEFailure`, `JSONFailure` for one that is none.
  static func claims(of token: String) throws -> String {
    let claims = try JSONObject(parsing: JWS(compact: token).unverifiedPayload)
    let methods = try claims.strings("amr")
    return
      "\(try claims.string("acr")) \(methods.joined(separator: ",")) \(try claims.string("signet_user")) \(try claims.integer("auth_time")) \(try claims.string("sub"))"
  }
}
