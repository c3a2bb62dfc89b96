import SignetServerTesting
import SignetStorage
import Testing

/// Digits that were carried from a device.
@Suite struct CarriedDigitsRulesTests {
  @Test("digits are accepted from an active container below the limit of refused codes")
  func takes() {
    for (credential, isTaken) in [
      (CredentialRecord.rule(), true), (CredentialRecord.rule(failures: 2), true),
      (CredentialRecord.rule(failures: 3), false), (CredentialRecord.rule(failures: 4), false),
      (CredentialRecord.rule(user: "bob"), false), (CredentialRecord.rule(user: nil), false),
      // A token makes codes, but no answers.
      (CredentialRecord.rule(serial: "s"), false), (CredentialRecord.rule(.pending), false),
      (CredentialRecord.rule(.disabled), false),
    ] {
      #expect(credential.acceptsDigits(of: "alice", attempts: 3) == isTaken, "\(credential)")
    }
  }

  private static func ending(
    of found: TransactionRecord = TransactionRecord.rule(),
    by holder: ContainerRecord? = ContainerRecord.rule(), at time: Int64 = 1100,
    _ judgement: DecisionOutcome? = nil
  ) -> TransactionEnding {
    let attempt = AnswerAttempt(container: "c", isTyped: true, time: time)
    return found.ending(by: attempt, of: holder, lastReport: 1050) { _, _, lastReport in
      lastReport == 1050 ? judgement : .unknown
    }
  }

  @Test("digits accept a pending transaction with its earlier report, and reset the request budget")
  func accepts() {
    var accepted = TransactionRecord.rule(.accepted)
    accepted.decision = DecisionRecord(
      state: .accepted, jws: nil, container: "c", time: 1100, isTyped: true, lastReport: 1050)
    #expect(Self.ending() == TransactionEnding(.decided, .ends(accepted, .endsRow)))
  }

  @Test("insufficient digits are refused, unless the transaction has ended")
  func judges() {
    let refusal = DecisionOutcome.mismatch(reason: "two are required")
    #expect(Self.ending(refusal) == TransactionEnding(refusal))
    #expect(Self.ending(at: 1300, refusal) == TransactionEnding(.expired, .expires))
    #expect(
      Self.ending(of: TransactionRecord.rule(decided: .denied), refusal) == TransactionEnding(.decidedBefore))
  }

  @Test("digits of a missing, inactive or another user's container decide nothing")
  func holders() {
    for holder in [
      nil, ContainerRecord.rule("c", .pending), ContainerRecord.rule("c", .revoked),
      ContainerRecord.rule("c", user: "bob"),
    ] {
      #expect(Self.ending(by: holder) == TransactionEnding(.unknown), "\(String(describing: holder?.state))")
    }
  }
}
