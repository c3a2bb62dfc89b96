/// Something that happened, for one receiver that has not acknowledged it yet.
public struct OutboxRecord: Hashable, Sendable {
  /// Its place in the order of events; none is given twice.
  public var number: Int64
  /// Who is told.
  public var receiver: OutboxReceiver
  /// What happened.
  public var event: OutboxEvent
  /// When it happened, in seconds since 1970.
  public var created: Int64
  /// The last second in which it is worth telling.
  public var expires: Int64
  /// When the next attempt is due; while one is under way, when its lease ends.
  public var due: Int64
  /// How many attempts were begun: the name of the lease, which whoever has another number has lost.
  public var attempts = 0
  /// Whether this server has not written the row, so that nobody may be told of it.
  public var isAltered = false

  init(
    number: Int64, to receiver: OutboxReceiver, _ event: OutboxEvent, created: Int64, expires: Int64,
    due: Int64
  ) {
    (self.number, self.receiver, self.event) = (number, receiver, event)
    (self.created, self.expires, self.due) = (created, expires, due)
  }
}

/// How receivers are told.
public enum OutboxChannel: String, Hashable, Sendable, CaseIterable {
  /// Ping and push of OpenID Connect CIBA; a receiver is a client.
  case ciba
  /// Security Event Tokens (RFC 8417); a receiver is a stream.
  case securityEvents

  /// Whether a receiver is told of an event only after it has acknowledged all earlier ones.
  ///
  /// The requests of a CIBA client have nothing to do with each other: one that it cannot be told of must not hold up the next.
  package var isOrdered: Bool { self == .securityEvents }
}

/// Who is told of events.
public struct OutboxReceiver: Hashable, Sendable {
  /// How.
  public var channel: OutboxChannel
  /// The receiver's id on its channel.
  public var id: String

  /// Names a receiver.
  public init(_ channel: OutboxChannel, _ id: String) { (self.channel, self.id) = (channel, id) }
}

/// The end of a request, or a change of an account, a device or an authenticator.
public struct OutboxEvent: Hashable, Sendable {
  /// What happened.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A request was decided, cancelled or withdrawn, or expired.
    case requestEnded
    /// An operator suspended a user.
    case userSuspended
    /// An operator resumed a suspended user.
    case userResumed
    /// An operator deleted a user, with all that was bound to the account.
    case userDeleted
    /// Nothing of what is bound to a device is accepted any more.
    case deviceLocked
    /// What is bound to a device is accepted only with further proof.
    case deviceRestricted
    /// What is bound to a device is accepted again.
    case deviceUnlocked
    /// All that is bound to a device was revoked.
    case deviceRevoked
    /// An authenticator was bound to an account and can be used.
    case authenticatorBound
    /// An authenticator took the place of another one of its device.
    case authenticatorReplaced
    /// An authenticator is out of use until an operator resumes it.
    case authenticatorSuspended
    /// A suspended authenticator is in use again.
    case authenticatorResumed
    /// An authenticator was revoked or removed from the account.
    case authenticatorRevoked
  }

  /// What happened.
  public var kind: Kind
  /// The id of the request, user, device or authenticator; of UAF keys that were registered or removed together, the operation's.
  public var subject: String
  /// Whose it is; `nil` for a request that nobody has answered.
  public var user: String?
  /// Of which kind the authenticator is.
  public var authenticator: AuthenticatorRecord.Kind?

  /// Describes an event.
  public init(
    _ kind: Kind, of subject: String, user: String?, authenticator: AuthenticatorRecord.Kind? = nil
  ) {
    (self.kind, self.subject, self.user, self.authenticator) = (kind, subject, user, authenticator)
  }
}
