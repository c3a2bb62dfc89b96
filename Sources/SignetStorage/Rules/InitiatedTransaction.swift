import SignetSystem

extension ContainerRecord {
  /// The reason why a transaction that its user initiates is rejected; `nil` if it is accepted.
  package var refusalToInitiate: DecisionOutcome? { isLocked ? .containerLocked : nil }
}

extension TransactionRecord {
  /// Returns the outcome of an initiated transaction whose id exists: a repetition if container and content are the same.
  package func outcome(after stored: TransactionRecord) -> DecisionOutcome {
    let isSame =
      stored.isInitiatedByDevice && stored.decision?.container == decision?.container
      && stored.content.hasSameBytes(as: content)
    return isSame ? .repeated : .decidedBefore
  }
}

extension TransactionLimits {
  /// Returns the reason why a user may not initiate this transaction now: too many, or too many bytes, within the window;
  /// `nil` if there is room.
  ///
  /// `last` has the latest initiated transactions, at most ``initiated`` and newest first.
  package func refusal(
    of transaction: TransactionRecord, after last: [(created: Int64, size: Int64)]
  ) -> DecisionOutcome? {
    let (now, window) = (transaction.created, Self.initiatedWindow)
    // The MACs of these rows are not verified, and no MAC covers the size, so both values are clamped.
    let recent = last.filter { $0.created > now - window }
      .map { (created: min($0.created, now), size: min(max($0.size, 0), initiatedByteCount + 1)) }
    var (count, bytes) = (recent.count + 1, recent.reduce(transaction.size) { $0 + $1.size })
    var wait: Int64?
    for oldest in recent.reversed() {
      guard count > initiated || bytes > initiatedByteCount else { break }
      wait = min(max(oldest.created + window - now, 1), window)
      (count, bytes) = (count - 1, bytes - oldest.size)
    }
    return wait.map { .tooMany(seconds: $0) }
  }
}
