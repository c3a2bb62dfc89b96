/// Whether a UAF operation may begin, and whether it counts against its user's budget of requests.
package enum UAFOperationAdmission: Hashable, Sendable {
  /// The transaction that it would answer is over; what is written of that, or `nil` for nothing.
  case transactionOver(TransactionEnding.Change?)
  /// It may, if the budget has room for one that has a requester.
  case admissible(UAFOperationRecord)

  /// Judges an operation at the time of its creation.
  ///
  /// - Parameters:
  ///   - session: The operation.
  ///   - transaction: The transaction that it answers; `nil` for none.
  ///   - wasSent: Whether its target was sent that transaction before.
  package init(of session: UAFOperationRecord, answering transaction: TransactionRecord?, wasSent: Bool) {
    if let transaction, transaction.state(at: session.created) != .pending {
      self = .transactionOver(transaction.lapse(at: session.created))
      return
    }
    // A transaction without a user is counted for nobody. A second operation for the same target asks the user again, and counts.
    let isCountedBefore = transaction.map { $0.user == session.user && !wasSent } ?? false
    let counts = session.user != nil && session.target != nil && session.isGrant && !isCountedBefore
    var session = session
    session.requester = counts ? session.requester ?? "" : nil
    self = .admissible(session)
  }
}

extension UAFOperationRecord {
  /// Operations of its client that were begun after this count as recent beside it: as long ago as it lasts.
  package var recentAfter: Int64 { created - (expires - created) }

  /// Whether a client that is not known may begin one more beside its recent ones without success.
  package static func hasRoom(beside recent: Int64, limit: Int) -> Bool { recent < limit }
}
