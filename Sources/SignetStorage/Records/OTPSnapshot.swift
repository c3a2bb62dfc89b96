/// What an attempt to use one-time passwords finds, in the step that decides about it.
public struct OTPSnapshot: Hashable, Sendable {
  /// The credentials that it may be about, oldest first.
  public var credentials: [CredentialRecord]
  /// What the address has to wait; `nil` for nothing, and where the attempt names no address.
  public var wait: WaitRecord?
  /// Whether the user is not active, so that nothing is to be accepted.
  public var isUserHeld: Bool
  /// Whether the attempt names a user that there is not, or not any more.
  public var isUserUnknown: Bool

  /// Describes a snapshot.
  ///
  /// - Parameters:
  ///   - credentials: The credentials.
  ///   - wait: What the address has to wait.
  ///   - isUserHeld: Whether the user is not active.
  ///   - isUserUnknown: Whether there is no such user.
  public init(
    credentials: [CredentialRecord], wait: WaitRecord? = nil, isUserHeld: Bool = false,
    isUserUnknown: Bool = false
  ) {
    self.credentials = credentials
    self.wait = wait
    (self.isUserHeld, self.isUserUnknown) = (isUserHeld, isUserUnknown)
  }
}
