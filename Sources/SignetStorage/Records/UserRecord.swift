import SignetSQL

/// A user: the subscriber account (NIST SP 800-63).
package struct UserRecord: Hashable, Sendable {
  /// The state of a user.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// The server accepts what is bound to the account.
    case active
    /// The server accepts nothing until an operator resumes the account; all bindings are kept.
    case suspended
    /// Nothing is bound to the account any more. ``UserRecord/id`` is the subject; another user may have the former id.
    case deleted
    /// The row's MAC does not verify: never stored, set when the row is read.
    ///
    /// The server accepts nothing from the user. If an operator suspends the user, the row is rewritten.
    case altered
  }

  /// The user id, as the operator chose it; for a deleted user the ``subject``.
  package internal(set) var id: UserID
  /// The name of the user in the audit log and in tokens, which is never reused: `~` and characters that the server generates.
  package internal(set) var subject: String
  /// The operator's name for the person, for display only: no lookup uses it; `nil` for none.
  package var displayName: String?
  /// When the user was added, in seconds since 1970.
  package var created: Int64
  /// The keyed digest of the user code that clients must send to ask the user (CIBA section 7.1), 32 bytes; `nil` for none.
  package var codeDigest: [UInt8]?
  /// The state.
  package var state = State.active
  /// The reason of the state, in the operator's words; empty for none.
  package var stateReason = ""
  /// When the state began, in seconds since 1970.
  package var stateSince: Int64

  /// Describes an active user.
  package init(id: UserID, subject: String, created: Int64) {
    self.id = id
    self.subject = subject
    self.created = created
    stateSince = created
  }
}

/// The outcome of a change of a user.
package enum UserChangeOutcome: Hashable, Sendable {
  /// The change was made.
  case changed
  /// The user had that state or that name already.
  case unchanged
  /// There is no such user, or the user was deleted.
  case unknown
  /// The row's MAC does not verify: the user has to be suspended first, which rewrites the row.
  case altered
}

extension UserRecord: StoredRecord, AlterableRecord {
  package static let table = "users"
  static let columns = "id, created, user_code, state, state_reason, state_since, code, subject, display_name"

  /// The prefix of subjects, which no id of an existing user has.
  package static let subjectPrefix = "~"

  /// Reads a row; if its MAC does not verify, the state is ``State/altered``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(id: try row.user(0), subject: try row.text(7), created: try row.integer(1))
    codeDigest = try row.optional(2, row.blob)
    // The database enforces the types of values, but a word may be unknown.
    state = State(sqlValue: row[3]) ?? .altered
    stateReason = try row.text(4)
    stateSince = try row.integer(5)
    displayName = try row.optional(8, row.text)
    if !mac.matches(image, try row.optional(6, row.blob)) { state = .altered }
    // The name may be that of another person.
    if state == .altered { displayName = nil }
  }

  package var isAltered: Bool { state == .altered }

  /// The input of the row's MAC: all columns except the counts of requests.
  var image: MACInput {
    var image = MACInput(Self.table)
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

  /// The error for a user that another row names and that does not exist.
  package static func missing(_ id: UserID) -> StorageFailure { .altered(row: id.text, of: Self.table) }
}

extension SQLConnection {
  // Built once, because the check of each code reads its user.
  private static let userByID = "SELECT \(UserRecord.columns) FROM users WHERE id = $1"

  /// Returns the user with this id, even if the row's MAC does not verify; `nil` for none.
  ///
  /// A step asks for the same user in several places, so the last user is cached, and each change updates the cache.
  func anyUser(_ id: UserID) throws -> UserRecord? {
    if let last = try local(Self.lastUser, load: { nil }), last.id == id { return last }
    let mac = try rowMAC
    let found = try row(Self.userByID, [.of(id)]) {
      try UserRecord($0, mac)
    }
    if let found { setLocal(Self.lastUser, to: found) }
    return found
  }

  /// Returns the user in the columns of a row from an index on, for a query that joins users to another table.
  ///
  /// Also returns a user whose row MAC does not verify; `nil` for none.
  func anyUser(in row: SQLRow, from index: Int) throws -> UserRecord? {
    let columns = row.columns(from: index)
    guard columns[0] != .null else { return nil }
    let found = try UserRecord(columns, rowMAC)
    setLocal(Self.lastUser, to: found)
    return found
  }

  /// Returns the user with this subject, even if the row's MAC does not verify; `nil` for none.
  func anyUser(subject: String) throws -> UserRecord? {
    try record("WHERE subject = $1", [.text(subject)])
  }

  private static let lastUser = TransactionLocal<UserRecord?>()

  /// Returns the name of a user in the audit log: the subject, or the id itself for an unknown user.
  ///
  /// An unknown id that begins with `~` gets another `~` in front. Otherwise a stranger could send the subject of a user as
  /// an id, and the log would read as if it were that user. The id of a deleted user is the subject.
  func subject(of id: UserID) throws -> String {
    try anyUser(id)?.subject ?? (id.text.hasPrefix("~") ? "~\(id)" : id.text)
  }

  func insert(_ user: UserRecord) throws {
    try insert(
      into: UserRecord.table,
      "id, subject, created, state, state_reason, state_since, code, display_name",
      [
        .of(user.id), .text(user.subject), .integer(user.created), .of(user.state), .text(user.stateReason),
        .integer(user.stateSince), .optional(rowMAC.mac(of: user.image)), .optional(user.displayName),
      ])
  }

  /// Writes the columns of a user that can change, and the MAC of the row.
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
