/// What a token must say to be accepted (RFC 7519 section 4.1, RFC 8725).
public struct JWTValidation: Sendable, Hashable {
  /// The `iss` that the token must have, or nil for any.
  public var issuer: String?
  /// The `sub` that the token must have, or nil for any.
  public var subject: String?
  /// The names of the reader, one of which `aud` must have; none accepts only tokens without `aud`.
  public var audiences: [String]
  /// The `typ` that the header must have, or nil for any; compared without regard to case and `application/`.
  public var type: String?
  /// Whether `exp` must be there.
  public var requiresExpiry: Bool
  /// The longest time since `iat`, in seconds, which must then be there; nil for any.
  public var maximumAgeSeconds: Int64?
  /// How far the clocks of sender and reader may differ, in seconds.
  public var leewaySeconds: Int64

  /// Says what a token must say.
  ///
  /// - Parameters:
  ///   - issuer: The `iss` that the token must have, or nil for any.
  ///   - subject: The `sub` that the token must have, or nil for any.
  ///   - audiences: The names of the reader, one of which `aud` must have; none accepts only tokens without `aud`.
  ///   - type: The `typ` that the header must have, or nil for any.
  ///   - requiresExpiry: Whether `exp` must be there.
  ///   - maximumAgeSeconds: The longest time since `iat`, or nil for any.
  ///   - leewaySeconds: How far the clocks may differ, 0 or more.
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
