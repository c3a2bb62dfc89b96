import SignetSQL

/// A push mechanism of an authenticator app: the shared secret and the push address.
package struct PushAuthMechanismRecord: Hashable, Sendable {
  /// The state of the registration.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// The URI was handed out.
    case open
    /// An app has registered.
    case active
    /// The row's MAC does not verify: never stored, set when the row is read.
    case altered
  }

  /// The server's id, which is also the end of the registration's message id.
  package var id: ID<PushAuthMechanismRecord>
  /// The user of the app.
  package var user: UserID
  /// The app's name for it; `nil` before an app has registered.
  package var mechanism: String?
  /// The shared secret, encrypted.
  package var sealedSecret: [UInt8]
  /// The challenge of the registration.
  package var challenge: [UInt8]
  /// The push address, encrypted; `nil` before an app has registered.
  package var sealedDevice: [UInt8]?
  /// When the URI was made, in seconds since 1970.
  package var created: Int64
  /// The end of the time for the registration, in seconds since 1970.
  package var expires: Int64
  /// The state of the registration.
  package var state: State
  /// The credential of the one-time passwords that are in the same URI; `nil` for none.
  package var credential: ID<CredentialRecord>?
  /// The issuer's name, as the app displays it.
  package var issuer = ""
  /// The name of the user's account, as the app displays it.
  package var account = ""
  /// The digests of the latest accepted changes of the push address, concatenated.
  var seenChanges: [UInt8] = []

  /// Describes a mechanism.
  package init(
    id: ID<PushAuthMechanismRecord>, user: UserID, mechanism: String? = nil, sealedSecret: [UInt8],
    challenge: [UInt8],
    sealedDevice: [UInt8]? = nil, created: Int64, expires: Int64, state: State = .open,
    credential: ID<CredentialRecord>? = nil
  ) {
    self.id = id
    self.user = user
    self.mechanism = mechanism
    self.sealedSecret = sealedSecret
    self.challenge = challenge
    self.sealedDevice = sealedDevice
    self.created = created
    self.expires = expires
    self.state = state
    self.credential = credential
  }
}

/// A message to an authenticator app, and its answer.
package struct PushAuthMessageRecord: Hashable, Sendable {
  /// The state of a message.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// Not answered.
    case pending
    /// The user approved.
    case approved
    /// The user denied, or typed too many wrong numbers.
    case denied
    /// Not answered in time.
    case expired
  }

  /// The end of the message id.
  package var id: ID<PushAuthMessageRecord>
  /// The ``PushAuthMechanismRecord/id`` of the mechanism.
  package var mechanism: ID<PushAuthMechanismRecord>
  /// `default`, `challenge` or `biometric`.
  package var kind: String
  /// The challenge that the answer has to prove.
  package var challenge: [UInt8]
  /// The number that the user has to type, encrypted; only for `challenge`.
  package var sealedNumber: [UInt8]?
  /// When it was made, in seconds since 1970.
  package var created: Int64
  /// The end of the time for an answer, in seconds since 1970.
  package var expires: Int64
  /// The state.
  package var state: State
  /// When it was answered, in seconds since 1970.
  package var answered: Int64?
  /// The message as the app gets it, encrypted, while it is pending; `nil` afterwards.
  package var sealedToken: [UInt8]?
  /// The transaction that the answer decides.
  package var transaction: TransactionID

  /// Describes a message.
  package init(
    id: ID<PushAuthMessageRecord>, of transaction: TransactionID, mechanism: ID<PushAuthMechanismRecord>,
    kind: String, challenge: [UInt8],
    sealedNumber: [UInt8]? = nil, created: Int64, expires: Int64, state: State = .pending,
    answered: Int64? = nil
  ) {
    self.transaction = transaction
    self.id = id
    self.mechanism = mechanism
    self.kind = kind
    self.challenge = challenge
    self.sealedNumber = sealedNumber
    self.created = created
    self.expires = expires
    self.state = state
    self.answered = answered
  }
}

/// The outcome of an authenticator app's answer.
package enum PushAuthAnswerOutcome: Hashable, Sendable {
  /// The answer was accepted.
  case accepted
  /// There is no pending message.
  case ended
  /// The transaction requires more than an app can prove, so this approval is rejected; the transaction is still pending.
  case insufficient
}

extension PushAuthMechanismRecord: StoredRecord, AlterableRecord {
  package static let table = "pushauth_mechanisms"
  static let columns =
    "state, id, user_id, mechanism, sealed_secret, challenge, sealed_device, created, expires, credential, seen_changes, code, issuer, account"

  /// Reads a row; if its MAC does not verify, the state is ``State/altered``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    // The database enforces the types of values, but a word may be unknown.
    let state = State(sqlValue: row[0]) ?? .altered
    self.init(
      id: try row.id(1), user: try row.user(2), mechanism: try row.optional(3, row.text),
      sealedSecret: try row.blob(4), challenge: try row.blob(5),
      sealedDevice: try row.optional(6, row.blob), created: try row.integer(7),
      expires: try row.integer(8), state: state,
      credential: try row.optional(9, row.id))
    seenChanges = try row.blob(10)
    issuer = try row.text(12)
    account = try row.text(13)
    if !mac.matches(image, try row.optional(11, row.blob)) { self.state = .altered }
  }

  package var isAltered: Bool { state == .altered }

  /// The input of the row's MAC: all columns.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(user)
    image.append(mechanism)
    image.append(sealedSecret)
    image.append(challenge)
    image.append(sealedDevice)
    image.append(created)
    image.append(expires)
    image.append(state.rawValue)
    image.append(credential)
    image.append(seenChanges)
    image.append(issuer)
    image.append(account)
    return image
  }
}

extension PushAuthMessageRecord: StoredRecord {
  static let table = "pushauth_messages"
  static let columns =
    "state, id, mechanism, kind, challenge, sealed_number, created, expires, answered, txn, sealed_token, code"

  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if its MAC does not verify; ``SQLFailure``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    let id: ID<PushAuthMessageRecord> = try row.id(1)
    guard let state = State(sqlValue: row[0]) else {
      throw StorageFailure.altered(row: id.text, of: Self.table)
    }
    self.init(
      id: id, of: try row.id(9), mechanism: try row.id(2), kind: try row.text(3),
      challenge: try row.blob(4), sealedNumber: try row.optional(5, row.blob),
      created: try row.integer(6), expires: try row.integer(7), state: state,
      answered: try row.optional(8, row.integer))
    sealedToken = try row.optional(10, row.blob)
    try mac.check(image, try row.optional(11, row.blob), named: id.text, of: Self.table)
  }

  /// The input of the row's MAC: all columns except the token, whose encryption is bound to this message.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(mechanism)
    image.append(kind)
    image.append(challenge)
    image.append(sealedNumber)
    image.append(created)
    image.append(expires)
    image.append(state.rawValue)
    image.append(answered)
    image.append(transaction)
    return image
  }
}

extension SQLConnection {
  func insert(_ mechanism: PushAuthMechanismRecord) throws {
    try insert(
      into: PushAuthMechanismRecord.table,
      "id, user_id, mechanism, sealed_secret, challenge, sealed_device, created, expires, state, credential, seen_changes, code, issuer, account",
      [
        .of(mechanism.id), .of(mechanism.user), .optional(mechanism.mechanism),
        .blob(mechanism.sealedSecret), .blob(mechanism.challenge), .optional(mechanism.sealedDevice),
        .integer(mechanism.created), .integer(mechanism.expires), .text(mechanism.state.rawValue),
        .optional(mechanism.credential), .blob(mechanism.seenChanges),
        .optional(rowMAC.mac(of: mechanism.image)), .text(mechanism.issuer), .text(mechanism.account),
      ])
  }

  /// Writes the columns of a mechanism that can change, and the MAC of the row.
  func update(_ mechanism: PushAuthMechanismRecord) throws {
    try execute(
      """
      UPDATE pushauth_mechanisms SET mechanism = $1, sealed_device = $2, state = $3, seen_changes = $4, code = $5
      WHERE id = $6
      """,
      [
        .optional(mechanism.mechanism), .optional(mechanism.sealedDevice), .of(mechanism.state),
        .blob(mechanism.seenChanges), .optional(rowMAC.mac(of: mechanism.image)), .of(mechanism.id),
      ], changing: 1)
  }

  func insert(_ message: PushAuthMessageRecord) throws {
    try insert(
      into: PushAuthMessageRecord.table,
      "id, mechanism, kind, challenge, sealed_number, created, expires, state, txn, sealed_token, code",
      [
        .of(message.id), .of(message.mechanism), .text(message.kind), .blob(message.challenge),
        .optional(message.sealedNumber), .integer(message.created), .integer(message.expires),
        .of(message.state), .of(message.transaction), .optional(message.sealedToken),
        .optional(rowMAC.mac(of: message.image)),
      ])
  }

  /// Writes the columns of a message that can change, and the MAC of the row.
  func update(_ message: PushAuthMessageRecord) throws {
    try execute(
      """
      UPDATE pushauth_messages SET state = $1, answered = $2, sealed_token = $3, code = $4 WHERE id = $5
      """,
      [
        .of(message.state), .optional(message.answered),
        .optional(message.sealedToken), .optional(rowMAC.mac(of: message.image)), .of(message.id),
      ], changing: 1)
  }
}
