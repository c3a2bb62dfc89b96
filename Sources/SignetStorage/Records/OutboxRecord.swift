import SignetSQL

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

    /// Whether the subject is the user.
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

  /// What happened.
  public var kind: Kind
  /// The id of the request, user, device or authenticator; of UAF keys that were registered or removed together, the operation's.
  public var subject: String
  /// Whose it is, by the subject; `nil` for a request that nobody has answered.
  public var user: String?
  /// Of which kind the authenticator is.
  public var authenticator: AuthenticatorRecord.Kind?

  /// Describes an event.
  public init(
    _ kind: Kind, of subject: String, user: String?, authenticator: AuthenticatorRecord.Kind? = nil
  ) {
    (self.kind, self.subject, self.user, self.authenticator) = (kind, subject, user, authenticator)
  }

  /// The event as receivers hear of it: they know users as tokens call them.
  ///
  /// - Parameters:
  ///   - owner: Whose it is, where the event itself does not say so.
  ///   - subject: What tokens call a user of an id.
  /// - Returns: The event with subjects in the place of ids.
  /// - Throws: What `subject` throws.
  func told(of owner: UserID?, calling subject: (UserID) throws -> String) rethrows -> Self {
    guard let id = user.map({ UserID(unchecked: $0) }) ?? owner else { return self }
    let name = try subject(id)
    return Self(
      kind, of: kind.isOfUser ? name : self.subject, user: name, authenticator: authenticator)
  }
}

extension OutboxRecord {
  static let columns =
    "channel, event, number, receiver, subject, user_id, authenticator, created, expires, due, attempts, code"

  /// What its MAC covers: all but its place and the state of its delivery, which tell nobody anything else.
  var image: MACInput {
    var image = MACInput("outbox")
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

  /// No row of this server's was tried so often: each has its time.
  static let mostAttempts = 1 << 20

  /// Reads a row; one with a word or a number that this server does not write is altered, and keeps nobody from the others.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    let channel: OutboxChannel = try row.value(0)
    let kind = OutboxEvent.Kind(rawValue: try row.text(1))
    let word = try row.optional(6, row.text)
    let authenticator = word.flatMap { AuthenticatorRecord.Kind(rawValue: $0) }
    let event = OutboxEvent(
      kind ?? .requestEnded, of: try row.text(4), user: try row.optional(5, row.text),
      authenticator: authenticator)
    self.init(
      number: try row.integer(2), to: OutboxReceiver(channel, try row.text(3)), event,
      created: try row.integer(7), expires: try row.integer(8), due: try row.integer(9))
    attempts = try row.int(10)
    let isWritten =
      kind != nil && (word == nil) == (authenticator == nil) && 0...Self.mostAttempts ~= attempts
    isAltered = try !isWritten || !mac.isOwn(image, row.optional(11, row.blob))
  }
}

extension SQLConnection {
  /// Adds what a receiver is to be told.
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
