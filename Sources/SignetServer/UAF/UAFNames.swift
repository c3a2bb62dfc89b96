import SignetUAF
import SignetWire

/// The addresses and fixed words of UAF (`docs/protocol.md` section 12).
package struct UAFNames: Sendable {
  /// The policy of requests that name none.
  package static let defaultPolicy = "default"
  /// The media type of the protocol's messages.
  static let mediaType = "application/fido+uaf"
  /// What `acr` says where a UAF authenticator signed.
  static let acr = "urn:signet:acr:uaf"
  /// The cookie with what a client is known by; no host but this one can set one of this name (RFC 6265bis section 4.1.3.2).
  static let cookie = "__Host-signet-uaf"

  private let server: ServerURL
  private let settings: UAFSettings

  init(_ server: ServerURL, _ settings: UAFSettings) { (self.server, self.settings) = (server, settings) }

  /// Scheme, host and port.
  var origin: String { server.origin }
  /// Who signs what a client is known by: the server id.
  var issuer: String { server.fullForm }
  /// Where the facets are.
  var facets: String { "\(origin)\(settings.prefix)/uaf/1.1/facets" }
  /// The application.
  var appID: String { settings.appID ?? facets }

  /// Where a token for an operation is redeemed.
  func redeem(_ operation: UAFOperation) -> String {
    "\(origin)\(settings.prefix)/token/redeem/\(operation.pathName)"
  }
}

extension UAFOperation {
  /// The operation in paths.
  var pathName: String {
    switch self {
    case .registration: "registration"
    case .authentication: "authentication"
    case .deregistration: "deregistration"
    }
  }
}
