import SignetJOSE
package import SignetProtocol

/// The URLs and fixed names of the OpenID Provider (`docs/protocol.md` section 11).
package struct OpenIDNames: Sendable {
  /// The grant type of CIBA section 10.1.
  static let grantType = "urn:openid:params:grant-type:ciba"
  /// The type of client assertions (RFC 7523 section 2.2).
  static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
  /// The only scope that is granted; others are ignored.
  static let scope = "openid"
  /// The `acr` if the user's device signed the decision.
  static let signedACR = "urn:signet:acr:signed"
  /// The `acr` of an answer with a key that the server also has: digits of an offline device, or an authenticator app.
  static let answeredACR = "urn:signet:acr:answered"
  /// The algorithms with which clients may sign.
  static let clientAlgorithms: [SignatureAlgorithm] = [.es256, .ps256, .rs256]
  /// The names of the algorithms with which clients may sign.
  package static let clientAlgorithmNames = clientAlgorithms.map(\.rawValue)
  /// The longest lifetime of a token that others verify, in seconds.
  ///
  /// Others accept such a token for this time after its user was suspended, or after its authenticator was revoked. These
  /// are ID tokens, access tokens, and the JWT after a UAF authentication.
  package static let tokenLifetime: Int64 = 300

  private let server: ServerURL

  package init(_ server: ServerURL) { self.server = server }

  /// The issuer: the server id.
  var issuer: String { server.fullForm }
  /// The URL for authentication requests.
  var backchannelEndpoint: String { server.url(path: "oidc/bc-authorize") }
  /// The URL for token requests.
  var tokenEndpoint: String { server.url(path: "oidc/token") }
  /// The URL of the keys that verify tokens.
  var keySet: String { server.url(path: "v1/jwks") }
  /// The allowed values of `aud` in a client's assertion (CIBA section 7.1).
  var assertionAudiences: [String] { [issuer, tokenEndpoint, backchannelEndpoint] }
}
