/// What an authentication comes to whose signatures are good, and whose operation takes a response.
package struct UAFAuthentication: Hashable, Sendable {
  /// The outcome.
  package private(set) var outcome = UAFOutcome.accepted
  /// The operation as it has ended.
  package private(set) var session: UAFOperationRecord
  /// The keys that have changed: their counters, or that they are in quarantine.
  package private(set) var keys: [UAFCredentialRecord] = []
  /// What is written of its transaction; `nil` for nothing.
  package private(set) var change: TransactionEnding.Change?

  /// Whether it has the count of the user's requests cleared for itself; the end of a transaction has its own effect.
  package var clearsBudget: Bool { outcome == .accepted && session.isCounted && change == nil }

  /// Judges a response.
  ///
  /// - Parameters:
  ///   - session: The operation.
  ///   - transaction: The transaction that it names, if there is one.
  ///   - stored: The keys that are named, in any state.
  ///   - user: Whose keys they have to be.
  ///   - end: The end of a success.
  ///   - uses: The uses of keys that the signatures prove.
  ///   - evidence: What is kept with an accepted transaction.
  ///   - judge: Says why keys that are all in use do not do; `nil` where they do.
  package init(
    of session: UAFOperationRecord, deciding transaction: TransactionRecord?,
    by stored: [UAFCredentialRecord],
    of user: UserID, _ end: UAFOperationEnd, uses: [CounterUpdate], evidence: EvidenceRecord?,
    judge: ([UAFCredentialRecord], TransactionRecord?) -> UAFOutcome?
  ) {
    self.session = session
    // Keys that are not in use are refused when they are counted.
    let inUse = uses.compactMap { use in stored.first { $0.isNamed(in: use) && $0.isInUse(by: user) } }
    if session.transaction != nil, transaction?.takesUAF(of: user, at: end.time) != true {
      change = transaction?.lapse(at: end.time)
      outcome = .transactionOver
    } else if inUse.count == uses.count, let refusal = judge(inUse, transaction) {
      outcome = refusal
    } else {
      outcome = count(uses, of: user, at: end.time, stored) ?? .accepted
    }
    guard outcome == .accepted else {
      self.session = session.failed(outcome, end)
      return
    }
    self.session = session.ended(.succeeded, end)
    self.session.user = user
    if var transaction {
      (transaction.user, transaction.state) = (user, .accepted)
      (transaction.uaf, transaction.evidence) = (UAFAcceptance(session: session.id, time: end.time), evidence)
      change = .ends(transaction, .endsRow)
    }
  }

  /// Counts the uses of all keys, also where one is refused; the first refusal fails the operation.
  private mutating func count(
    _ uses: [CounterUpdate], of user: UserID, at time: Int64, _ stored: [UAFCredentialRecord]
  ) -> UAFOutcome? {
    var counted = stored
    let refusals = uses.compactMap { use in
      counted.firstIndex { $0.isNamed(in: use) }.map { counted[$0].count(use, of: user, at: time) }
        ?? .keyUnknown
    }
    keys = zip(stored, counted).filter { $0 != $1 }.map(\.1)
    return refusals.first
  }
}

extension TransactionRecord {
  /// Whether UAF may accept it for a user at a time.
  fileprivate func takesUAF(of user: UserID, at time: Int64) -> Bool {
    state(at: time) == .pending && isAsked(of: .uaf, of: user)
  }
}

extension UAFOutcome {
  /// Whether requests may have lost the last way to be answered: the operation, or a key that is in quarantine now.
  ///
  /// Where nothing has changed, what ended before has ended them.
  package var mayLeaveUnanswered: Bool {
    switch self {
    case .accepted, .expired, .transactionOver: false
    case .keyExists, .keyUnknown, .clonedAuthenticator, .tooMany, .altered, .requirementNotMet: true
    }
  }
}
