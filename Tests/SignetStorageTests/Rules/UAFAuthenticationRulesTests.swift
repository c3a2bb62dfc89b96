import SignetServerTesting
import SignetStorage
import Testing

/// The outcomes of responses to UAF authentications.
@Suite struct UAFAuthenticationRulesTests {
  private static func response(
    of session: UAFOperationRecord = UAFOperationRecord.rule(),
    deciding transaction: TransactionRecord? = nil,
    by keys: [UAFCredentialRecord] = [UAFCredentialRecord.rule()],
    uses: [CounterUpdate] = [CounterUpdate.rule(counter: 0)],
    at time: Int64 = 1050,
    check: ([UAFCredentialRecord], TransactionRecord?) -> UAFOutcome? = { _, _ in nil }
  ) -> UAFAuthenticationResult {
    UAFAuthenticationResult(
      of: session, deciding: transaction, by: keys, of: "alice",
      UAFOperationEnd(status: 1200, authenticators: "[{}]", time: time), uses: uses,
      evidence: EvidenceRecord(bytes: [7]), check: check)
  }

  @Test("an accepted response ends the operation and accepts its transaction, also one without a user")
  func taken() {
    var anybodys = UAFOperationRecord.rule()
    anybodys.user = nil
    let login = Self.response(of: anybodys)
    #expect(login.outcome == .accepted && login.change == nil && !login.clearsBudget)
    #expect(login.session.state == .succeeded && login.session.user == "alice")
    #expect(login.session.end == UAFOperationEnd(status: 1200, authenticators: "[{}]", time: 1050))
    #expect(Self.response(of: UAFOperationRecord.rule(by: "key:k")).clearsBudget)
    for user in ["alice", nil] as [UserID?] {
      var accepted = TransactionRecord.rule(user: user)
      (accepted.user, accepted.state) = ("alice", .accepted)
      (accepted.uaf, accepted.evidence) = (
        UAFAcceptance(session: "s1", time: 1299), EvidenceRecord(bytes: [7])
      )
      // The end of the transaction clears the count once, whether or not the operation has counted itself.
      for requester in [nil, "key:k"] {
        let answer = Self.response(
          of: UAFOperationRecord.rule(for: "t", by: requester), deciding: TransactionRecord.rule(user: user),
          at: 1299)
        #expect(answer.outcome == .accepted && answer.change == .ends(accepted, .endsRow))
        #expect(!answer.clearsBudget)
      }
    }
  }

  @Test("responses for an ended transaction, another user's or another kind are refused")
  func transactions() {
    var (withdrawn, marked, apps) = (
      TransactionRecord.rule(), TransactionRecord.rule(), TransactionRecord.rule()
    )
    (withdrawn.state, marked.state, apps.soleKind) = (.withdrawn, .expired, .pushApp)
    let cases: [(TransactionRecord?, Int64, TransactionEnding.Change?)] = [
      (nil, 1050, nil), (withdrawn, 1050, nil), (marked, 1050, nil), (apps, 1050, nil),
      (TransactionRecord.rule(user: "bob"), 1050, nil), (TransactionRecord.rule(), 1300, .expires),
      (TransactionRecord.rule(), 1301, .expires), (marked, 1300, nil),
    ]
    for (transaction, time, change) in cases {
      let answer = Self.response(
        of: UAFOperationRecord.rule(for: "t", by: "key:k"), deciding: transaction,
        by: [UAFCredentialRecord.rule(counter: 5)], uses: [CounterUpdate.rule(counter: 6)], at: time)
      #expect(answer.outcome == .transactionEnded && answer.change == change)
      #expect(answer.keys == [] && !answer.clearsBudget)
      #expect(answer.session.hasEndedWithTransaction && answer.session.end?.authenticators == "[]")
    }
  }

  @Test(
    "a counter grows, or both are 0",
    arguments: [
      (0, 0, true), (0, 1, true), (5, 6, true), (5, .max, true), (5, 5, false), (5, 4, false), (5, 0, false),
      (1, 0, false), (.max, .max, false),
    ] as [(UInt32, UInt32, Bool)])
  func counters(_ stored: UInt32, _ signed: UInt32, _ isRight: Bool) {
    let login = Self.response(
      by: [UAFCredentialRecord.rule(counter: stored)], uses: [CounterUpdate.rule(counter: signed)])
    #expect(
      login.outcome == (isRight ? .accepted : .clonedAuthenticator(CounterUpdate.rule(counter: signed))))
    let changed =
      isRight
      ? UAFCredentialRecord.rule(counter: signed, usedAt: 1050)
      : UAFCredentialRecord.rule(counter: stored, .quarantined)
    #expect(login.keys == (stored == 0 && signed == 0 ? [] : [changed]))
    #expect(login.session.state == (isRight ? .succeeded : .failed))
  }

  @Test("keys that are inactive or another user's are refused before the requirement is checked")
  func keys() {
    let altered = CounterUpdate.rule(1, counter: 6)
    let cases: [(UAFCredentialRecord?, UAFOutcome)] = [
      (nil, .keyUnknown), (UAFCredentialRecord.rule(counter: 5, .quarantined), .keyUnknown),
      (UAFCredentialRecord.rule(counter: 5, .revoked), .keyUnknown),
      (UAFCredentialRecord.rule(counter: 5, .active, of: "bob"), .keyUnknown),
      (UAFCredentialRecord.rule(counter: 5, .altered), .altered(altered)),
    ]
    for (key, outcome) in cases {
      let login = Self.response(by: [key].compactMap(\.self), uses: [altered]) { _, _ in .tooMany }
      #expect(login.outcome == outcome && login.keys == [])
    }
  }

  @Test("the first refusal is the outcome, and the counters of the other keys are stored")
  func several() {
    let keys = [
      UAFCredentialRecord.rule(1, counter: 5), UAFCredentialRecord.rule(2, counter: 5),
      UAFCredentialRecord.rule(3, counter: 5),
    ]
    let login = Self.response(
      by: keys,
      uses: [
        CounterUpdate.rule(1, counter: 6), CounterUpdate.rule(2, counter: 4),
        CounterUpdate.rule(3, counter: 0),
        CounterUpdate.rule(4, counter: 9),
      ])
    #expect(login.outcome == .clonedAuthenticator(CounterUpdate.rule(2, counter: 4)))
    #expect(
      login.keys == [
        UAFCredentialRecord.rule(1, counter: 6, usedAt: 1050),
        UAFCredentialRecord.rule(2, counter: 5, .quarantined),
        UAFCredentialRecord.rule(3, counter: 5, .quarantined),
      ])
    // A key that is used twice in a response counts twice.
    let twice = Self.response(
      by: [keys[0], keys[0]], uses: [CounterUpdate.rule(1, counter: 6), CounterUpdate.rule(1, counter: 6)])
    #expect(twice.outcome == .clonedAuthenticator(CounterUpdate.rule(1, counter: 6)))
    #expect(twice.keys == [UAFCredentialRecord.rule(1, counter: 6, .quarantined, usedAt: 1050)])
  }

  @Test("the service's requirement is checked before any counter changes")
  func judged() {
    let (key, transaction) = (UAFCredentialRecord.rule(counter: 5), TransactionRecord.rule())
    let refusal = UAFOutcome.requirementNotMet(reason: "no")
    let login = Self.response(
      of: UAFOperationRecord.rule(for: "t"), deciding: transaction, by: [key],
      uses: [CounterUpdate.rule(counter: 6)]
    ) { keys, shown in keys == [key] && shown == transaction ? refusal : nil }
    #expect(login.outcome == refusal && login.keys == [] && login.change == nil)
    #expect(login.session.end?.status == 1492)
  }

  @Test("only outcomes that changed something may leave a request unanswered")
  func unanswered() {
    let use = CounterUpdate.rule(counter: 1)
    for outcome in [UAFOutcome.accepted, .expired, .transactionEnded] { #expect(!outcome.mayLeaveUnanswered) }
    for outcome in [
      UAFOutcome.keyUnknown, .clonedAuthenticator(use), .altered(use), .requirementNotMet(reason: ""),
      .keyExists,
      .tooMany,
    ] { #expect(outcome.mayLeaveUnanswered) }
  }
}
