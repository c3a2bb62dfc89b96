import SignetServerTesting
import SignetStorage
import Testing

/// The rate limit of requests to a user, overall and for one requester.
@Suite struct RequestBudgetRulesTests {
  private typealias Row = RequestBudget.Row
  private static let limits = TransactionLimits.rule
  private static let fresh = RequestBudget(all: Row(), own: Row())

  @Test(
    "a request waits for the later of both rows, and no longer than the longest wait",
    arguments: [
      (0, 0, nil), (1000, 0, nil), (1001, 0, 1), (0, 1001, 1), (1060, 1100, 100), (1200, 0, 200),
      (1201, 0, 200),
    ] as [(Int64, Int64, Int64?)])
  func waits(all: Int64, own: Int64, seconds: Int64?) {
    let budget = RequestBudget(all: Row(after: all), own: Row(after: own))
    #expect(budget.wait(at: 1000, Self.limits) == seconds.map { .coolingDown(retryAfter: $0) })
  }

  // A requester's share is 3 of 5 pending; it waits for its own first, even if another's ends sooner.
  @Test(
    "a request is refused at the limit of pending ones, at the requester's share first",
    arguments: [
      ("", nil), ("aa", nil), ("aaa", 10), ("baaa", 20), ("bbba", nil), ("bbbb", nil), ("bbbbb", 10),
      ("bbbca", 10), ("bbbbbb", 10),
    ] as [(String, Int64?)])
  func pending(_ requesters: String, seconds: Int64?) {
    let waiting = requesters.enumerated().map {
      (requester: String($1), expires: 1010 + Int64($0) * 10)
    }
    let (outcome, counted) = Self.fresh.admit(by: "a", at: 1000, beside: waiting, Self.limits)
    #expect(outcome == (seconds.map { .tooManyPending(retryAfter: $0) } ?? .added))
    #expect((counted != nil) == (seconds == nil))
  }

  /// The budget before an event and after it.
  struct Change: Sendable {
    let before: RequestBudget
    let after: RequestBudget

    init(_ before: RequestBudget, _ after: RequestBudget) {
      self.before = before
      self.after = after
    }
  }

  private static func budget(_ all: Row, _ own: Row) -> RequestBudget { RequestBudget(all: all, own: own) }

  // A requester's share is 2 of 4 in a row.
  @Test(
    "beyond its share a requester is counted separately until the total is used up",
    arguments: [
      Change(budget(Row(), Row()), budget(Row(count: 1), Row(count: 1))),
      Change(
        budget(Row(count: 1), Row(count: 1)), budget(Row(count: 2), Row(count: 2, after: 1060))),
      Change(
        budget(Row(count: 2), Row(count: 2)), budget(Row(count: 2), Row(count: 3, after: 1120))),
      Change(
        budget(Row(count: 3), Row(count: 2)), budget(Row(count: 3), Row(count: 3, after: 1120))),
      Change(
        budget(Row(count: 4), Row(count: 2)),
        budget(Row(count: 5, after: 1120), Row(count: 3, after: 1120))),
      Change(budget(Row(count: 3), Row()), budget(Row(count: 4, after: 1060), Row(count: 1))),
      // After the clock was set back, no old wait remains if there is nothing to wait for.
      Change(
        budget(Row(count: 0, after: 9), Row(count: 0, after: 9)), budget(Row(count: 1), Row(count: 1))),
    ])
  func counts(_ change: Change) {
    let (outcome, counted) = change.before.admit(by: "a", at: 1000, beside: [], Self.limits)
    #expect(outcome == .added)
    #expect(counted == change.after)
  }

  @Test(
    "a reported request makes all requesters wait once, and its requester from its share on",
    arguments: [
      Change(budget(Row(), Row()), budget(Row(after: 1060), Row(count: 2, after: 1060))),
      Change(
        budget(Row(count: 2), Row(count: 1)),
        budget(Row(count: 2, after: 1060), Row(count: 2, after: 1060))),
      Change(
        budget(Row(count: 3), Row(count: 2)),
        budget(Row(count: 3, after: 1060), Row(count: 3, after: 1120))),
      Change(
        budget(Row(count: 5, after: 1120), Row(count: 3)),
        budget(Row(count: 5, after: 1120), Row(count: 4, after: 1200))),
    ])
  func reports(_ change: Change) {
    #expect(change.before.reported(at: 1000, Self.limits) == change.after)
  }

  @Test("altered numbers in the database do not crash the server", arguments: [Int.max, Int.min])
  func altered(count: Int) {
    let row = Row(count: count)
    let budget = RequestBudget(all: row, own: row)
    let (outcome, counted) = budget.admit(by: "a", at: 1000, beside: [], Self.limits)
    #expect(outcome == .added && counted != nil)
    #expect(budget.reported(at: 1000, Self.limits).own.count > 0)
  }

  @Test("an acceptance resets the budget, a report starts a wait, and nothing else counts")
  func effects() {
    for state in TransactionRecord.State.allCases {
      let expected: RequestBudget.Effect =
        switch state {
        case .accepted: .endsRow
        case .reported: .beginsWait(Self.limits)
        default: .nothing
        }
      #expect(RequestBudget.Effect(of: state, Self.limits) == expected, "\(state)")
    }
  }

  @Test("transactions by devices or without a user are not counted")
  func counted() {
    var initiated = TransactionRecord.rule()
    #expect(initiated.countedUser == "alice")
    initiated.isInitiatedByDevice = true
    #expect(initiated.countedUser == nil)
    #expect(TransactionRecord.rule(user: nil).countedUser == nil)
  }
}
