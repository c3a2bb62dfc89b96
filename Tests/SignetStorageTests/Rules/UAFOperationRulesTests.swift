import SignetServerTesting
import SignetStorage
import Testing

/// The times in which UAF operations accept tokens and responses, and their ends.
@Suite struct UAFOperationRulesTests {
  @Test("a response is taken of an operation whose request was sent, until its time is over")
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
      requested.failed(.transactionOver, end).refusal(ofResponseBy: "alice", at: 1050) == .transactionOver)
  }

  @Test("a token is redeemed once, until its time is over")
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

  @Test(
    "what befalls a user, a device or a target ends what may concern it",
    arguments: [
      // A kind, its target, and whether a suspension, a revocation and a lock of d1's device, and the removal of d1 end it.
      ("Auth", nil, true, false, false, false), ("Auth", "d1", true, true, false, true),
      ("Auth", "d2", true, false, false, false), ("Reg", nil, true, true, true, false),
      ("Reg", "d1", true, true, true, true), ("Reg", "d2", true, false, false, false),
      ("Dereg", nil, true, false, false, false), ("Dereg", "d1", true, false, false, false),
    ] as [(String, ID<UAFTargetRecord>?, Bool, Bool, Bool, Bool)])
  func interruptions(
    _ kind: String, _ target: ID<UAFTargetRecord>?, _ suspension: Bool, _ revocation: Bool, _ lock: Bool,
    _ removal: Bool
  ) {
    let operation = UAFOperationRecord.rule(kind, target: target)
    #expect(operation.ends(by: .suspension) == suspension)
    #expect(operation.ends(by: .revocation(targets: ["d1"])) == revocation)
    #expect(operation.ends(by: .lock(targets: ["d1"])) == lock)
    #expect(operation.ends(by: .removal(target: "d1")) == removal)
  }
}
