extension ContainerRecord {
  /// Why nothing is taken that its user signs unasked; `nil` where it is.
  package var refusalToInitiate: DecisionOutcome? { isLocked ? .containerLocked : nil }
}

extension TransactionRecord {
  /// What it is, made by a device, where there is one of its id already: the same content by the same container is the same again.
  package func outcome(after known: TransactionRecord) -> DecisionOutcome {
    let isSame =
      known.isInitiatedByDevice && known.decision?.container == decision?.container
      && known.content.utf8.elementsEqual(content.utf8)
    return isSame ? .repeated : .decidedBefore
  }
}

extension TransactionLimits {
  /// Why a user may not sign this unasked after the last ones, ``initiated`` at most and the newest first: too many, or too much, within
  /// the window; `nil` where there is room.
  package func refusal(
    of transaction: TransactionRecord, after last: [(created: Int64, size: Int64)]
  ) -> DecisionOutcome? {
    let (now, window) = (transaction.created, Self.initiatedWindow)
    // The MACs of these rows are not looked at, and none covers the size: so both are taken within bounds.
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
