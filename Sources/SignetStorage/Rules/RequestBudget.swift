/// What is counted of the requests to a user: one budget against fatigue, of which each requester has a share.
///
/// A transaction is one request, by however many messages and operations the user is asked it.
package struct RequestBudget: Hashable {
  /// Requests in a row of which none was accepted.
  package struct Row: Hashable {
    /// How many there are.
    package var count = 0
    /// When the next one may be made, in seconds since 1970; 0 for at any time.
    package var after: Int64 = 0

    /// A row; one that has not begun without arguments.
    ///
    /// No MAC covers the count in the database, so it is taken within bounds.
    package init(count: Int = 0, after: Int64 = 0) {
      self.count = min(max(0, count), 1_000_000)
      self.after = after
    }

    /// Counts one more, after which the next may have to wait.
    mutating func count(at now: Int64, _ limits: TransactionLimits) {
      count += 1
      let wait = limits.wait(after: count)
      // Without a wait, a clock that is set back must not make one.
      after = wait > 0 ? now + wait : 0
    }
  }

  /// What the end of a request does to the budget.
  package enum Effect: Hashable {
    /// The budget stays as it is.
    case nothing
    /// An acceptance ends the row.
    case endsRow
    /// A report begins a wait.
    case beginsWait(TransactionLimits)

    /// What an answer does.
    package init(of answer: TransactionRecord.State, _ limits: TransactionLimits) {
      self = answer == .accepted ? .endsRow : answer == .reported ? .beginsWait(limits) : .nothing
    }
  }

  /// All requests to the user.
  package var all: Row
  /// Those of one requester.
  package var own: Row

  /// Puts the rows together.
  package init(all: Row, own: Row) { (self.all, self.own) = (all, own) }

  /// Whether the next request has to wait, after the ones of its requester or after all.
  ///
  /// - Returns: ``AdmissionOutcome/coolingDown(retryAfter:)`` where it has to; `nil` where it has not.
  package func wait(at now: Int64, _ limits: TransactionLimits) -> AdmissionOutcome? {
    let after = max(all.after, own.after)
    return after <= now ? nil : .coolingDown(retryAfter: min(after - now, limits.longestWait))
  }

  /// Counts a request that does not have to wait, unless too many wait for the user's answer; who is not named is a requester too.
  ///
  /// - Returns: Whether it is added, and the budget with it; `nil` where it is not counted.
  package func admit(
    by requester: String, at now: Int64, beside waiting: [(requester: String, expires: Int64)],
    _ limits: TransactionLimits
  ) -> (outcome: AdmissionOutcome, counted: RequestBudget?) {
    let share = limits.share
    // What waits longer first: it is what the requester has to wait for.
    for (ends, limit) in [
      (waiting.filter { $0.requester == requester }.map(\.expires), share.pending),
      (waiting.map(\.expires), limits.pending),
    ] where ends.count >= limit {
      return (.tooManyPending(retryAfter: (ends.min() ?? now + 1) - now), nil)
    }
    var counted = self
    counted.own.count(at: now, share)
    // Beyond its share a requester waits alone, and uses up nothing of others'. Where several have used up all together, each further
    // request is everybody's again: more requesters are no more requests to the user.
    if counted.own.count <= share.challenges || all.count >= limits.challenges {
      counted.all.count(at: now, limits)
    }
    return (.added, counted)
  }

  /// Counts a report: nobody asks for a while, and who asked this begins the waits that grow.
  ///
  /// - Returns: The budget after it.
  package func reported(at time: Int64, _ limits: TransactionLimits) -> RequestBudget {
    let share = limits.share
    var reported = self
    reported.own.count = max(own.count, share.challenges - 1) + 1
    reported.own.after = time + share.wait(after: reported.own.count)
    reported.all.after = max(all.after, time + limits.wait(after: limits.challenges))
    return reported
  }
}

extension TransactionRecord {
  /// Whose budget it counts against; `nil` where nobody is named for it, or a device has made it.
  package var countedUser: UserID? { isInitiatedByDevice ? nil : user }
}
