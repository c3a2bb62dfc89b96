public import SignetStorage

extension UserRecord {
  /// Creates an active user whose subject derives from the ID: for tests that do not delete a user and add it again.
  public init(id: UserID, created: Int64) { self.init(id: id, subject: "~\(id)", created: created) }
}
