import SignetSQL

/// A one-time-password credential of a user: a container's key, or a token that was imported.
///
/// Both kinds have the same record.
package struct CredentialRecord: Hashable, Sendable {
  /// The moving factor of the codes.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A counter (HOTP, RFC 4226).
    case hotp
    /// The time (TOTP, RFC 6238).
    case totp
  }

  /// The state of a credential; ``failures`` determines whether it is locked.
  package enum State: String, Hashable, Sendable {
    /// The device has not confirmed its container yet, or the token's first right code has not arrived yet; no other use.
    case pending
    /// In use.
    case active
    /// Disabled by an operator.
    case disabled
    /// The row's MAC does not verify: never stored, set when the row is read. The credential can be removed.
    case altered
  }

  /// The id of the credential: that of its container, or a token's own.
  package var id: ID<CredentialRecord>
  /// The user; `nil` for a token that is not assigned yet.
  package var user: UserID?
  /// A token's serial number; `nil` for a container.
  package var serial: String?
  /// The moving factor.
  package var kind: Kind
  /// The name of the hash function.
  package var algorithm: String
  /// The number of digits of a code.
  package var digits: Int
  /// The length of a time step in seconds; 0 for a counter.
  package var period: Int
  /// The start of time step 0, in seconds since 1970.
  package var start: Int64
  /// The secret, encrypted under the server's master key and bound to ``id``.
  package var sealedSecret: [UInt8]
  /// Indicates whether the device cannot tell a right password from a wrong one, so that two consecutive codes do not end a lockout.
  package var isSilent: Bool
  /// When it was made or imported, in seconds since 1970.
  package var created: Int64
  /// The state.
  package var state: State
  /// The highest counter or time step that was used; -1 for none.
  ///
  /// It never decreases, which prevents a replay.
  package var lastCounter: Int64 = -1
  /// The number of time steps that its clock is ahead of the server's, as derived from its codes.
  package var drift: Int64 = 0
  /// The number of consecutive rejected attempts.
  package var failures = 0
  /// When its user last used a code, in seconds since 1970; `nil` for never.
  package var lastUsed: Int64?

  /// Describes an unused credential.
  package init(
    id: ID<CredentialRecord>, user: UserID?, serial: String? = nil, kind: Kind, algorithm: String,
    digits: Int,
    period: Int, start: Int64 = 0, sealedSecret: [UInt8], isSilent: Bool = false, created: Int64,
    state: State = .pending
  ) {
    self.id = id
    self.user = user
    self.serial = serial
    self.kind = kind
    self.algorithm = algorithm
    self.digits = digits
    self.period = period
    self.start = start
    self.sealedSecret = sealedSecret
    self.isSilent = isSilent
    self.created = created
    self.state = state
  }
}

extension CredentialRecord: StoredRecord, AlterableRecord {
  package static let table = "credentials"
  static let columns =
    "kind, state, id, user_id, serial, algorithm, digits, period, start, sealed_secret, silent, created, last_counter, drift, failures, code, last_used"
  static let columnCount = 17

  /// Reads a row; if its MAC does not verify, the state is ``State/altered``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    do { try self.init(reading: row, mac) } catch SQLFailure.unexpectedValue {
      self.init(
        id: try row.id(2), user: try row.optional(3, row.user), serial: try row.optional(4, row.text),
        kind: .totp, algorithm: "", digits: 0, period: 0, sealedSecret: [], created: 0, state: .altered)
    }
  }

  private init(reading row: SQLRow, _ mac: RowMAC) throws {
    let kind: Kind = try row.value(0)
    let state: State = try row.value(1)
    self.init(
      id: try row.id(2), user: try row.optional(3, row.user), serial: try row.optional(4, row.text),
      kind: kind, algorithm: try row.text(5), digits: try row.int(6),
      period: try row.int(7), start: try row.integer(8),
      sealedSecret: try row.blob(9), isSilent: try row.bool(10),
      created: try row.integer(11), state: state)
    lastCounter = try row.integer(12)
    drift = try row.integer(13)
    failures = try row.int(14)
    lastUsed = try row.optional(16, row.integer)
    if !mac.matches(image, try row.optional(15, row.blob)) { self.state = .altered }
  }

  package var isAltered: Bool { state == .altered }

  /// The input of the row's MAC: all columns except the count of rejected attempts.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(user)
    image.append(serial)
    image.append(kind.rawValue)
    image.append(algorithm)
    image.append(digits)
    image.append(period)
    image.append(start)
    image.append(sealedSecret)
    image.append(isSilent ? 1 : 0)
    image.append(created)
    image.append(state.rawValue)
    image.append(lastCounter)
    image.append(drift)
    image.append(lastUsed)
    return image
  }
}

extension SQLConnection {
  func insert(_ credential: CredentialRecord) throws {
    try insert(
      into: CredentialRecord.table,
      "id, user_id, serial, kind, algorithm, digits, period, start, sealed_secret, silent, created, state, last_counter, drift, failures, code, last_used",
      [
        .of(credential.id), .optional(credential.user), .optional(credential.serial),
        .text(credential.kind.rawValue), .text(credential.algorithm), .int(credential.digits),
        .int(credential.period), .integer(credential.start), .blob(credential.sealedSecret),
        .int(credential.isSilent ? 1 : 0), .integer(credential.created), .text(credential.state.rawValue),
        .integer(credential.lastCounter), .integer(credential.drift), .int(credential.failures),
        .optional(rowMAC.mac(of: credential.image)), .optional(credential.lastUsed),
      ])
  }

  // Built once, because each code uses them.
  private static let updateOfCredential =
    "UPDATE credentials SET state = $1, last_counter = $2, drift = $3, failures = $4, code = $5, last_used = $6"
  private static let updateOfCredentialByID = "\(updateOfCredential) WHERE id = $7 AND last_counter <= $2"
  private static let updateOfCredentialByNumber =
    "\(updateOfCredential) WHERE number = $7 AND last_counter <= $2"

  /// Writes the columns of a credential that can change, except the user, and the MAC of the row; a counter never decreases.
  ///
  /// - Parameters:
  ///   - credential: The credential.
  ///   - number: The number of its row, if it is known, which saves an index lookup.
  /// - Throws: ``StorageFailure``, ``SQLFailure``.
  func update(_ credential: CredentialRecord, number: Int64? = nil) throws {
    let count = try execute(
      number == nil ? Self.updateOfCredentialByID : Self.updateOfCredentialByNumber,
      [
        .of(credential.checked().state), .integer(credential.lastCounter), .integer(credential.drift),
        .int(credential.failures), .optional(rowMAC.mac(of: credential.image)),
        .optional(credential.lastUsed),
        number.map(SQLValue.integer) ?? .of(credential.id),
      ])
    guard count == 1 else { throw StorageFailure.failed(detail: "a counter would get smaller") }
  }

  /// Assigns a token to another user, or unassigns it.
  func assign(_ token: CredentialRecord, to user: UserID?) throws {
    try execute(
      "UPDATE credentials SET user_id = $1 WHERE id = $2", [.optional(user), .of(token.id)], changing: 1)
    try update(token.assigned(to: user))
  }
}

extension ID<CredentialRecord> {
  /// Makes the id of a container's one-time-password credential.
  package init(of container: ContainerID) { self.init(unchecked: container.text) }
}

extension ContainerID {
  /// Makes the id of the container that has this credential, which is not a token.
  package init(of credential: ID<CredentialRecord>) { self.init(unchecked: credential.text) }
}

/// The outcome of a change of a token.
package enum TokenOutcome: Hashable, Sendable {
  /// It was changed.
  case done
  /// There is no token with this serial number.
  case unknownToken
  /// There is no such user.
  case unknownUser
}
