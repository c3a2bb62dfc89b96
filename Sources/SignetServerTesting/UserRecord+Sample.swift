public import SignetStorage

extension UserRecord {
  /// An active user whose subject follows from the id: for tests that delete nobody and add them again.
  public init(id: UserID, created: Int64) { self.init(id: id, subject: "~\(id)", created: created) }
}
