/// The counts of requests to a user: one budget against fatigue attacks, of which each requester has a share.
///
/// A transaction is one request, no matter how many messages and operations ask for it.
package struct RequestBudget: Hashable {
  /// Consecutive requests of which none was accepted.
  package struct Row: Hashable {
    /// The number of requests.
    package var count = 0
    /// The earliest time of the next request, in seconds since 1970; 0 for any time.
    package var after: Int64 = 0

    /// Makes a row of requests; empty without arguments.
    ///
    /// The MAC of the database row does not cover the count, so it is clamped.
    package init(count: Int = 0, after: Int64 = 0) {
      self.count = min(max(0, count), 1_000_000)
      self.after = after
    }

    /// Counts one more request, after which the next may have to wait.
    mutating func count(at now: Int64, _ limits: TransactionLimits) {
      count += 1
      let wait = limits.wait(after: count)
      // 0 instead of `now`: otherwise a clock that is set back would cause a waiting time.
      after = wait > 0 ? now + wait : 0
    }
  }

  /// The effect of the end of a request on the budget.
  package enum Effect: Hashable {
    /// None.
    case nothing
    /// An acceptance resets the counts.
    case endsRow
    /// A report of abuse starts a waiting time.
    case beginsWait(TransactionLimits)

    /// Makes the effect of an answer.
    package init(of answer: TransactionRecord.State, _ limits: TransactionLimits) {
      self = answer == .accepted ? .endsRow : answer == .reported ? .beginsWait(limits) : .nothing
    }
  }

  /// All requests to the user.
  package var all: Row
  /// Those of one requester.
  package var own: Row

  /// Combines the two.
  package init(all: Row, own: Row) { (self.all, self.own) = (all, own) }

  /// Determines if the next request has to wait, because of its requester's requests or of all requests.
  ///
  /// - Returns: ``AdmissionOutcome/coolingDown(retryAfter:)`` if it has to; otherwise `nil`.
  package func wait(at now: Int64, _ limits: TransactionLimits) -> AdmissionOutcome? {
    let after = max(all.after, own.after)
    return after <= now ? nil : .coolingDown(retryAfter: min(after - now, limits.longestWait))
  }

  /// Counts a request that does not have to wait, unless too many requests are pending; requests without a named requester
  /// count as one requester's.
  ///
  /// - Returns: The outcome, and the new budget; `nil` if the request is not counted.
  package func admit(
    by requester: String, at now: Int64, beside waiting: [(requester: String, expires: Int64)],
    _ limits: TransactionLimits
  ) -> (outcome: AdmissionOutcome, counted: RequestBudget?) {
    let share = limits.share
    // The longer waiting time is checked first: it is the one that the requester has to wait.
    for (ends, limit) in [
      (waiting.filter { $0.requester == requester }.map(\.expires), share.pending),
      (waiting.map(\.expires), limits.pending),
    ] where ends.count >= limit {
      return (.tooManyPending(retryAfter: (ends.min() ?? now + 1) - now), nil)
    }
    var counted = self
    counted.own.count(at: now, share)
    // Beyond its share a requester has to wait alone, and does not use up the budget of others. Once several requesters have used
    // up the common budget, each further request counts against it again: more requesters must not mean more requests to the user.
    if counted.own.count <= share.challenges || all.count >= limits.challenges {
      counted.all.count(at: now, limits)
    }
    return (.added, counted)
  }

  /// Counts a report: no requester may ask for a while, and the reported one gets the growing waiting times.
  ///
  /// - Returns: The new budget.
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
  /// The user whose budget it counts against; `nil` if it names no user, or a device has initiated it.
  package var countedUser: UserID? { isInitiatedByDevice ? nil : user }
}
