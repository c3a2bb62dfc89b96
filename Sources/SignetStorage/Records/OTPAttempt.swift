/// The subject of an attempt with one-time passwords, and its caller.
package struct OTPSubject: Hashable, Sendable {
  /// The user of the codes; `nil` if the serial number alone identifies the token.
  package var user: UserID?
  /// The token of the codes, in any state; `nil` for any active credential of the user.
  package var serial: String?
  /// The keyed digest of the end user's address, for which failures cause a waiting time; `nil` for an operator, who never waits.
  package var client: [UInt8]?
  /// The API key of the caller; `nil` for none.
  package var key: ID<APIKeyRecord>?

  /// Describes the subject of an attempt.
  package init(user: UserID?, serial: String? = nil, client: [UInt8]? = nil, key: ID<APIKeyRecord>? = nil) {
    self.user = user
    self.serial = serial
    self.client = client
    self.key = key
  }
}

/// The stored state that an attempt with one-time passwords reads, in the step that decides on it.
package struct OTPSnapshot: Hashable, Sendable {
  /// The possible credentials, oldest first.
  package var credentials: [CredentialRecord]
  /// The waiting time of the address; `nil` for none, and if the attempt names no address.
  package var wait: WaitRecord?
  /// Indicates whether the user is not active, so that nothing can be accepted.
  package var isUserInactive: Bool
  /// Indicates whether the attempt names a user that does not exist, or no longer exists.
  package var isUserUnknown: Bool

  /// Describes a snapshot.
  package init(
    credentials: [CredentialRecord], wait: WaitRecord? = nil, isUserInactive: Bool = false,
    isUserUnknown: Bool = false
  ) {
    self.credentials = credentials
    self.wait = wait
    (self.isUserInactive, self.isUserUnknown) = (isUserInactive, isUserUnknown)
  }
}

/// The outcome of an attempt with one-time passwords.
package enum CodeOutcome: Hashable, Sendable {
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
package struct OTPResult: Hashable, Sendable {
  /// The outcome.
  package var outcome: CodeOutcome
  /// The credentials whose state, counter, drift or failures have changed.
  package var changed: [CredentialRecord] = []
  /// The waiting time of the address from now on; `nil` for none.
  package var wait: WaitRecord?
  /// The event.
  package var audit: AuditRecord

  /// Describes a result that changes no credential.
  package init(_ outcome: CodeOutcome, wait: WaitRecord?, audit: AuditRecord) {
    self.outcome = outcome
    self.wait = wait
    self.audit = audit
  }
}

/// The waiting time of an address before its next attempt with a user's codes.
package struct WaitRecord: Hashable, Sendable {
  /// The number of consecutive rejected attempts for this user from this address.
  package var failures: Int
  /// The time from which the next attempt is evaluated, in seconds since 1970.
  package var until: Int64
  /// The time from which the record may be removed, in seconds since 1970.
  package var expires: Int64

  /// Describes a waiting time.
  package init(failures: Int, until: Int64, expires: Int64) {
    self.failures = failures
    self.until = until
    self.expires = expires
  }
}
