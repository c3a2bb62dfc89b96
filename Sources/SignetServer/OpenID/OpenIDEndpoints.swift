import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetStorage

extension JSONSchema {
  /// The members of the discovery document that every client needs.
  fileprivate static let discovery = message([
    "issuer": string, "jwks_uri": string, "token_endpoint": string,
    "backchannel_authentication_endpoint": string,
  ])

  /// The parameters of an authentication request (CIBA section 7.1); `BackchannelRequest` parses them.
  fileprivate static let authenticationRequest = formParameters([
    "scope": string.described("Must contain `openid`."), "login_hint": string.described("A user id."),
    "login_hint_token": string, "id_token_hint": string,
    "binding_message": string.described("1 to 128 plain characters."), "user_code": string,
    "requested_expiry": string.described("Seconds."),
    "acr_values": string.described(
      "Names of requirements, separated by spaces; the user's answer must meet one of them."),
    "client_notification_token": string,
    "request": string.described("All of these parameters, in a signed JWT."),
    "client_id": string, "client_assertion_type": string, "client_assertion": string,
  ])

  /// The parameters of a token request; `TokenGrant` parses them.
  fileprivate static let tokenRequest = formParameters([
    "grant_type": string.described("`urn:openid:params:grant-type:ciba`"), "auth_req_id": string,
    "client_id": string, "client_assertion_type": string, "client_assertion": string,
  ])

  private static func formParameters(_ parameters: KeyValuePairs<String, JSONSchema>) -> JSONSchema {
    message(parameters, optional: Set(parameters.map(\.key)))
  }
}

/// The answer to an authentication request (CIBA section 7.3).
struct BackchannelAnswer: Message {
  let id: String, expires: Int64, interval: Int64?, number: String?

  static let schema = MessageSchema(Self.init) {
    Member("auth_req_id", \Self.id)
    Member("expires_in", \Self.expires, .integer(1...))
    Member("interval", \Self.interval, .integer(1...))
    Member(
      "signet_number", \Self.number, .text(pattern: "^[0-9]{2,6}$"),
      "The number that the user must type on the device, if the client displays one.")
  }
}

/// The answer to a token request (CIBA section 10.1.1).
package struct TokenAnswer: Message {
  package let accessToken: String, type: String, expires: Int64, scope: String, idToken: String

  package static let schema = MessageSchema(Self.init) {
    Member("access_token", \Self.accessToken)
    Member("token_type", \Self.type)
    Member("expires_in", \Self.expires, .integer(1...))
    Member("scope", \Self.scope)
    Member("id_token", \Self.idToken, "A JWT.")
  }
}

extension API {
  static let discover = Endpoint(
    .get, "/.well-known/openid-configuration", .publish, "discover", "Get the provider's metadata",
    details: "docs/protocol.md section 11", in: .openID, by: .none,
    answers: .object(describedBy: .discovery, "OpenID Connect Discovery 1.0 section 3."),
    below: .domain)
  static let authenticate = Endpoint(
    .post, "/oidc/bc-authorize", .manage, "authenticate",
    "Ask a user, by Client-Initiated Backchannel Authentication", details: "docs/protocol.md section 11",
    in: .openID, by: .client,
    takes: .body(
      FormParameters.mediaType, .authenticationRequest,
      example: ["scope": "openid", "login_hint": "alice", "binding_message": "4711"]),
    answers: .json(BackchannelAnswer.self, "The request was sent to the user."), or: [.openIDDenial],
    below: .domain, .openID)
  static let token = Endpoint(
    .post, "/oidc/token", .grant, "token", "Get the tokens after the user has accepted",
    details: "docs/protocol.md section 11", in: .openID, by: .client,
    takes: .body(
      FormParameters.mediaType, .tokenRequest,
      example: ["grant_type": "urn:openid:params:grant-type:ciba", "auth_req_id": "none"]),
    answers: .json(
      TokenAnswer.self, "The tokens.", headers: ["Pragma": "no-cache"]  // RFC 6749 section 5.1
    ),
    below: .domain, .openID)
}

/// The endpoints for OpenID Connect clients (`docs/protocol.md` section 11).
package struct OpenIDEndpoints: Sendable {
  private let context: ServiceContext
  private let names: OpenIDNames
  private let requests: BackchannelService
  private let grant: TokenGrant

  package init(_ context: ServiceContext, _ transactions: TransactionService) {
    self.context = context
    names = OpenIDNames(context.settings.serverURL)
    requests = BackchannelService(context, ClientAuthentication(context), transactions)
    grant = TokenGrant(context)
  }

  package var routes: [Route] {
    [
      API.discover.answered { [names, context] _ in names.discovery(context.settings.requirements) },
      API.authenticate.answered { [requests] call in
        try await requests.start(call.caller.form, from: call.caller.client)
      },
      API.token.answered { [grant] call in
        try await grant.answer(call.caller.form, to: call.caller.client)
      },
    ]
  }
}
