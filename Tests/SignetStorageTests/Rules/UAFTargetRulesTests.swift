import SignetStorage
import Testing

/// The limit of targets of UAF tokens, the limit of an unauthenticated client's operations, and changes of a target.
@Suite struct UAFTargetRulesTests {
  @Test(
    "targets per user and operations per unknown client are limited",
    arguments: [(0, true), (1, true), (2, false), (3, false)])
  func limits(count: Int64, hasRoom: Bool) {
    #expect(UAFTargetRecord.hasRoom(beside: count, limit: 2) == hasRoom)
    #expect(UAFOperationRecord.hasRoom(beside: count, limit: 2) == hasRoom)
  }

  @Test("a client's operations count as recent for the lifetime of the new one")
  func recent() {
    #expect(UAFOperationRecord.rule().recentAfter == 900)
  }

  @Test(
    "a change that only removes the address grants nothing",
    arguments: [
      (UAFTargetChange(sealedTarget: []), true), (UAFTargetChange(sealedTarget: [1]), false),
      (UAFTargetChange(name: "x", sealedTarget: []), false),
      (UAFTargetChange(dispatcher: "x", sealedTarget: []), false), (UAFTargetChange(name: "x"), false),
      (UAFTargetChange(), false),
    ])
  func takesAway(_ change: UAFTargetChange, only: Bool) {
    #expect(change.onlyRemovesAddress == only)
  }

  @Test("a change keeps, replaces or removes the address")
  func addresses() {
    for present in [nil, [9]] as [[UInt8]?] {
      #expect(UAFTargetChange(name: "x").address(after: present) == present)
      #expect(UAFTargetChange(sealedTarget: [1]).address(after: present) == [1])
      #expect(UAFTargetChange(sealedTarget: []).address(after: present) == nil)
    }
  }
}
