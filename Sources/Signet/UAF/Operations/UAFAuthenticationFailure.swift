/// Why an authentication failed; the login that it belonged to can go on with another method.
public struct UAFAuthenticationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong.
  public let reason: UAFOperationFailure
  /// What keeps the login: cookies that were given or have come since, or the token that was given.
  public let session: UAFAuthorization?

  /// What happened and what to do.
  public var description: String { reason.description }
}
