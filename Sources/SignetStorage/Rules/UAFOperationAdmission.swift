/// The admission of a UAF operation, and its count against the user's budget of requests.
package enum UAFOperationAdmission: Hashable, Sendable {
  /// Rejected: the transaction that it would answer has ended; the change of the transaction, `nil` for none.
  case transactionEnded(TransactionEnding.Change?)
  /// Admitted; if it has a requester, the budget must have room.
  case admissible(UAFOperationRecord)

  /// Decides on an operation at the time of its creation.
  ///
  /// - Parameters:
  ///   - session: The operation.
  ///   - transaction: The transaction that it answers; `nil` for none.
  ///   - wasSent: True if its target was sent that transaction before.
  package init(of session: UAFOperationRecord, answering transaction: TransactionRecord?, wasSent: Bool) {
    if let transaction, transaction.state(at: session.created) != .pending {
      self = .transactionEnded(transaction.lapse(at: session.created))
      return
    }
    // A transaction without a user counts for no user. A second operation for the same target asks the user again, and counts.
    let isCountedBefore = transaction.map { $0.user == session.user && !wasSent } ?? false
    let counts = session.user != nil && session.target != nil && session.isGrant && !isCountedBefore
    var session = session
    session.requester = counts ? session.requester ?? "" : nil
    self = .admissible(session)
  }
}

extension UAFOperationRecord {
  /// The time after which earlier operations of its client count as recent: as long before it as it lasts.
  package var recentAfter: Int64 { created - (expires - created) }

  /// Returns `true` if an unauthenticated client may begin one more operation, given its number of recent ones without success.
  package static func hasRoom(beside recent: Int64, limit: Int) -> Bool { recent < limit }
}
