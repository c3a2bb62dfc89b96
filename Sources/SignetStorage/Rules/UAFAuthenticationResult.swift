/// The result of an authentication whose signatures verify, and whose operation is open.
package struct UAFAuthenticationResult: Hashable, Sendable {
  /// The outcome.
  package private(set) var outcome = UAFOutcome.accepted
  /// The operation after its end.
  package private(set) var session: UAFOperationRecord
  /// The keys that have changed: in their counter, or by quarantine.
  package private(set) var keys: [UAFCredentialRecord] = []
  /// The change of its transaction; `nil` for none.
  package private(set) var change: TransactionEnding.Change?

  /// Indicates whether the step resets the count of the user's requests itself; otherwise the end of a transaction does so.
  package var clearsBudget: Bool { outcome == .accepted && session.isCounted && change == nil }

  /// Evaluates a response.
  ///
  /// - Parameters:
  ///   - session: The operation.
  ///   - transaction: The transaction that it names, if any.
  ///   - stored: The records of the named keys, in any state.
  ///   - user: The user to whom the keys must belong.
  ///   - end: The end in case of success.
  ///   - uses: The uses of keys that the signatures prove.
  ///   - evidence: The evidence for an accepted transaction.
  ///   - check: Returns the reason why active keys do not suffice; `nil` if they do.
  package init(
    of session: UAFOperationRecord, deciding transaction: TransactionRecord?,
    by stored: [UAFCredentialRecord],
    of user: UserID, _ end: UAFOperationEnd, uses: [CounterUpdate], evidence: EvidenceRecord?,
    check: ([UAFCredentialRecord], TransactionRecord?) -> UAFOutcome?
  ) {
    self.session = session
    // Keys that are not active are rejected when they are counted.
    let inUse = uses.compactMap { use in stored.first { $0.isNamed(in: use) && $0.isInUse(by: user) } }
    if session.transaction != nil, transaction?.acceptsUAF(of: user, at: end.time) != true {
      change = transaction?.lapse(at: end.time)
      outcome = .transactionEnded
    } else if inUse.count == uses.count, let refusal = check(inUse, transaction) {
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

  /// Counts the uses of all keys, even if one is rejected; the first rejection fails the operation.
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
  /// Returns `true` if UAF may accept it for a user at a time.
  fileprivate func acceptsUAF(of user: UserID, at time: Int64) -> Bool {
    state(at: time) == .pending && isAsked(of: .uaf, of: user)
  }
}

extension UAFOutcome {
  /// Indicates whether requests may have lost their last authenticator: the operation, or a key that is now in quarantine.
  ///
  /// Outcomes that change nothing are excluded: the earlier change has ended such requests.
  package var mayLeaveUnanswered: Bool {
    switch self {
    case .accepted, .expired, .transactionEnded: false
    case .keyExists, .keyUnknown, .clonedAuthenticator, .tooMany, .altered, .requirementNotMet: true
    }
  }
}
