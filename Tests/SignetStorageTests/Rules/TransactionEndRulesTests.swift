import SignetStorage
import Testing

/// Which end of a transaction wins, and what comes of it.
@Suite struct TransactionEndRulesTests {
  private typealias State = TransactionRecord.State
  private static let limits = RequestSample.limits

  /// A transaction that is to be ended, and what the attempt comes to.
  private struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let found: TransactionRecord
    let state: State
    var container: String? = "c1"
    var time: Int64 = 1100
    let refusal: TransactionEnding?
    var testDescription: String { name }
  }

  private static let cases = [
    Case(name: "open", found: RequestSample.transaction(), state: .accepted, refusal: nil),
    Case(
      name: "open, for anybody", found: RequestSample.transaction(user: nil), state: .accepted, refusal: nil),
    Case(
      name: "another user's", found: RequestSample.transaction(user: "bob"), state: .accepted,
      refusal: TransactionEnding(.unknown)),
    Case(
      name: "asked of containers alone", found: RequestSample.transaction(of: .container), state: .denied,
      refusal: nil),
    Case(
      name: "asked of an app alone", found: RequestSample.transaction(of: .pushApp), state: .accepted,
      refusal: TransactionEnding(.unknown)),
    Case(
      name: "asked of an app alone, by the relying party", found: RequestSample.transaction(of: .pushApp),
      state: .withdrawn, container: nil, refusal: nil),
    Case(
      name: "in its last second", found: RequestSample.transaction(), state: .denied, time: 1299,
      refusal: nil),
    Case(
      name: "at its end", found: RequestSample.transaction(), state: .denied, time: 1300,
      refusal: TransactionEnding(.expired, .expires)),
    Case(
      name: "written as expired, by a clock that was set back", found: RequestSample.transaction(.expired),
      state: .denied, refusal: TransactionEnding(.expired)),
    Case(
      name: "decided so by the same container", found: RequestSample.decided(.accepted), state: .accepted,
      refusal: TransactionEnding(.repeated)),
    Case(
      name: "decided so, and its time is over since", found: RequestSample.decided(.accepted),
      state: .accepted, time: 1400, refusal: TransactionEnding(.repeated)),
    Case(
      name: "decided so by another container", found: RequestSample.decided(.accepted), state: .accepted,
      container: "c2", refusal: TransactionEnding(.decidedBefore)),
    Case(
      name: "decided otherwise", found: RequestSample.decided(.denied), state: .accepted,
      refusal: TransactionEnding(.decidedBefore)),
    Case(
      name: "reported before a withdrawal", found: RequestSample.decided(.reported), state: .withdrawn,
      container: nil, refusal: TransactionEnding(.decidedBefore)),
    Case(
      name: "denied for wrong numbers by the same container",
      found: RequestSample.ended(.denied, by: "c1"), state: .denied,
      refusal: TransactionEnding(.decidedBefore)),
    Case(
      name: "cancelled so by the same container", found: RequestSample.ended(.cancelled, by: "c1"),
      state: .cancelled, refusal: TransactionEnding(.repeated)),
    Case(
      name: "cancelled by another container", found: RequestSample.ended(.cancelled, by: "c2"),
      state: .cancelled, refusal: TransactionEnding(.cancelled)),
    Case(
      name: "withdrawn so", found: RequestSample.ended(.withdrawn), state: .withdrawn, container: nil,
      refusal: TransactionEnding(.repeated)),
    Case(
      name: "withdrawn before a decision", found: RequestSample.ended(.withdrawn), state: .accepted,
      refusal: TransactionEnding(.cancelled)),
  ]

  @Test("the first end wins", arguments: cases)
  private func refuses(_ one: Case) {
    let actor = one.container.map { (container: $0, user: "alice") }
    #expect(one.found.refusal(one.state, by: actor, at: one.time) == one.refusal)
  }

  private static func decide(
    _ found: TransactionRecord = RequestSample.transaction(), _ state: State = .accepted,
    at time: Int64 = 1100,
    after refusal: DecisionOutcome? = nil, isLocked: Bool = false, hasRightNumber: Bool = true
  ) -> TransactionEnding {
    found.ending(
      by: RequestSample.decision(state, at: time), of: "alice", after: refusal, isLocked: isLocked,
      hasRightNumber: hasRightNumber, limits)
  }

  @Test(
    "a decision ends what is open, of anybody's for its user",
    arguments: [State.accepted, .denied, .reported], ["alice", nil])
  private func decides(_ state: State, user: String?) {
    let effect = RequestBudget.Effect(of: state, Self.limits)
    #expect(
      Self.decide(RequestSample.transaction(user: user), state)
        == TransactionEnding(.decided, .ends(RequestSample.decided(state), effect)))
  }

  @Test(
    "a container whose signature is refused decides nothing, whatever it sends",
    arguments: [DecisionOutcome.notSigned, .locked], [true, false])
  func unsigned(_ refusal: DecisionOutcome, hasRightNumber: Bool) {
    for isLocked in [true, false] {
      #expect(
        Self.decide(after: refusal, isLocked: isLocked, hasRightNumber: hasRightNumber)
          == TransactionEnding(refusal))
    }
  }

  @Test("a locked container can say no, and counts no wrong number")
  func locked() {
    #expect(Self.decide(isLocked: true) == TransactionEnding(.containerLocked))
    #expect(Self.decide(isLocked: true, hasRightNumber: false) == TransactionEnding(.containerLocked))
    for state in [State.denied, .reported] {
      #expect(Self.decide(RequestSample.transaction(), state, isLocked: true).outcome == .decided)
    }
  }

  @Test(
    "the last wrong number that is allowed denies", arguments: [(0, 2), (1, 1), (2, 0), (3, 0), (1000, 0)])
  func wrongNumbers(before: Int, remaining: Int) {
    var found = RequestSample.transaction(user: nil)
    found.wrongNumbers = before
    let ending = Self.decide(found, hasRightNumber: false)
    #expect(ending.outcome == .wrongNumber(remaining: remaining))
    guard remaining == 0 else {
      #expect(ending.change == .counts(wrongNumbers: before + 1))
      return
    }
    var denied = RequestSample.transaction(.denied)
    denied.wrongNumbers = before + 1
    denied.end = EndRecord(state: .denied, reason: "wrongNumber", container: "c1", time: 1100)
    #expect(ending.change == .ends(denied, .nothing))
  }

  @Test("a wrong number for what has ended is not counted")
  func wrongNumberTooLate() {
    #expect(Self.decide(at: 1300, hasRightNumber: false) == TransactionEnding(.expired, .expires))
    #expect(
      Self.decide(RequestSample.decided(.denied), hasRightNumber: false) == TransactionEnding(.decidedBefore))
  }

  @Test("a container that ends a transaction has to be in use, and its user's")
  func cancels() {
    let end = RequestSample.end(.cancelled, by: "c1")
    let ended = RequestSample.ended(.cancelled, by: "c1")
    for (container, outcome) in [
      (nil, .unknown), (RequestSample.container("c1", .pending), .unknown),
      (RequestSample.container("c1", .revoked), .unknown),
      (RequestSample.container("c1", user: "bob"), .unknown), (RequestSample.container(), .decided),
      // Who is locked can put an end to it.
      (RequestSample.container("c1", .active, .locked), .decided),
    ] as [(ContainerRecord?, DecisionOutcome)] {
      let change = outcome == .decided ? TransactionEnding.Change.ends(ended, .nothing) : nil
      #expect(
        RequestSample.transaction().ending(by: end, of: container, .nothing)
          == TransactionEnding(outcome, change))
    }
  }

  @Test("a transaction for anybody becomes that of the user who cancels it, and stays nobody's if withdrawn")
  func owner() {
    let anybodys = RequestSample.transaction(user: nil)
    let cancelled = anybodys.ending(
      by: RequestSample.end(.cancelled, by: "c1"), of: RequestSample.container(), .beginsWait(Self.limits))
    #expect(cancelled.change == .ends(RequestSample.ended(.cancelled, by: "c1"), .beginsWait(Self.limits)))
    let withdrawn = anybodys.ending(by: RequestSample.end(.withdrawn), of: nil, .nothing)
    var ended = RequestSample.ended(.withdrawn)
    ended.user = nil
    #expect(withdrawn == TransactionEnding(.decided, .ends(ended, .nothing)))
  }

  @Test("only an acceptance is a grant")
  func grants() {
    for state in State.allCases {
      #expect(RequestSample.decision(state).isGrant == (state == .accepted), "\(state)")
    }
  }
}
