import SignetSQL

/// A user: the subscriber account (NIST SP 800-63).
public struct UserRecord: Hashable, Sendable {
  /// Where a user stands.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// May use what is bound to the account.
    case active
    /// May use nothing until an operator resumes the account; all stays bound.
    case suspended
    /// Gone: nothing is bound to the account any more. The id is kept, and is not given again.
    case deleted
  }

  /// The user id, as the operator gave it.
  public var id: String
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
  public init(id: String, created: Int64) {
    self.id = id
    self.created = created
    stateSince = created
  }
}

/// How a change of a user's state ended.
public enum UserChangeOutcome: Hashable, Sendable {
  /// It was made.
  case changed
  /// The user was in that state before.
  case unchanged
  /// There is no such user, or no longer.
  case unknown
}

extension UserRecord {
  static let columns = "id, created, user_code, state, state_reason, state_since"

  init(_ row: SQLRow) throws {
    self.init(id: try row.text(0), created: try row.integer(1))
    codeDigest = try row.optional(2, row.blob)
    state = try row.value(3)
    stateReason = try row.text(4)
    stateSince = try row.integer(5)
  }
}

extension SQLConnection {
  /// Adds a user.
  func insert(_ user: UserRecord) throws {
    try execute(
      "INSERT INTO users (id, created, state, state_reason, state_since) VALUES ($1, $2, $3, $4, $5)",
      [
        .text(user.id), .integer(user.created), .of(user.state), .text(user.stateReason),
        .integer(user.stateSince),
      ], changing: 1)
  }
}
