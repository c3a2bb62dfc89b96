import SignetServerTesting
import SignetStorage
import Testing

/// The times in which UAF operations accept tokens and responses, and their ends.
@Suite struct UAFOperationRulesTests {
  @Test("a response is accepted after the request was sent, until the operation expires")
  func responses() {
    let end = UAFOperationEnd(status: 1200, time: 1050)
    let requested = UAFOperationRecord.rule(for: "t")
    var anybodys = requested
    anybodys.user = nil
    for operation in [requested, anybodys] {
      #expect(operation.refusal(ofResponseBy: "alice", at: 1099) == nil)
      for time in [1100, 1101] as [Int64] {
        #expect(operation.refusal(ofResponseBy: "alice", at: time) == .expired)
      }
    }
    #expect(requested.refusal(ofResponseBy: "bob", at: 1050) == .expired)
    #expect(
      UAFOperationRecord.rule("Auth", .tokenCreated).refusal(ofResponseBy: "alice", at: 1050) == .expired)
    #expect(requested.ended(.succeeded, end).refusal(ofResponseBy: "alice", at: 1050) == .expired)
    #expect(requested.failed(.keyUnknown, end).refusal(ofResponseBy: "alice", at: 1050) == .expired)
    #expect(
      requested.failed(.transactionEnded, end).refusal(ofResponseBy: "alice", at: 1050) == .transactionEnded)
  }

  @Test("a token is redeemed once, before it expires")
  func tokens() {
    var created = UAFOperationRecord.rule("Auth", .tokenCreated)
    created.sealedPayload = [9]
    let redeemed = created.redeemed(for: [1], at: 1099, until: 1219)
    #expect(redeemed?.state == .requested && redeemed?.request == [1] && redeemed?.expires == 1219)
    #expect(redeemed?.sealedPayload == nil)
    for time in [1100, 1101] as [Int64] { #expect(created.redeemed(for: [1], at: time, until: 1219) == nil) }
    #expect(redeemed?.redeemed(for: [2], at: 1099, until: 1219) == nil)
    created.tokenExpires = nil
    #expect(created.redeemed(for: [1], at: 1000, until: 1219) == nil)
  }

  @Test("a refused response leaves its status, and no keys")
  func failures() {
    let end = UAFOperationEnd(status: 1200, authenticators: "[{}]", time: 1050)
    let failed = UAFOperationRecord.rule().failed(.keyUnknown, end)
    #expect(failed.state == .failed)
    #expect(failed.end == UAFOperationEnd(status: 1481, authenticators: "[]", time: 1050))
    #expect(UAFOperationRecord.rule(for: "t").answerer == "alice")
    #expect(UAFOperationRecord.rule().answerer == nil)
  }

  /// An operation, and whether a revocation or a lock of d1's device, or the removal of d1, ends it.
  struct Interruption: Sendable {
    let operation: String
    var target: ID<UAFTargetRecord>?
    var isEndedByRevocation = false
    var isEndedByLock = false
    var isEndedByRemoval = false
  }

  @Test(
    "a suspension ends every operation; a revocation, a lock and a removal end those they concern",
    arguments: [
      Interruption(operation: "Auth"),
      Interruption(operation: "Auth", target: "d1", isEndedByRevocation: true, isEndedByRemoval: true),
      Interruption(operation: "Auth", target: "d2"),
      Interruption(operation: "Reg", isEndedByRevocation: true, isEndedByLock: true),
      Interruption(
        operation: "Reg", target: "d1", isEndedByRevocation: true, isEndedByLock: true,
        isEndedByRemoval: true),
      Interruption(operation: "Reg", target: "d2"), Interruption(operation: "Dereg"),
      Interruption(operation: "Dereg", target: "d1"),
    ])
  func interruptions(_ expected: Interruption) {
    let operation = UAFOperationRecord.rule(expected.operation, target: expected.target)
    #expect(operation.ends(by: .suspension))
    #expect(operation.ends(by: .revocation(targets: ["d1"])) == expected.isEndedByRevocation)
    #expect(operation.ends(by: .lock(targets: ["d1"])) == expected.isEndedByLock)
    #expect(operation.ends(by: .removal(target: "d1")) == expected.isEndedByRemoval)
  }
}
