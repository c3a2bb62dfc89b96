import SignetSQL

/// An event for one receiver that has not acknowledged it yet.
package struct OutboxRecord: Hashable, Sendable {
  /// The number of the event, in the order of events; a number is used once.
  package var number: Int64
  /// The receiver.
  package var receiver: OutboxReceiver
  /// The event.
  package var event: OutboxEvent
  /// When the event happened, in seconds since 1970.
  package var created: Int64
  /// The last second in which the event is delivered, in seconds since 1970.
  package var expires: Int64
  /// When the next attempt is due; during an attempt, when its lease ends.
  package var due: Int64
  /// The number of attempts that were begun.
  ///
  /// It identifies the lease: a sender with another number has lost the lease.
  package var attempts = 0
  /// Indicates whether the row's MAC does not verify, so that the event must not be delivered.
  package var isAltered = false

  init(
    number: Int64, to receiver: OutboxReceiver, _ event: OutboxEvent, created: Int64, expires: Int64,
    due: Int64
  ) {
    self.number = number
    self.receiver = receiver
    self.event = event
    self.created = created
    self.expires = expires
    self.due = due
  }
}

/// A channel by which receivers get events.
package enum OutboxChannel: String, Hashable, Sendable, CaseIterable {
  /// Ping and push of OpenID Connect CIBA; a receiver is a client.
  case ciba
  /// Security Event Tokens (RFC 8417); a receiver is a stream.
  case securityEvents

  /// Indicates whether a receiver gets an event only after it has acknowledged all earlier ones.
  ///
  /// The requests of a CIBA client are independent: one that cannot be delivered must not block the next.
  package var isOrdered: Bool { self == .securityEvents }
}

/// A receiver of events.
package struct OutboxReceiver: Hashable, Sendable {
  /// The channel.
  package var channel: OutboxChannel
  /// The receiver's id on its channel.
  package var id: String

  /// Makes a receiver.
  package init(_ channel: OutboxChannel, _ id: String) { (self.channel, self.id) = (channel, id) }
}

/// The end of a request, or a change of an account, a device or an authenticator.
package struct OutboxEvent: Hashable, Sendable {
  /// The kind of an event.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A request was decided, cancelled or withdrawn, or expired.
    case requestEnded
    /// An operator suspended a user.
    case userSuspended
    /// An operator resumed a suspended user.
    case userResumed
    /// An operator deleted a user, with everything that was bound to the account.
    case userDeleted
    /// The server accepts nothing that is bound to a device any more.
    case deviceLocked
    /// The server accepts what is bound to a device only with further proof.
    case deviceRestricted
    /// The server accepts what is bound to a device again.
    case deviceUnlocked
    /// Everything that is bound to a device was revoked.
    case deviceRevoked
    /// An authenticator was bound to an account and can be used.
    case authenticatorBound
    /// An authenticator replaced another one of its device.
    case authenticatorReplaced
    /// An authenticator is disabled until an operator resumes it.
    case authenticatorSuspended
    /// A suspended authenticator is enabled again.
    case authenticatorResumed
    /// An authenticator was revoked or removed from the account.
    case authenticatorRevoked

    /// Indicates whether the event's subject is the user.
    fileprivate var isOfUser: Bool {
      switch self {
      case .userSuspended, .userResumed, .userDeleted: true
      case .requestEnded, .deviceLocked, .deviceRestricted, .deviceUnlocked, .deviceRevoked,
        .authenticatorBound, .authenticatorReplaced, .authenticatorSuspended, .authenticatorResumed,
        .authenticatorRevoked:
        false
      }
    }
  }

  /// The kind of the event.
  package var kind: Kind
  /// The id of the request, user, device or authenticator; for UAF keys that were registered or removed together, the operation's id.
  package var subject: String
  /// The subject of the user; `nil` for a request that no user has answered.
  package var user: String?
  /// The kind of the authenticator; `nil` for other events.
  package var authenticator: AuthenticatorRecord.Kind?

  /// Describes an event.
  package init(
    _ kind: Kind, of subject: String, user: String?, authenticator: AuthenticatorRecord.Kind? = nil
  ) {
    self.kind = kind
    self.subject = subject
    self.user = user
    self.authenticator = authenticator
  }

  /// Returns the event in the form for receivers, which know users by the subjects in tokens.
  ///
  /// - Parameters:
  ///   - owner: The user, if the event itself does not name one.
  ///   - subject: Returns the subject of a user id.
  /// - Returns: The event with subjects instead of ids.
  /// - Throws: The errors of `subject`.
  func externalForm(of owner: UserID?, calling subject: (UserID) throws -> String) rethrows -> Self {
    guard let id = user.map({ UserID(unchecked: $0) }) ?? owner else { return self }
    let name = try subject(id)
    return Self(
      kind, of: kind.isOfUser ? name : self.subject, user: name, authenticator: authenticator)
  }
}

extension OutboxRecord: StoredRecord {
  static let table = "outbox"
  static let columns =
    "channel, event, number, receiver, subject, user_id, authenticator, created, expires, due, attempts, code"

  /// The input of the row's MAC: all columns except the number and the state of the delivery, which do not change the event.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(receiver.channel.rawValue)
    image.append(receiver.id)
    image.append(event.kind.rawValue)
    image.append(event.subject)
    image.append(event.user)
    image.append(event.authenticator?.rawValue)
    image.append(created)
    image.append(expires)
    return image
  }

  /// More attempts than any delivery of this server reaches before it expires.
  static let maximumAttempts = 1 << 20

  /// Reads a row; one with a word or a number that this server never writes is marked as altered, so that it does not block other rows.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    let channel: OutboxChannel = try row.value(0)
    let kind = OutboxEvent.Kind(rawValue: try row.text(1))
    let authenticatorName = try row.optional(6, row.text)
    let authenticator = authenticatorName.flatMap { AuthenticatorRecord.Kind(rawValue: $0) }
    let event = OutboxEvent(
      kind ?? .requestEnded, of: try row.text(4), user: try row.optional(5, row.text),
      authenticator: authenticator)
    self.init(
      number: try row.integer(2), to: OutboxReceiver(channel, try row.text(3)), event,
      created: try row.integer(7), expires: try row.integer(8), due: try row.integer(9))
    attempts = try row.int(10)
    let isWellFormed =
      kind != nil && (authenticatorName == nil) == (authenticator == nil)
      && 0...Self.maximumAttempts ~= attempts
    isAltered = try !isWellFormed || !mac.matches(image, row.optional(11, row.blob))
  }
}

extension SQLConnection {
  func insert(_ record: OutboxRecord) throws {
    try execute(
      """
      INSERT INTO outbox (channel, receiver, event, subject, user_id, authenticator, created, expires, due, attempts, code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10)
      """,
      [
        .of(record.receiver.channel), .text(record.receiver.id), .of(record.event.kind),
        .text(record.event.subject), .optional(record.event.user),
        .optional(record.event.authenticator?.rawValue), .integer(record.created),
        .integer(record.expires), .integer(record.due), .optional(rowMAC.mac(of: record.image)),
      ], changing: 1)
  }
}
