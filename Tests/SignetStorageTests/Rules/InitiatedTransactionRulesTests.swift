import SignetServerTesting
import SignetStorage
import Testing

/// Texts that a user's devices may sign unasked.
@Suite struct InitiatedTransactionRulesTests {
  private static func initiated(
    by container: ContainerID = "c", _ content: String = "Pay", size: Int = 0
  ) -> TransactionRecord {
    var transaction = TransactionRecord(
      id: "t", user: "alice", content: content + String(repeating: "x", count: size), created: 10_000,
      expires: 10_300, state: .accepted,
      decision: DecisionRecord(state: .accepted, jws: nil, container: container, time: 10_000))
    transaction.isInitiatedByDevice = true
    return transaction
  }

  @Test("unasked signatures of a locked container are refused")
  func locked() {
    #expect(ContainerRecord.rule().refusalToInitiate == nil)
    #expect(ContainerRecord.rule("c", compliance: .locked).refusalToInitiate == .containerLocked)
  }

  @Test("only the same content by the same container counts as a repetition")
  func repeated() {
    let again = Self.initiated()
    #expect(again.outcome(after: Self.initiated()) == .repeated)
    #expect(again.outcome(after: Self.initiated(by: "c2")) == .decidedBefore)
    #expect(again.outcome(after: Self.initiated("Pay more")) == .decidedBefore)
    var asked = Self.initiated()
    asked.isInitiatedByDevice = false
    #expect(again.outcome(after: asked) == .decidedBefore)
  }

  // Three within an hour.
  @Test(
    "transactions are accepted below the limit of their number in the window",
    arguments: [
      ([], nil), ([9_999, 9_998], nil), ([9_999, 9_998, 9_997], 3_597), ([9_999, 9_998, 6_401], 1),
      ([9_999, 9_998, 6_400], nil),
      // After the clock was set back, the wait is no longer than the window.
      ([20_000, 20_000, 20_000], 3_600),
      // The limit was lowered since.
      ([9_999, 9_998, 9_997, 9_996], 3_597),
    ] as [([Int64], Int64?)])
  func counts(_ times: [Int64], seconds: Int64?) {
    let refusal = TransactionLimits.rule.refusal(
      of: Self.initiated(), after: times.map { (created: $0, size: 1) })
    #expect(refusal == seconds.map { .tooMany(seconds: $0) })
  }

  @Test(
    "transactions are accepted up to the limit of their size",
    arguments: [
      (32_764, 1, nil), (32_765, 1, 3_599), (32_764, 2, 3_599), (16_000, 16_765, nil),
      (16_000, 16_766, 3_599),
    ]
      as [(Int64, Int, Int64?)])
  func bytes(before: Int64, size: Int, seconds: Int64?) {
    let refusal = TransactionLimits.rule.refusal(
      of: Self.initiated(size: size), after: [(created: 9_999, size: before)])
    #expect(refusal == seconds.map { .tooMany(seconds: $0) })
  }

  @Test(
    "times and sizes of altered rows are bounded",
    arguments: [
      ([(.max, 1), (.max, .max), (.max, .max)], 3_600), ([(9_999, .max), (9_998, .max)], 3_599),
      ([(9_999, .min), (9_998, .min)], nil), ([(.min, .max), (.min, .min)], nil),
      ([(9_999, .min), (9_998, 32_764)], nil), ([(9_999, .min), (9_998, 32_766)], 3_598),
    ] as [([(Int64, Int64)], Int64?)])
  func bounds(_ last: [(Int64, Int64)], seconds: Int64?) {
    let refusal = TransactionLimits.rule.refusal(
      of: Self.initiated(), after: last.map { (created: $0.0, size: $0.1) })
    #expect(refusal == seconds.map { .tooMany(seconds: $0) })
  }
}
