import SignetServerTesting
import SignetStorage
import Testing

/// The containers and UAF keys that can answer a request, and the answers that still count.
@Suite struct RequestAnsweringRulesTests {
  @Test("an active container can answer; a locked one only if denial alone is offered")
  func containers() {
    var question = TransactionRecord.rule()
    question.statuses = [.denied]
    let locked = ContainerRecord.rule("c", compliance: .locked)
    for (request, containers, canAnswer) in [
      (TransactionRecord.rule(), [], false),
      (TransactionRecord.rule(), [ContainerRecord.rule()], true),
      (TransactionRecord.rule(), [ContainerRecord.rule("c", .altered)], false),
      (TransactionRecord.rule(), [locked], false), (question, [locked], true),
      (TransactionRecord.rule(), [locked, ContainerRecord.rule("c2")], true),
    ] as [(TransactionRecord, [ContainerRecord], Bool)] {
      #expect(AnswerRules().canAnswer(request, by: containers) == canAnswer)
    }
  }

  @Test("a container must meet the requirement")
  func required() {
    var rules = AnswerRules()
    rules.container = { $1.id == "c2" }
    let containers = [ContainerRecord.rule("c"), ContainerRecord.rule("c2")]
    #expect(rules.canAnswer(TransactionRecord.rule(), by: containers))
    #expect(!rules.canAnswer(TransactionRecord.rule(), by: Array(containers.prefix(1))))
  }

  private static func key(_ name: UInt8, on device: String?) -> UAFCredentialRecord {
    var key = UAFCredentialRecord.rule(name)
    key.device = device
    return key
  }

  private static func target(on device: String?) -> UAFTargetRecord {
    UAFTargetRecord(
      id: "d", user: "alice", device: device, name: "d", dispatcher: nil, sealedTarget: nil,
      signatureKey: [1],
      encryptionKey: nil, created: 900)
  }

  @Test("a key answers the requester's operation if the requester may start one and the key is suitable")
  func byRequester() {
    var rules = AnswerRules()
    rules.key = { $2 == .byRequester && $1.keyID == [1] }
    let request = TransactionRecord.rule()
    let keys = [Self.key(1, on: nil), Self.key(2, on: nil)]
    #expect(UAFAnswering(request, by: keys, mayRequesterAsk: true, rules).isAnsweredByRequester)
    #expect(!UAFAnswering(request, by: [keys[1]], mayRequesterAsk: true, rules).isAnsweredByRequester)
    let asked = UAFAnswering(request, by: keys, mayRequesterAsk: false, rules)
    #expect(
      !asked.isAnsweredByRequester && !asked.isAbleAtTargets && !asked.canAnswer(at: Self.target(on: nil)))
  }

  @Test(
    "a key answers at a target on its device, or if either names no device",
    arguments: [
      ("a", "a", true), ("a", "b", false), (nil, "b", true), ("a", nil, true), (nil, nil, true),
    ] as [(String?, String?, Bool)])
  func atTargets(key: String?, target: String?, canAnswer: Bool) {
    var rules = AnswerRules()
    rules.key = { $2 == .byServer }
    let answering = UAFAnswering(
      TransactionRecord.rule(), by: [Self.key(1, on: key)], mayRequesterAsk: true, rules)
    #expect(!answering.isAnsweredByRequester)
    #expect(answering.canAnswer(at: Self.target(on: target)) == canAnswer)
  }

  @Test("a UAF-only request is answered by any key at any target, as the requester's operation")
  func alone() {
    var rules = AnswerRules()
    rules.key = { $2 == .byRequester }
    let request = TransactionRecord.rule(of: .uaf)
    let answering = UAFAnswering(request, by: [Self.key(1, on: "a")], mayRequesterAsk: false, rules)
    #expect(answering.isAbleAtTargets && answering.canAnswer(at: Self.target(on: "b")))
    #expect(!UAFAnswering(request, by: [], mayRequesterAsk: false, rules).canAnswer(at: Self.target(on: "b")))
  }

  @Test("an acceptance counts while an active, unlocked container of the same device exists")
  func proofs() {
    let signer = ContainerRecord.rule("c", .revoked)
    for (containers, isInUse) in [
      ([], false), ([ContainerRecord.rule("c2")], true),
      ([ContainerRecord.rule("c2", device: 8)], false),
      ([ContainerRecord.rule("c2", compliance: .locked)], false),
      ([ContainerRecord.rule("c2", .altered)], false),
    ] as [([ContainerRecord], Bool)] {
      #expect(signer.isProofInUse(among: containers) == isInUse)
    }
  }

  @Test(
    "an active container has targets up to the limit",
    arguments: [(0, true), (1, true), (2, false), (3, false)])
  func targets(count: Int64, hasRoom: Bool) {
    #expect(ContainerRecord.rule().hasRoomForTarget(beside: count, limit: 2) == hasRoom)
    #expect(!ContainerRecord.rule("c", .pending).hasRoomForTarget(beside: count, limit: 2))
  }
}
