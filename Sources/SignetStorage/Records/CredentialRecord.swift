import SignetSQL

/// What makes one-time passwords for a user: a container's key, or a token that was imported.
///
/// One mechanism for all of them: whichever it is, the server keeps the same of it.
public struct CredentialRecord: Hashable, Sendable {
  /// What moves on from one code to the next.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A counter (RFC 4226).
    case hotp
    /// The time (RFC 6238).
    case totp
  }

  /// Where a credential stands; whether it is locked is told by ``failures``.
  public enum State: String, Hashable, Sendable {
    /// A container's before the device has confirmed it, a token's before its first right code: good for nothing else.
    case pending
    /// In use.
    case active
    /// An operator's decision: not in use.
    case disabled
    /// Its row is not as the server wrote it: never stored, and found when the row is read. It can be removed.
    case altered
  }

  /// Names the credential: the id of its container, or a token's own.
  public var id: ID<CredentialRecord>
  /// Whose it is; `nil` for a token that is nobody's yet.
  public var user: UserID?
  /// A token's serial number; `nil` for a container.
  public var serial: String?
  /// What moves on.
  public var kind: Kind
  /// The hash function, by its name.
  public var algorithm: String
  /// The digits of a code.
  public var digits: Int
  /// Seconds of a step of time; 0 for a counter.
  public var period: Int
  /// When step 0 began, in seconds since 1970.
  public var start: Int64
  /// The secret under the server's master key, bound to ``id``.
  public var sealedSecret: [UInt8]
  /// Whether nothing on the device tells its user's right password from a wrong one, so that wrong codes count for good.
  public var isSilent: Bool
  /// When it was made or imported.
  public var created: Int64
  /// Where it stands.
  public var state: State
  /// The highest counter, or step of time, that was used up; -1 for none.
  ///
  /// It never gets smaller.
  public var lastCounter: Int64 = -1
  /// How many steps its clock is ahead of the server's, as its codes have told.
  public var drift: Int64 = 0
  /// Attempts in a row that this credential refused.
  public var failures = 0
  /// When its user last used a code of it up, in seconds since 1970; `nil` for never.
  public var lastUsed: Int64?

  /// Describes a credential of which no code was used yet.
  ///
  /// - Parameters:
  ///   - id: Names it.
  ///   - user: Whose it is.
  ///   - serial: A token's serial number.
  ///   - kind: What moves on.
  ///   - algorithm: The hash function.
  ///   - digits: The digits of a code.
  ///   - period: Seconds of a step; 0 for a counter.
  ///   - start: When step 0 began.
  ///   - sealedSecret: The secret under the server's master key.
  ///   - isSilent: Whether the device can't tell a wrong password.
  ///   - created: When it was made.
  ///   - state: Where it stands.
  public init(
    id: ID<CredentialRecord>, user: UserID?, serial: String? = nil, kind: Kind, algorithm: String,
    digits: Int,
    period: Int, start: Int64 = 0, sealedSecret: [UInt8], isSilent: Bool = false, created: Int64,
    state: State = .pending
  ) {
    (self.id, self.user, self.serial, self.kind) = (id, user, serial, kind)
    (self.algorithm, self.digits, self.period, self.start) = (algorithm, digits, period, start)
    (self.sealedSecret, self.isSilent, self.created, self.state) = (sealedSecret, isSilent, created, state)
  }
}

extension CredentialRecord {
  static let columns =
    "kind, state, id, user_id, serial, algorithm, digits, period, start, sealed_secret, silent, created, last_counter, drift, failures, code, last_used"
  static let columnCount = 17

  /// Reads a row; one that this server has not written so is ``State/altered``.
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
    if !mac.isOwn(image, try row.optional(15, row.blob)) { self.state = .altered }
  }

  /// What its MAC covers: all but the attempts that were refused.
  var image: MACInput {
    var image = MACInput("credentials")
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

  /// The credential, where its row is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  func checked() throws(StorageFailure) -> CredentialRecord {
    guard state != .altered else { throw .altered(row: id.text, of: "credentials") }
    return self
  }
}

extension SQLConnection {
  /// Adds what makes codes.
  func insert(_ credential: CredentialRecord) throws {
    try execute(
      """
      INSERT INTO credentials (id, user_id, serial, kind, algorithm, digits, period, start, sealed_secret, silent,
        created, state, last_counter, drift, failures, code, last_used)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
      """,
      [
        .of(credential.id), .optional(credential.user), .optional(credential.serial),
        .text(credential.kind.rawValue), .text(credential.algorithm), .int(credential.digits),
        .int(credential.period), .integer(credential.start), .blob(credential.sealedSecret),
        .int(credential.isSilent ? 1 : 0), .integer(credential.created), .text(credential.state.rawValue),
        .integer(credential.lastCounter), .integer(credential.drift), .int(credential.failures),
        .optional(rowMAC.mac(of: credential.image)), .optional(credential.lastUsed),
      ], changing: 1)
  }

  // Put together once, for each code.
  private static let updateOfCredential =
    "UPDATE credentials SET state = $1, last_counter = $2, drift = $3, failures = $4, code = $5, last_used = $6"
  private static let updateOfCredentialByID = "\(updateOfCredential) WHERE id = $7 AND last_counter <= $2"
  private static let updateOfCredentialByNumber =
    "\(updateOfCredential) WHERE number = $7 AND last_counter <= $2"

  /// Writes what changes of a credential but its user, with the MAC of the whole; a counter never gets smaller.
  ///
  /// - Parameters:
  ///   - credential: The credential.
  ///   - number: The number of its row, where it is known: no index has to be looked into then.
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

  /// Gives a token to another user, or to nobody.
  func assign(_ token: CredentialRecord, to user: UserID?) throws {
    try execute(
      "UPDATE credentials SET user_id = $1 WHERE id = $2", [.optional(user), .of(token.id)], changing: 1)
    try update(token.assigned(to: user))
  }
}

extension ID<CredentialRecord> {
  /// The id of what makes a container's codes.
  public init(of container: ContainerID) { self.init(unchecked: container.text) }
}

extension ContainerID {
  /// The container whose codes a credential makes; the credential is no token.
  package init(of credential: ID<CredentialRecord>) { self.init(unchecked: credential.text) }
}
