package import SignetUAF

/// What an operator decides about UAF (`docs/protocol.md` section 12).
public struct UAFSettings: Hashable, Sendable {
  /// How a client is told who it is from now on.
  public enum Reply: String, Hashable, Sendable, CaseIterable {
    /// A JWT in the answer.
    case jwt
    /// A cookie that has the JWT.
    case cookie
  }

  /// What all paths begin with.
  public var prefix = "/nevisfido"
  /// The application; `nil` for the address of the facets.
  public var appID: String?
  /// Who may call clients for the application.
  public var facets: [String]
  /// The policies, by the name that requests choose one by; without one named `default` every known model is accepted.
  package var policies: [String: Policy] = [:]
  /// What keys have to meet beside a policy: the name of a requirement, by that of the policy.
  package var requirements: [String: String] = [:]
  /// The folder with metadata statements; `nil` for none.
  public var metadata: String?
  /// How long a request is good, in seconds.
  public var requestLifetime: Int64 = 120
  /// How long a token can be redeemed, in seconds.
  public var tokenLifetime: Int64 = 300
  /// How long what a client is known by is good, in seconds.
  public var authorizationLifetime: Int64 = OpenIDNames.tokenLifetime
  /// How far the clocks of devices may be off, in seconds.
  public var clockSkew: Int64 = 60
  /// How many operations strangers of one address may have begun, as long as a request is good, that did not succeed.
  public var openRequests: Int64 = 256
  /// How a client is told who it is.
  public var reply = Reply.jwt
  /// What links begin with.
  public var link = "https://link"
  /// Whether the interface of the conformance tool is there, which asks nobody who they are.
  public var hasConformanceAdapter = false

  /// Describes an application that these may call for.
  public init(facets: [String]) { self.facets = facets }
}
