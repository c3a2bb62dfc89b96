import SignetServerTesting
import SignetStorage
import Testing

/// The outcome of an authenticator app's answer.
@Suite struct PushAppAnswerRulesTests {
  private static let evidence = EvidenceRecord(bytes: [5], sealedKey: [6])

  private static func answer(
    to message: PushAuthMessageRecord = PushAuthMessageRecord.rule(),
    asking request: TransactionRecord = TransactionRecord.rule(), at time: Int64 = 1100
  ) -> PushAppAnswer {
    PushAppAnswer(to: message, asking: request, evidence: evidence, at: time)
  }

  /// The transaction as the app ends it.
  private static func ended(
    _ state: TransactionRecord.State, because reason: String? = nil
  ) -> TransactionRecord {
    var ended = TransactionRecord.rule(state)
    ended.app = AppAnswer(mechanism: "m", message: "p", time: 1100)
    ended.evidence = evidence
    ended.end = reason.map { EndRecord(state: state, reason: $0, container: nil, time: 1100) }
    return ended
  }

  private static func answered(
    _ state: PushAuthMessageRecord.State
  ) -> PushAuthMessageRecord {
    var answered = PushAuthMessageRecord.rule(state)
    (answered.answered, answered.sealedToken) = (1100, nil)
    return answered
  }

  @Test("an approval resets the request budget, a denial does not; both are stored")
  func answers() {
    let yes = Self.answer().ruling(on: .approved { _ in true })
    #expect(yes.outcome == .accepted && yes.message == Self.answered(.approved))
    #expect(yes.change == .ends(Self.ended(.accepted), .endsRow))
    let no = Self.answer().ruling(on: .denied())
    #expect(no.outcome == .accepted && no.message == Self.answered(.denied))
    #expect(no.change == .ends(Self.ended(.denied), .nothing))
  }

  @Test("an approval that does not meet the requirement changes nothing")
  func insufficient() {
    let ruling = Self.answer().ruling(on: .approved { $0.id != "t" })
    #expect(ruling.outcome == .insufficient && ruling.message == nil && ruling.change == nil)
  }

  @Test("an ended message accepts no answer and no number; an expiry is recorded")
  func over() {
    for (answer, isOver, change) in [
      (Self.answer(at: 1199), false, nil), (Self.answer(at: 1200), true, nil),
      (Self.answer(at: 1300), true, .expires),
      (Self.answer(to: PushAuthMessageRecord.rule(.denied)), true, nil),
      (Self.answer(to: PushAuthMessageRecord.rule(.expired), at: 1300), true, .expires),
      (Self.answer(asking: TransactionRecord.rule(.expired)), true, nil),
      (Self.answer(asking: TransactionRecord.rule(decided: .denied)), true, nil),
      (Self.answer(asking: TransactionRecord.rule(ended: .withdrawn)), true, nil),
      (Self.answer(asking: TransactionRecord.rule(of: .pushApp)), false, nil),
      // An app that is not asked can neither answer the transaction nor expire it.
      (Self.answer(asking: TransactionRecord.rule(of: .uaf)), true, nil),
      (Self.answer(asking: TransactionRecord.rule(of: .uaf), at: 1300), true, nil),
    ] as [(PushAppAnswer, Bool, TransactionEnding.Change?)] {
      let ruling = answer.ruling(on: .approved { _ in true })
      let number = answer.ruling(on: .denied(because: EndRecord.wrongNumber))
      #expect((ruling.outcome == .ended) == isOver, "\(answer)")
      #expect((number.outcome == .ended) == isOver, "\(answer)")
      guard isOver else { continue }
      #expect(ruling.message == nil && ruling.change == change, "\(answer)")
      #expect(number.message == nil && number.change == change, "\(answer)")
    }
  }

  @Test("a wrong number denies and is reported as such") func wrongNumber() {
    let ruling = Self.answer().ruling(on: .denied(because: EndRecord.wrongNumber))
    #expect(ruling.outcome == .accepted && ruling.message == Self.answered(.denied))
    #expect(ruling.change == .ends(Self.ended(.denied, because: "wrongNumber"), .nothing))
  }
}
