/// A failure of an authentication; another method can continue the login.
public struct UAFAuthenticationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason of the failure.
  public let reason: UAFOperationFailure
  /// The authorization that continues the login: the given cookies with those received since, or the given token.
  public let session: UAFAuthorization?

  /// The failure and the remedy.
  public var description: String { reason.description }
}
