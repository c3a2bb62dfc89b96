/// The stored state that an attempt with one-time passwords reads, in the step that decides on it.
public struct OTPSnapshot: Hashable, Sendable {
  /// The possible credentials, oldest first.
  public var credentials: [CredentialRecord]
  /// The waiting time of the address; `nil` for none, and if the attempt names no address.
  public var wait: WaitRecord?
  /// Indicates whether the user is not active, so that nothing can be accepted.
  public var isUserInactive: Bool
  /// Indicates whether the attempt names a user that does not exist, or no longer exists.
  public var isUserUnknown: Bool

  /// Describes a snapshot.
  public init(
    credentials: [CredentialRecord], wait: WaitRecord? = nil, isUserInactive: Bool = false,
    isUserUnknown: Bool = false
  ) {
    self.credentials = credentials
    self.wait = wait
    (self.isUserInactive, self.isUserUnknown) = (isUserInactive, isUserUnknown)
  }
}
