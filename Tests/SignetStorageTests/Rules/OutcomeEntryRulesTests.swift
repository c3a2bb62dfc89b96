import SignetServerTesting
import SignetStorage
import Testing

/// The outcomes that enter the audit log, and those that do so without a limit.
@Suite struct OutcomeEntryRulesTests {
  private static let refusals: [DecisionOutcome] = [
    .decidedBefore, .cancelled, .expired, .unknown, .locked, .wrongNumber(remaining: 0), .waiting(seconds: 1),
    .containerLocked,
  ]

  @Test("a container's decisions are logged, its refusals with a limit, repetitions never")
  func decisions() {
    let limited = OutcomeEntry.limited(.container("c1"))
    for outcome in Self.refusals + [.notSigned] {
      #expect(outcome.entry(of: .container("c1")) == limited, "\(outcome)")
      #expect(outcome.entry(of: nil) == .always, "\(outcome) of a relying party")
    }
    for requester in [.container("c1"), nil] as [Storage.Requester?] {
      #expect(DecisionOutcome.decided.entry(of: requester) == .always)
      #expect(DecisionOutcome.repeated.entry(of: requester) == nil)
      #expect(DecisionOutcome.tooMany(seconds: 1).entry(of: requester) == nil)
    }
  }

  @Test("each wrong answer by digits is logged and counts as a refused code; other refusals do not count")
  func digits() {
    let claimant = Storage.Requester.claimant(user: "alice")
    #expect(DecisionOutcome.notSigned.entry(ofDigitsBy: claimant) == .always)
    #expect(DecisionOutcome.decided.entry(ofDigitsBy: claimant) == .always)
    #expect(DecisionOutcome.repeated.entry(ofDigitsBy: claimant) == nil)
    #expect(DecisionOutcome.notSigned.asCode == .refused)
    #expect(DecisionOutcome.decided.asCode == .accepted)
    for outcome in Self.refusals {
      #expect(outcome.entry(ofDigitsBy: claimant) == .limited(claimant), "\(outcome)")
      #expect(outcome.asCode == nil, "\(outcome)")
    }
  }

  @Test("log entries of refused requests are limited per user; requests without a user have no limit")
  func admissions() {
    #expect(AdmissionOutcome.added.entry(to: "alice") == .always)
    for outcome in [.tooManyPending(retryAfter: 1), .coolingDown(retryAfter: 1), .noAuthenticator]
      as [AdmissionOutcome]
    {
      #expect(outcome.entry(to: "alice") == .limited(.claimant(user: "alice")), "\(outcome)")
      #expect(outcome.entry(to: nil) == .always, "\(outcome)")
    }
  }
}
