import SignetJOSE
package import SignetWire

/// The addresses and fixed words of the OpenID Provider (`docs/protocol.md` section 11).
package struct OpenIDNames: Sendable {
  /// The grant of CIBA section 10.1.
  static let grantType = "urn:openid:params:grant-type:ciba"
  /// The kind of client assertion of RFC 7523 section 2.2.
  static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
  /// The one scope that is granted; others are passed over.
  static let scope = "openid"
  /// What `acr` says where the user's device signed the decision.
  static let signedACR = "urn:signet:acr:signed"
  /// What `acr` says where the user answered by a key that the server has too: by the digits of a device without a network, or by an
  /// authenticator app.
  static let answeredACR = "urn:signet:acr:answered"
  /// What clients may sign with.
  static let clientAlgorithms: [SignatureAlgorithm] = [.es256, .ps256, .rs256]
  /// The names of what clients may sign with.
  package static let clientAlgorithmNames = clientAlgorithms.map(\.rawValue)
  /// How long a token is good at most that others verify by themselves, in seconds: so long they go on believing it after its user was
  /// suspended, or the authenticator revoked that it was earned with.
  ///
  /// Those are ID tokens, access tokens, and the JWT after an authentication by UAF.
  package static let tokenLifetime: Int64 = 300

  private let server: ServerURL

  /// The names of a server.
  package init(_ server: ServerURL) { self.server = server }

  /// The issuer: the server id.
  var issuer: String { server.fullForm }
  /// Where authentication requests go.
  var backchannelEndpoint: String { server.url(path: "oidc/bc-authorize") }
  /// Where tokens are had.
  var tokenEndpoint: String { server.url(path: "oidc/token") }
  /// Where the keys are with which tokens are verified.
  var keySet: String { server.url(path: "v1/jwks") }
  /// What may be said of this server in the `aud` of a client's assertion (CIBA section 7.1).
  var assertionAudiences: [String] { [issuer, tokenEndpoint, backchannelEndpoint] }
}
