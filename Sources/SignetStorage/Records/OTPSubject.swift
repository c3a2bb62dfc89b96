/// An attempt to use one-time passwords: whose, and who makes it.
public struct OTPSubject: Hashable, Sendable {
  /// Whose codes they should be; `nil` where the serial number alone says it.
  public var user: String?
  /// The token whose codes they should be, whatever its state; `nil` for any credential of the user that is in use.
  public var serial: String?
  /// The keyed digest of the end user's address, whose failures make it wait; `nil` for an operator, who never waits.
  public var client: [UInt8]?
  /// The API key with which it is made; `nil` for none.
  public var key: String?

  /// Describes an attempt.
  ///
  /// - Parameters:
  ///   - user: Whose codes they should be.
  ///   - serial: The token whose codes they should be.
  ///   - client: The keyed digest of the end user's address.
  ///   - key: The API key.
  public init(user: String?, serial: String? = nil, client: [UInt8]? = nil, key: String? = nil) {
    (self.user, self.serial, self.client, self.key) = (user, serial, client, key)
  }
}

/// How long an address has to wait before it may try a user's codes again.
public struct WaitRecord: Hashable, Sendable {
  /// Refused attempts in a row, for this user from this address.
  public var failures: Int
  /// When the next attempt is tried.
  public var until: Int64
  /// When this may be forgotten.
  public var expires: Int64

  /// Describes a wait.
  ///
  /// - Parameters:
  ///   - failures: Refused attempts in a row.
  ///   - until: When the next attempt is tried.
  ///   - expires: When this may be forgotten.
  public init(failures: Int, until: Int64, expires: Int64) {
    (self.failures, self.until, self.expires) = (failures, until, expires)
  }
}

/// What an attempt finds.
public struct OTPSnapshot: Hashable, Sendable {
  /// The credentials that it may be about, oldest first.
  public var credentials: [CredentialRecord]
  /// What the address has to wait; `nil` for nothing, and where the attempt names no address.
  public var wait: WaitRecord?
  /// Whether the user is not active, so that nothing is to be accepted.
  public var isUserHeld: Bool
  /// Whether the attempt names a user that there is not, or not any more.
  public var isUserUnknown: Bool

  /// Describes a situation.
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

/// What was made of an attempt, and what is to be written.
public struct OTPResult: Hashable, Sendable {
  /// How it ended.
  public var outcome: CodeOutcome
  /// The credentials whose state, counter, drift or failures are others now.
  public var changed: [CredentialRecord] = []
  /// What the address has to wait from now on; `nil` for nothing.
  public var wait: WaitRecord?
  /// The event.
  public var audit: AuditRecord

  /// Describes a verdict that changes nothing.
  ///
  /// - Parameters:
  ///   - outcome: How it ended.
  ///   - wait: What the address has to wait.
  ///   - audit: The event.
  public init(_ outcome: CodeOutcome, wait: WaitRecord?, audit: AuditRecord) {
    (self.outcome, self.wait, self.audit) = (outcome, wait, audit)
  }
}

/// How an attempt to use codes ended.
public enum CodeOutcome: Hashable, Sendable {
  /// The codes are good, and used up now.
  case accepted
  /// They are not: wrong, used before, or of nobody.
  case refused
  /// They were not tried: the address waits for so many seconds more.
  case waiting(seconds: Int64)
  /// They were not tried: too many were refused in a row.
  case locked
  /// Nothing was looked at: the API key is not good any more.
  case keyRevoked
}
