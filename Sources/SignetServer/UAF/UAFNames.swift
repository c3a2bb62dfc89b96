import SignetProtocol
import SignetUAF

/// The URLs and fixed names of UAF (`docs/protocol.md` section 12).
package struct UAFNames: Sendable {
  /// The policy of requests that name none.
  package static let defaultPolicy = "default"
  /// The media type of the protocol's messages.
  static let mediaType = "application/fido+uaf"
  /// The `acr` of an authentication with a UAF authenticator.
  static let acr = "urn:signet:acr:uaf"
  /// The name of the cookie with the authorization token.
  ///
  /// Only this host can set a cookie with this prefix (RFC 6265bis section 4.1.3.2).
  static let cookie = "__Host-signet-uaf"

  private let server: ServerURL
  private let settings: UAFSettings

  init(_ server: ServerURL, _ settings: UAFSettings) { (self.server, self.settings) = (server, settings) }

  var origin: String { server.origin }
  /// The issuer of authorization tokens: the server id.
  var issuer: String { server.fullForm }
  var facets: String { "\(origin)\(settings.prefix)/uaf/1.1/facets" }
  var appID: String { settings.appID ?? facets }

  /// Returns the URL where a token for an operation is redeemed.
  func redeem(_ operation: UAFOperation) -> String {
    "\(origin)\(settings.prefix)/token/redeem/\(operation.pathName)"
  }
}

extension UAFOperation {
  /// The operation's name in paths.
  var pathName: String {
    switch self {
    case .registration: "registration"
    case .authentication: "authentication"
    case .deregistration: "deregistration"
    }
  }
}
