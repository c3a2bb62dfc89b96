import SignetSQL

/// A user: the subscriber account (NIST SP 800-63).
public struct UserRecord: Hashable, Sendable {
  /// Where a user stands.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// May use what is bound to the account.
    case active
    /// May use nothing until an operator resumes the account; all stays bound.
    case suspended
    /// Gone: nothing is bound to the account any more. ``UserRecord/id`` is the subject; another user may have the one that it was.
    case deleted
    /// The row is not as the server wrote it: never stored, and found when the row is read.
    ///
    /// Nothing of the user is accepted. An operator who suspends the user has the row written anew.
    case altered
  }

  /// The user id, as the operator gave it; of a deleted user the ``subject``.
  public internal(set) var id: UserID
  /// What the audit log and tokens call the user, and nobody else ever: `~` and characters that the server makes.
  public internal(set) var subject: String
  /// What operators call the person, for people to read: nothing is found by it; `nil` for none.
  public var displayName: String?
  /// When the user was added.
  public var created: Int64
  /// The keyed digest of the code without which no client may ask the user (CIBA section 7.1), 32 bytes; `nil` for none.
  public var codeDigest: [UInt8]?
  /// Where the user stands.
  public var state = State.active
  /// Why, in the operator's words; empty for none.
  public var stateReason = ""
  /// Since when, in seconds since 1970.
  public var stateSince: Int64

  /// Describes an active user.
  public init(id: UserID, subject: String, created: Int64) {
    self.id = id
    self.subject = subject
    self.created = created
    stateSince = created
  }
}

/// How a change of a user's state ended.
public enum UserChangeOutcome: Hashable, Sendable {
  /// It was made.
  case changed
  /// The user was in that state, or had that name, before.
  case unchanged
  /// There is no such user, or no longer.
  case unknown
  /// The row is not as the server wrote it: the user has to be suspended first, which writes it anew.
  case altered
}

extension UserRecord {
  static let columns = "id, created, user_code, state, state_reason, state_since, code, subject, display_name"

  /// What subjects begin with, and no id of a user who was not deleted.
  package static let subjectPrefix = "~"

  /// Reads a row; one that this server has not written so is ``State/altered``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(id: try row.user(0), subject: try row.text(7), created: try row.integer(1))
    codeDigest = try row.optional(2, row.blob)
    // The database keeps the kinds of values; a word may be one that there is not.
    state = State(sqlValue: row[3]) ?? .altered
    stateReason = try row.text(4)
    stateSince = try row.integer(5)
    displayName = try row.optional(8, row.text)
    if !mac.isOwn(image, try row.optional(6, row.blob)) { state = .altered }
    // Nobody knows whose the name is.
    if state == .altered { displayName = nil }
  }

  /// What its MAC covers: all but how often the user was asked.
  var image: MACInput {
    var image = MACInput("users")
    image.append(id)
    image.append(subject)
    image.append(created)
    image.append(codeDigest)
    image.append(state.rawValue)
    image.append(stateReason)
    image.append(stateSince)
    image.append(displayName)
    return image
  }

  /// Another row names a user, and there is none.
  package static func missing(_ id: UserID) -> StorageFailure { .altered(row: id.text, of: "users") }

  /// The user, where the row is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  func checked() throws(StorageFailure) -> UserRecord {
    guard state != .altered else { throw .altered(row: id.text, of: "users") }
    return self
  }
}

extension SQLConnection {
  // Put together once: each code at the server reads its user.
  private static let userByID = "SELECT \(UserRecord.columns) FROM users WHERE id = $1"

  /// The user of an id, also one whose row was altered; `nil` for none.
  ///
  /// A step asks for the same user in several places: the row is read once, and each change of it is noted.
  func anyUser(_ id: UserID) throws -> UserRecord? {
    if let last = try local(Self.lastUser, load: { nil }), last.id == id { return last }
    let mac = try rowMAC
    let found = try row(Self.userByID, [.of(id)]) {
      try UserRecord($0, mac)
    }
    if let found { setLocal(Self.lastUser, to: found) }
    return found
  }

  /// The user in the columns of a row from an index on, for a query that joins users to another table; also one whose row was altered,
  /// and `nil` where there is none.
  func anyUser(in row: SQLRow, from index: Int) throws -> UserRecord? {
    let columns = row.columns(from: index)
    guard columns[0] != .null else { return nil }
    let found = try UserRecord(columns, rowMAC)
    setLocal(Self.lastUser, to: found)
    return found
  }

  /// The user of a subject, also one whose row was altered; `nil` for none.
  func anyUser(subject: String) throws -> UserRecord? {
    let mac = try rowMAC
    return try row("SELECT \(UserRecord.columns) FROM users WHERE subject = $1", [.text(subject)]) {
      try UserRecord($0, mac)
    }
  }

  private static let lastUser = TransactionLocal<UserRecord?>()

  /// What the audit log calls a user of this id; the id itself where there is no such user, with a `~` before one that begins so.
  ///
  /// Else the name that a stranger sent might be the subject of a user, and be read as that user. That of a deleted user is the id.
  func subject(of id: UserID) throws -> String {
    try anyUser(id)?.subject ?? (id.text.hasPrefix("~") ? "~\(id)" : id.text)
  }

  /// Adds a user.
  func insert(_ user: UserRecord) throws {
    try execute(
      """
      INSERT INTO users (id, subject, created, state, state_reason, state_since, code, display_name)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """,
      [
        .of(user.id), .text(user.subject), .integer(user.created), .of(user.state), .text(user.stateReason),
        .integer(user.stateSince), .optional(rowMAC.mac(of: user.image)), .optional(user.displayName),
      ], changing: 1)
  }

  /// Writes what changes of a user, with the MAC of the whole.
  func update(_ user: UserRecord) throws {
    try execute(
      """
      UPDATE users SET user_code = $1, state = $2, state_reason = $3, state_since = $4, code = $5, subject = $6,
        display_name = $7
      WHERE id = $8
      """,
      [
        .optional(user.codeDigest), .of(user.checked().state), .text(user.stateReason),
        .integer(user.stateSince), .optional(rowMAC.mac(of: user.image)), .text(user.subject),
        .optional(user.displayName), .of(user.id),
      ], changing: 1)
    setLocal(Self.lastUser, to: user)
  }
}
