/// The subject of an attempt with one-time passwords, and its caller.
public struct OTPSubject: Hashable, Sendable {
  /// The user of the codes; `nil` if the serial number alone identifies the token.
  public var user: UserID?
  /// The token of the codes, in any state; `nil` for any active credential of the user.
  public var serial: String?
  /// The keyed digest of the end user's address, for which failures cause a waiting time; `nil` for an operator, who never waits.
  public var client: [UInt8]?
  /// The API key of the caller; `nil` for none.
  public var key: ID<APIKeyRecord>?

  /// Describes the subject of an attempt.
  public init(user: UserID?, serial: String? = nil, client: [UInt8]? = nil, key: ID<APIKeyRecord>? = nil) {
    self.user = user
    self.serial = serial
    self.client = client
    self.key = key
  }
}

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

/// The outcome of an attempt with one-time passwords.
public enum CodeOutcome: Hashable, Sendable {
  /// The codes are right, and are used now.
  case accepted
  /// The codes are wrong or used before, or there is no matching credential.
  case refused
  /// Not evaluated: the address has to wait for this many seconds.
  case waiting(seconds: Int64)
  /// Not evaluated: too many consecutive codes were rejected.
  case locked
  /// Not evaluated: the API key is revoked.
  case keyRevoked
}

/// The result of an attempt with one-time passwords, and the data to write.
public struct OTPResult: Hashable, Sendable {
  /// The outcome.
  public var outcome: CodeOutcome
  /// The credentials whose state, counter, drift or failures have changed.
  public var changed: [CredentialRecord] = []
  /// The waiting time of the address from now on; `nil` for none.
  public var wait: WaitRecord?
  /// The event.
  public var audit: AuditRecord

  /// Describes a result that changes no credential.
  public init(_ outcome: CodeOutcome, wait: WaitRecord?, audit: AuditRecord) {
    self.outcome = outcome
    self.wait = wait
    self.audit = audit
  }
}

/// The waiting time of an address before its next attempt with a user's codes.
public struct WaitRecord: Hashable, Sendable {
  /// The number of consecutive rejected attempts for this user from this address.
  public var failures: Int
  /// The time from which the next attempt is evaluated, in seconds since 1970.
  public var until: Int64
  /// The time from which the record may be removed, in seconds since 1970.
  public var expires: Int64

  /// Describes a waiting time.
  public init(failures: Int, until: Int64, expires: Int64) {
    self.failures = failures
    self.until = until
    self.expires = expires
  }
}
