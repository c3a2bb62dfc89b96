package import SignetUAF

/// The operator's settings for UAF (`docs/protocol.md` section 12).
package struct UAFSettings: Hashable, Sendable {
  /// The form in which a client receives its authorization token.
  package enum Reply: String, Hashable, Sendable, CaseIterable {
    /// A JWT in the answer.
    case jwt
    /// A cookie that contains the JWT.
    case cookie
  }

  /// The prefix of all paths.
  package var prefix = "/nevisfido"
  /// The application id; `nil` for the URL of the facets.
  package var appID: String?
  /// The ids of the facets that may call UAF clients for the application.
  package var facets: [String]
  /// The policies by name, which a request selects.
  ///
  /// Without one named `default`, every known model is accepted by default.
  package var policies: [String: Policy] = [:]
  /// The name of the requirement that keys must meet in addition to a policy, by the policy's name.
  package var requirements: [String: String] = [:]
  /// The folder with metadata statements; `nil` for none.
  package var metadata: String?
  /// The lifetime of a request, in seconds.
  package var requestLifetime: Int64 = 120
  /// The lifetime of a token, in seconds.
  package var tokenLifetime: Int64 = 300
  /// The lifetime of an authorization token, in seconds.
  package var authorizationLifetime: Int64 = OpenIDNames.tokenLifetime
  /// The largest clock difference of a device, in seconds.
  package var clockSkew: Int64 = 60
  /// The largest number of operations that anonymous clients of one address may have begun within a request's lifetime, not
  /// counting those that succeeded.
  package var openRequests: Int64 = 256
  /// The form in which a client receives its authorization token.
  package var reply = Reply.jwt
  /// The prefix of links.
  package var link = "https://link"
  /// Indicates whether the conformance tool's interface is served.
  ///
  /// It does not authenticate its callers.
  package var hasConformanceAdapter = false

  /// Creates settings for an application with these facets.
  package init(facets: [String]) { self.facets = facets }
}
