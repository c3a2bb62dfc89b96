import SignetSQL

/// A push mechanism of an authenticator app: a secret that both sides share, and where its pushes go.
public struct PushAuthMechanismRecord: Hashable, Sendable {
  /// Whether an app has registered it.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// The URI was handed out.
    case open
    /// An app has registered.
    case active
  }

  /// Its name here, and the end of the message id of its registration.
  public var id: String
  /// Whose it is.
  public var user: String
  /// What the app calls it; `nil` as long as none has registered.
  public var mechanism: String?
  /// The shared secret, encrypted.
  public var sealedSecret: [UInt8]
  /// The challenge of the registration.
  public var challenge: [UInt8]
  /// The device, encrypted; `nil` as long as none has registered.
  public var sealedDevice: [UInt8]?
  /// When the URI was made, in seconds since 1970.
  public var created: Int64
  /// Until when it can be registered, in seconds since 1970.
  public var expires: Int64
  /// How far it is.
  public var state: State
  /// The credential of the one-time codes that are in the same URI; `nil` for none.
  public var credential: String?

  /// Names all parts of a new one.
  public init(
    id: String, user: String, mechanism: String? = nil, sealedSecret: [UInt8], challenge: [UInt8],
    sealedDevice: [UInt8]? = nil, created: Int64, expires: Int64, state: State = .open,
    credential: String? = nil
  ) {
    (self.id, self.user, self.mechanism, self.sealedSecret) = (id, user, mechanism, sealedSecret)
    (self.challenge, self.sealedDevice, self.created) = (challenge, sealedDevice, created)
    (self.expires, self.state, self.credential) = (expires, state, credential)
  }
}

/// A message to an authenticator app, and its answer.
public struct PushAuthMessageRecord: Hashable, Sendable {
  /// What became of it.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// Nobody has answered.
    case pending
    /// The user said yes.
    case approved
    /// The user said no, or typed too many wrong numbers.
    case denied
    /// Nobody answered in time.
    case expired
  }

  /// Its name: the end of the message id.
  public var id: String
  /// The ``PushAuthMechanismRecord/id`` of the mechanism.
  public var mechanism: String
  /// `default`, `challenge` or `biometric`.
  public var kind: String
  /// What the answer proves to have received.
  public var challenge: [UInt8]
  /// The number that has to be typed, encrypted; only for `challenge`.
  public var sealedNumber: [UInt8]?
  /// When it was made, in seconds since 1970.
  public var created: Int64
  /// Until when an answer is taken, in seconds since 1970.
  public var expires: Int64
  /// What became of it.
  public var state: State
  /// How often a wrong number was typed.
  public var wrongNumbers: Int
  /// When it was answered, in seconds since 1970.
  public var answered: Int64?
  /// The message as the app gets it, encrypted, while it waits; `nil` afterwards.
  public var sealedToken: [UInt8]?
  /// The transaction that the answer decides; `nil` for none.
  public var transaction: String?

  /// Names the parts of a new one.
  public init(
    id: String, mechanism: String, kind: String, challenge: [UInt8], sealedNumber: [UInt8]? = nil,
    created: Int64, expires: Int64, state: State = .pending, wrongNumbers: Int = 0, answered: Int64? = nil
  ) {
    (self.id, self.mechanism, self.kind, self.challenge) = (id, mechanism, kind, challenge)
    (self.sealedNumber, self.created, self.expires) = (sealedNumber, created, expires)
    (self.state, self.wrongNumbers, self.answered) = (state, wrongNumbers, answered)
  }
}

extension PushAuthMechanismRecord {
  static let columns =
    "state, id, user_id, mechanism, sealed_secret, challenge, sealed_device, created, expires, credential"

  init(_ row: SQLRow) throws {
    let state: State = try row.value(0)
    self.init(
      id: try row.text(1), user: try row.text(2), mechanism: try row.optional(3, row.text),
      sealedSecret: try row.blob(4), challenge: try row.blob(5),
      sealedDevice: try row.optional(6, row.blob), created: try row.integer(7),
      expires: try row.integer(8), state: state,
      credential: try row.optional(9, row.text))
  }
}

extension PushAuthMessageRecord {
  static let columns =
    "state, id, mechanism, kind, challenge, sealed_number, created, expires, wrong_numbers, answered, txn, sealed_token"

  init(_ row: SQLRow) throws {
    let state: State = try row.value(0)
    self.init(
      id: try row.text(1), mechanism: try row.text(2), kind: try row.text(3),
      challenge: try row.blob(4), sealedNumber: try row.optional(5, row.blob),
      created: try row.integer(6), expires: try row.integer(7), state: state,
      wrongNumbers: try row.int(8),
      answered: try row.optional(9, row.integer))
    transaction = try row.optional(10, row.text)
    sealedToken = try row.optional(11, row.blob)
  }
}

extension SQLConnection {
  /// Adds a mechanism.
  func insert(_ mechanism: PushAuthMechanismRecord) throws {
    try execute(
      """
      INSERT INTO pushauth_mechanisms (id, user_id, mechanism, sealed_secret, challenge, sealed_device, created, expires,
        state, credential, seen_changes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      """,
      [
        .text(mechanism.id), .text(mechanism.user), .optional(mechanism.mechanism),
        .blob(mechanism.sealedSecret), .blob(mechanism.challenge), .optional(mechanism.sealedDevice),
        .integer(mechanism.created), .integer(mechanism.expires), .text(mechanism.state.rawValue),
        .optional(mechanism.credential), .blob([]),
      ], changing: 1)
  }

  /// Adds a message.
  func insert(_ message: PushAuthMessageRecord) throws {
    try execute(
      """
      INSERT INTO pushauth_messages (id, mechanism, kind, challenge, sealed_number, created, expires, state, txn, sealed_token)
      VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9)
      """,
      [
        .text(message.id), .text(message.mechanism), .text(message.kind), .blob(message.challenge),
        .optional(message.sealedNumber), .integer(message.created), .integer(message.expires),
        .optional(message.transaction), .optional(message.sealedToken),
      ], changing: 1)
  }
}
