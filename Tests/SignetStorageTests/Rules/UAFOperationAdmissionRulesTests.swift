import SignetServerTesting
import SignetStorage
import Testing

/// The UAF operations that may begin, and those that ask their users once more.
@Suite struct UAFOperationAdmissionRulesTests {
  private static func operation(
    _ kind: String = "Auth", for transaction: TransactionID? = nil, target: ID<UAFTargetRecord>? = "d1",
    by requester: String? = nil,
    at time: Int64 = 1000
  ) -> UAFOperationRecord {
    var operation = UAFOperationRecord(
      id: "s1", operation: kind, user: "alice", created: time, expires: time + 100, state: .tokenCreated)
    (operation.transaction, operation.target, operation.requester) = (transaction, target, requester)
    return operation
  }

  @Test("no operation begins for an ended transaction", arguments: TransactionRecord.State.allCases)
  func ended(_ state: TransactionRecord.State) {
    func admission(at time: Int64) -> UAFOperationAdmission {
      let operation = Self.operation(for: "t", target: nil, at: time)
      return UAFOperationAdmission(of: operation, answering: TransactionRecord.rule(state), wasSent: false)
    }
    let waiting = UAFOperationAdmission.admissible(Self.operation(for: "t", target: nil, at: 1299))
    #expect(admission(at: 1299) == (state == .pending ? waiting : .transactionEnded(nil)))
    for time in [1300, 1301] as [Int64] {
      #expect(admission(at: time) == .transactionEnded(state == .pending ? .expires : nil))
    }
  }

  @Test("an operation that reaches a device counts, unless its transaction does")
  func counted() {
    func requester(
      of operation: UAFOperationRecord, _ transaction: TransactionRecord? = nil, wasSent: Bool = false
    ) -> String? {
      guard
        case .admissible(let admitted) = UAFOperationAdmission(
          of: operation, answering: transaction, wasSent: wasSent)
      else { return "not admitted" }
      return admitted.requester
    }
    let (own, others, anybodys) = (
      TransactionRecord.rule(), TransactionRecord.rule(user: "bob"), TransactionRecord.rule(user: nil)
    )
    #expect(requester(of: Self.operation(by: "key:k1")) == "key:k1")
    #expect(requester(of: Self.operation()) == "")
    #expect(requester(of: Self.operation("Reg", by: "key:k1")) == "key:k1")
    #expect(requester(of: Self.operation("Dereg", by: "key:k1")) == nil)
    #expect(requester(of: Self.operation(target: nil, by: "key:k1")) == nil)
    var nobodys = Self.operation(by: "key:k1")
    nobodys.user = nil
    #expect(requester(of: nobodys) == nil)
    let answer = Self.operation(for: "t", by: "key:k1")
    #expect(requester(of: answer, own) == nil)
    #expect(requester(of: answer, own, wasSent: true) == "key:k1")
    #expect(requester(of: answer, others) == "key:k1")
    #expect(requester(of: answer, anybodys) == "key:k1")
    // The insertion reports that there is no such transaction.
    #expect(requester(of: answer) == "key:k1")
  }
}
