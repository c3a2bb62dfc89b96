import SignetServerTesting
import SignetStorage
import Testing

/// The end of a transaction that wins, and its consequences.
@Suite struct TransactionEndRulesTests {
  private typealias State = TransactionRecord.State
  private static let limits = TransactionLimits.rule

  /// A transaction to end, and the outcome of the attempt.
  private struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let found: TransactionRecord
    let state: State
    var container: ContainerID? = "c"
    var time: Int64 = 1100
    let refusal: TransactionEnding?
    var testDescription: String { name }
  }

  private static let cases = [
    Case(name: "open", found: TransactionRecord.rule(), state: .accepted, refusal: nil),
    Case(
      name: "open, for anybody", found: TransactionRecord.rule(user: nil), state: .accepted, refusal: nil),
    Case(
      name: "another user's", found: TransactionRecord.rule(user: "bob"), state: .accepted,
      refusal: TransactionEnding(.unknown)),
    Case(
      name: "asked of containers alone", found: TransactionRecord.rule(of: .container), state: .denied,
      refusal: nil),
    Case(
      name: "asked of an app alone", found: TransactionRecord.rule(of: .pushApp), state: .accepted,
      refusal: TransactionEnding(.unknown)),
    Case(
      name: "asked of an app alone, by the relying party", found: TransactionRecord.rule(of: .pushApp),
      state: .withdrawn, container: nil, refusal: nil),
    Case(
      name: "in its last second", found: TransactionRecord.rule(), state: .denied, time: 1299,
      refusal: nil),
    Case(
      name: "at its end", found: TransactionRecord.rule(), state: .denied, time: 1300,
      refusal: TransactionEnding(.expired, .expires)),
    Case(
      name: "written as expired, by a clock that was set back", found: TransactionRecord.rule(.expired),
      state: .denied, refusal: TransactionEnding(.expired)),
    Case(
      name: "decided so by the same container", found: TransactionRecord.rule(decided: .accepted),
      state: .accepted,
      refusal: TransactionEnding(.repeated)),
    Case(
      name: "decided so, and its time is over since", found: TransactionRecord.rule(decided: .accepted),
      state: .accepted, time: 1400, refusal: TransactionEnding(.repeated)),
    Case(
      name: "decided so by another container", found: TransactionRecord.rule(decided: .accepted),
      state: .accepted,
      container: "c2", refusal: TransactionEnding(.decidedBefore)),
    Case(
      name: "decided otherwise", found: TransactionRecord.rule(decided: .denied), state: .accepted,
      refusal: TransactionEnding(.decidedBefore)),
    Case(
      name: "reported before a withdrawal", found: TransactionRecord.rule(decided: .reported),
      state: .withdrawn,
      container: nil, refusal: TransactionEnding(.decidedBefore)),
    Case(
      name: "denied for wrong numbers by the same container",
      found: TransactionRecord.rule(ended: .denied, by: "c"), state: .denied,
      refusal: TransactionEnding(.decidedBefore)),
    Case(
      name: "cancelled so by the same container", found: TransactionRecord.rule(ended: .cancelled, by: "c"),
      state: .cancelled, refusal: TransactionEnding(.repeated)),
    Case(
      name: "cancelled by another container", found: TransactionRecord.rule(ended: .cancelled, by: "c2"),
      state: .cancelled, refusal: TransactionEnding(.cancelled)),
    Case(
      name: "withdrawn so", found: TransactionRecord.rule(ended: .withdrawn), state: .withdrawn,
      container: nil,
      refusal: TransactionEnding(.repeated)),
    Case(
      name: "withdrawn before a decision", found: TransactionRecord.rule(ended: .withdrawn), state: .accepted,
      refusal: TransactionEnding(.cancelled)),
  ]

  @Test("the first end wins", arguments: cases)
  private func refuses(_ one: Case) {
    let actor = one.container.map { (container: $0, user: UserID("alice")) }
    #expect(one.found.refusal(one.state, by: actor, at: one.time) == one.refusal)
  }

  private static func decide(
    _ found: TransactionRecord = TransactionRecord.rule(), _ state: State = .accepted,
    at time: Int64 = 1100,
    after refusal: DecisionOutcome? = nil, isLocked: Bool = false, hasRightNumber: Bool = true
  ) -> TransactionEnding {
    found.ending(
      by: DecisionRecord.rule(state, at: time), of: "alice", after: refusal, isLocked: isLocked,
      hasRightNumber: hasRightNumber, limits)
  }

  @Test(
    "a decision ends an open transaction, and one without a user gets the decider as user",
    arguments: [State.accepted, .denied, .reported], ["alice", nil])
  private func decides(_ state: State, user: UserID?) {
    let effect = RequestBudget.Effect(of: state, Self.limits)
    #expect(
      Self.decide(TransactionRecord.rule(user: user), state)
        == TransactionEnding(.decided, .ends(TransactionRecord.rule(decided: state), effect)))
  }

  @Test(
    "a container with a refused signature decides nothing",
    arguments: [DecisionOutcome.notSigned, .locked], [true, false])
  func unsigned(_ refusal: DecisionOutcome, hasRightNumber: Bool) {
    for isLocked in [true, false] {
      #expect(
        Self.decide(after: refusal, isLocked: isLocked, hasRightNumber: hasRightNumber)
          == TransactionEnding(refusal))
    }
  }

  @Test("a locked container can only deny, and its wrong numbers are not counted")
  func locked() {
    #expect(Self.decide(isLocked: true) == TransactionEnding(.containerLocked))
    #expect(Self.decide(isLocked: true, hasRightNumber: false) == TransactionEnding(.containerLocked))
    for state in [State.denied, .reported] {
      #expect(Self.decide(TransactionRecord.rule(), state, isLocked: true).outcome == .decided)
    }
  }

  @Test(
    "the last allowed wrong number denies", arguments: [(0, 2), (1, 1), (2, 0), (3, 0), (1000, 0)])
  func wrongNumbers(before: Int, remaining: Int) {
    var found = TransactionRecord.rule(user: nil)
    found.wrongNumbers = before
    let ending = Self.decide(found, hasRightNumber: false)
    #expect(ending.outcome == .wrongNumber(remaining: remaining))
    guard remaining == 0 else {
      #expect(ending.change == .counts(wrongNumbers: before + 1))
      return
    }
    var denied = TransactionRecord.rule(.denied)
    denied.wrongNumbers = before + 1
    denied.end = EndRecord(state: .denied, reason: "wrongNumber", container: "c", time: 1100)
    #expect(ending.change == .ends(denied, .nothing))
  }

  @Test("a wrong number for an ended transaction is not counted")
  func wrongNumberTooLate() {
    #expect(Self.decide(at: 1300, hasRightNumber: false) == TransactionEnding(.expired, .expires))
    #expect(
      Self.decide(TransactionRecord.rule(decided: .denied), hasRightNumber: false)
        == TransactionEnding(.decidedBefore))
  }

  @Test("a container that ends a transaction must be active and its user's")
  func cancels() {
    let end = EndRecord.rule(.cancelled, by: "c")
    let ended = TransactionRecord.rule(ended: .cancelled, by: "c")
    for (container, outcome) in [
      (nil, .unknown), (ContainerRecord.rule("c", .pending), .unknown),
      (ContainerRecord.rule("c", .revoked), .unknown),
      (ContainerRecord.rule("c", user: "bob"), .unknown), (ContainerRecord.rule(), .decided),
      // A locked container can end it.
      (ContainerRecord.rule("c", compliance: .locked), .decided),
    ] as [(ContainerRecord?, DecisionOutcome)] {
      let change = outcome == .decided ? TransactionEnding.Change.ends(ended, .nothing) : nil
      #expect(
        TransactionRecord.rule().ending(by: end, of: container, .nothing)
          == TransactionEnding(outcome, change))
    }
  }

  @Test("a transaction without a user gets the user who cancels it, and stays without one if withdrawn")
  func owner() {
    let anybodys = TransactionRecord.rule(user: nil)
    let cancelled = anybodys.ending(
      by: EndRecord.rule(.cancelled, by: "c"), of: ContainerRecord.rule(), .beginsWait(Self.limits))
    #expect(
      cancelled.change == .ends(TransactionRecord.rule(ended: .cancelled, by: "c"), .beginsWait(Self.limits)))
    let withdrawn = anybodys.ending(by: EndRecord.rule(.withdrawn), of: nil, .nothing)
    var ended = TransactionRecord.rule(ended: .withdrawn)
    ended.user = nil
    #expect(withdrawn == TransactionEnding(.decided, .ends(ended, .nothing)))
  }

  @Test("only an acceptance grants")
  func grants() {
    for state in State.allCases {
      #expect(DecisionRecord.rule(state).isGrant == (state == .accepted), "\(state)")
    }
  }
}
