import SignetStorage
import Testing

/// Digits that were carried from a device.
@Suite struct CarriedDigitsRulesTests {
  @Test("digits are taken of a container in use with fewer refused codes than the limit")
  func takes() {
    for (credential, isTaken) in [
      (RequestSample.credential(), true), (RequestSample.credential(failures: 2), true),
      (RequestSample.credential(failures: 3), false), (RequestSample.credential(failures: 4), false),
      (RequestSample.credential(user: "bob"), false), (RequestSample.credential(user: nil), false),
      // A token makes codes, and no answers.
      (RequestSample.credential(serial: "s"), false), (RequestSample.credential(.pending), false),
      (RequestSample.credential(.disabled), false),
    ] {
      #expect(credential.takesDigits(of: "alice", attempts: 3) == isTaken, "\(credential)")
    }
  }

  private static func ending(
    of found: TransactionRecord = RequestSample.transaction(),
    by holder: ContainerRecord? = RequestSample.container(), at time: Int64 = 1100,
    _ judgement: DecisionOutcome? = nil
  ) -> TransactionEnding {
    let attempt = AnswerAttempt(container: "c1", isTyped: true, time: time)
    return found.ending(by: attempt, of: holder, lastReport: 1050) { _, _, lastReport in
      lastReport == 1050 ? judgement : .unknown
    }
  }

  @Test("digits accept what waits, with the report that was there, and end the row of requests")
  func accepts() {
    var accepted = RequestSample.transaction(.accepted)
    accepted.decision = DecisionRecord(
      state: .accepted, jws: nil, container: "c1", time: 1100, isTyped: true, lastReport: 1050)
    #expect(Self.ending() == TransactionEnding(.decided, .ends(accepted, .endsRow)))
  }

  @Test("digits that are not enough are refused, unless the transaction has ended")
  func judges() {
    let refusal = DecisionOutcome.mismatch(reason: "two are required")
    #expect(Self.ending(refusal) == TransactionEnding(refusal))
    #expect(Self.ending(at: 1300, refusal) == TransactionEnding(.expired, .expires))
    #expect(Self.ending(of: RequestSample.decided(.denied), refusal) == TransactionEnding(.decidedBefore))
  }

  @Test("digits of no container, or of one that is not in use or another user's, decide nothing")
  func holders() {
    for holder in [
      nil, RequestSample.container("c1", .pending), RequestSample.container("c1", .revoked),
      RequestSample.container("c1", user: "bob"),
    ] {
      #expect(Self.ending(by: holder) == TransactionEnding(.unknown), "\(String(describing: holder?.state))")
    }
  }
}
