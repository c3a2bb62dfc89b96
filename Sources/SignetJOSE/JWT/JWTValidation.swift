/// The requirements for a token (RFC 7519 section 4.1, RFC 8725).
public struct JWTValidation: Sendable, Hashable {
  /// The required `iss`; `nil` for any.
  public var issuer: String?
  /// The required `sub`; `nil` for any.
  public var subject: String?
  /// The names of the recipient, one of which `aud` must contain; if empty, only tokens without `aud` are accepted.
  public var audiences: [String]
  /// The required `typ` of the header; `nil` for any; case and `application/` are ignored.
  public var type: String?
  /// Indicates whether `exp` is required.
  public var requiresExpiry: Bool
  /// The longest time since `iat`, in seconds, which is then required; `nil` for any.
  public var maximumAgeSeconds: Int64?
  /// The accepted difference between the clocks of issuer and recipient, in seconds.
  public var leewaySeconds: Int64

  /// Creates the requirements for a token.
  ///
  /// - Parameters:
  ///   - issuer: The required `iss`; `nil` for any.
  ///   - subject: The required `sub`; `nil` for any.
  ///   - audiences: The names of the recipient, one of which `aud` must contain; if empty, only tokens without `aud` are
  ///     accepted.
  ///   - type: The required `typ` of the header; `nil` for any.
  ///   - requiresExpiry: True to require `exp`.
  ///   - maximumAgeSeconds: The longest time since `iat`, in seconds; `nil` for any.
  ///   - leewaySeconds: The accepted clock difference, in seconds, 0 or more.
  public init(
    issuer: String? = nil, subject: String? = nil, audiences: [String] = [], type: String? = nil,
    requiresExpiry: Bool = true, maximumAgeSeconds: Int64? = nil, leewaySeconds: Int64 = 30
  ) {
    precondition(leewaySeconds >= 0, "the leeway is \(leewaySeconds) seconds; it cannot be negative")
    self.issuer = issuer
    self.subject = subject
    self.audiences = audiences
    self.type = type
    self.requiresExpiry = requiresExpiry
    self.maximumAgeSeconds = maximumAgeSeconds
    self.leewaySeconds = leewaySeconds
  }
}
