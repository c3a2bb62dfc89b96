import Dispatch
import SignetJSON
import SignetPolicy
import SignetTestKit
import Synchronization
import Testing

@Suite("Policies of apps", .timeLimit(.minutes(10)))
struct AccountPolicyRegistryTests {
  private struct OwnPolicy: AccountPolicy {
    let name: String
    var whenIndeterminate = IndeterminateReaction.keep
    let decide: @Sendable (AccountPolicyParameters) async throws -> AccountPolicyVerdict

    init(
      _ name: String, whenIndeterminate: IndeterminateReaction = .keep,
      decide: @escaping @Sendable (AccountPolicyParameters) async throws -> AccountPolicyVerdict
    ) {
      (self.name, self.whenIndeterminate, self.decide) = (name, whenIndeterminate, decide)
    }

    func evaluate(
      _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
    ) async throws -> AccountPolicyVerdict { try await decide(parameters) }
  }

  private struct Refusal: Error {}

  private func set(_ names: [String]) throws -> AccountPolicySet {
    var object = JSONObject()
    for name in names { object[name] = [:] }
    return try AccountPolicySet(object)
  }

  @Test("an app's policy is evaluated after the built-in ones, with its parameters")
  func own() async throws {
    var registry = AccountPolicyRegistry()
    try registry.register(
      OwnPolicy("region") { parameters in
        .breached(reason: "not there", evidence: ["wanted": parameters.value])
      })
    let set = try AccountPolicySet(["region": "ch", "screenLock": [:]])
    var evidence = AccountEvidence()
    evidence.screenLock = false
    let report = await AccountPolicyEvaluator(registry: registry).evaluate(set, evidence)
    #expect(report.breaches.map(\.policy) == ["screenLock", "region"])
    #expect(report.breaches[1].evidence == ["wanted": "ch"])
    #expect(report.unknown.isEmpty)
  }

  @Test("built-in policies are replaced only explicitly; nameless ones are refused")
  func registration() async throws {
    var registry = AccountPolicyRegistry()
    let own = OwnPolicy("biometricAvailable") { _ in .breached(reason: "mine") }
    #expect(throws: AccountPolicyFailure.alreadyRegistered("biometricAvailable")) {
      try registry.register(own)
    }
    #expect(throws: AccountPolicyFailure.invalidName("")) {
      try registry.register(OwnPolicy("") { _ in .compliant })
    }
    #expect(throws: AccountPolicyFailure.notRegistered("mine")) {
      try registry.replace(with: OwnPolicy("mine") { _ in .compliant })
    }
    #expect(registry.policies.count == AccountPolicyRegistry.builtIn.count)
    try registry.replace(with: own)
    #expect(registry.policies.map(\.name) == AccountPolicyRegistry.builtIn.map(\.name))
    var evidence = AccountEvidence()
    evidence.biometricAvailable = true
    let report = await AccountPolicyEvaluator(registry: registry).evaluate(
      try set(["biometricAvailable"]), evidence)
    #expect(report.breaches.map(\.reason) == ["mine"])
    let none = try AccountPolicyRegistry(only: [])
    #expect(none.policies.isEmpty)
    #expect(try none.check(try set(["screenLock"])) == ["screenLock"])
    #expect(throws: AccountPolicyFailure.alreadyRegistered("a")) {
      try AccountPolicyRegistry(only: [
        OwnPolicy("a") { _ in .compliant }, OwnPolicy("a") { _ in .compliant },
      ])
    }
  }

  @Test("a policy that throws has no result, and its consequence is configurable")
  func throwing() async throws {
    var registry = AccountPolicyRegistry()
    try registry.register(OwnPolicy("a") { _ in throw Refusal() })
    try registry.register(OwnPolicy("b", whenIndeterminate: .lock) { _ in throw Refusal() })
    let report = await AccountPolicyEvaluator(registry: registry).evaluate(
      try set(["a", "b"]), AccountEvidence())
    #expect(report.indeterminate == ["a", "b"] && report.breaches.map(\.policy) == ["b"])
    #expect(report.breaches[0].reason == "the policy failed with Refusal")
    let other = await AccountPolicyEvaluator(registry: registry, reactions: ["a": .lock, "b": .keep])
      .evaluate(try set(["a", "b"]), AccountEvidence())
    #expect(other.breaches.map(\.policy) == ["a"])
  }

  @Test(
    "policies that hang or block cost the time limit once and are not started again")
  func hanging() async throws {
    let begun = Count()
    let gate = DispatchSemaphore(value: 0)
    let timer = VirtualTimer()
    var registry = AccountPolicyRegistry()
    for index in 0..<3 {
      try registry.register(
        OwnPolicy("waits\(index)") { _ in
          try await Task.sleep(for: .seconds(3_600))
          return .compliant
        })
      try registry.register(
        OwnPolicy("blocks\(index)", whenIndeterminate: .lock) { _ in
          begun.add()
          gate.blockThread()
          return .compliant
        })
    }
    let evaluator = AccountPolicyEvaluator(registry: registry, timeLimit: .milliseconds(200), clock: timer)
    let (waiting, blocking) = (["waits0", "waits1", "waits2"], ["blocks0", "blocks1", "blocks2"])
    let all = try set(waiting + blocking)
    async let first = evaluator.evaluate(all, AccountEvidence())
    try await begun.reach(3)
    #expect(await timer.untilSomeoneSleeps() == .milliseconds(200))
    timer.advance(by: .milliseconds(200))
    let report = await first
    #expect(Set(report.indeterminate) == Set(waiting + blocking))
    #expect(report.breaches.map(\.policy) == blocking)
    // The time does not advance: no policy is waited for.
    let again = await evaluator.evaluate(try set(blocking), AccountEvidence())
    #expect(begun.value == 3)
    #expect(again.breaches.map(\.policy) == blocking)
    #expect(
      again.breaches.allSatisfy { $0.reason == "an earlier evaluation of the policy has not finished" })
    // A policy that has returned is asked again.
    for _ in 0..<4 { gate.signal() }
    while await evaluator.evaluate(try set(["blocks0"]), AccountEvidence()).indeterminate == ["blocks0"] {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(begun.value == 4)
  }

  @Test("an evaluation has two seconds unless an app says otherwise")
  func standardTimeLimit() async throws {
    let timer = VirtualTimer()
    var registry = AccountPolicyRegistry()
    try registry.register(
      OwnPolicy("waits") { _ in
        try await Task.sleep(for: .seconds(3_600))
        return .compliant
      })
    let evaluator = AccountPolicyEvaluator(registry: registry, clock: timer)
    let policies = try set(["waits"])
    async let report = evaluator.evaluate(policies, AccountEvidence())
    #expect(await timer.untilSomeoneSleeps() == .seconds(2))
    timer.advance(by: .seconds(2))
    #expect(await report.indeterminate == ["waits"])
  }

  @Test("fifty concurrent callers get the same result of a slow policy")
  func slowAtOnce() async throws {
    let begun = Count()
    var registry = AccountPolicyRegistry()
    try registry.register(
      OwnPolicy("slow") { _ in
        begun.add()
        try await begun.reach(50)
        return .breached(reason: "it is")
      })
    let evaluator = AccountPolicyEvaluator(registry: registry, clock: VirtualTimer())
    let set = try set(["slow"])
    await withTaskGroup(of: String?.self) { group in
      for _ in 0..<50 { group.addTask { await evaluator.evaluate(set, AccountEvidence()).lockingPolicy } }
      for await policy in group { #expect(policy == "slow") }
    }
  }

  @Test("fifty concurrent evaluations of one evaluator are independent")
  func concurrent() async throws {
    let evaluator = AccountPolicyEvaluator()
    let set = try AccountPolicySet(["deviceTampering": ["score": 0.5]])
    await withTaskGroup(of: Bool.self) { group in
      for index in 0..<50 {
        group.addTask {
          var evidence = AccountEvidence()
          evidence.tamperScore = Double(index) / 50
          let report = await evaluator.evaluate(set, evidence)
          return report.isCompliant == (index < 25)
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}

/// The number of occurrences of an event.
private final class Count: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }

  /// Waits until the event has occurred a number of times.
  func reach(_ count: Int) async throws {
    while value < count { try await Task.sleep(for: .milliseconds(1)) }
  }
}

extension DispatchSemaphore {
  /// Blocks the thread, like a policy without Swift concurrency.
  fileprivate func blockThread() { wait() }
}

@Suite("Sources of evidence", .timeLimit(.minutes(10)))
struct AccountEvidenceSourceTests {
  private struct Source: AccountEvidenceSource {
    let name: String
    let find: @Sendable () async throws -> AccountEvidence
    func evidence() async throws -> AccountEvidence { try await find() }
  }

  private struct Refusal: Error {}

  @Test("concurrent callers all get the evidence of a slow source")
  func slowAtOnce() async throws {
    let begun = Count()
    let collector = AccountEvidenceCollector(
      [
        Source(name: "slow") {
          begun.add()
          try await begun.reach(50)
          var evidence = AccountEvidence()
          evidence.tamperScore = 1
          return evidence
        }
      ], clock: VirtualTimer())
    await withTaskGroup(of: Double?.self) { group in
      for _ in 0..<50 { group.addTask { await collector.evidence().tamperScore } }
      for await score in group { #expect(score == 1) }
    }
  }

  @Test("sources have ten seconds unless an app says otherwise")
  func standardTimeLimit() async {
    let timer = VirtualTimer()
    let collector = AccountEvidenceCollector(
      [
        Source(name: "hangs") {
          try await Task.sleep(for: .seconds(3_600))
          return AccountEvidence()
        }
      ], clock: timer)
    async let evidence = collector.evidence()
    #expect(await timer.untilSomeoneSleeps() == .seconds(10))
    timer.advance(by: .seconds(10))
    #expect(await evidence == AccountEvidence())
  }

  @Test("evidence of all sources is merged; sources that fail, hang or block give none")
  func merged() async throws {
    var (first, second, late) = (AccountEvidence(), AccountEvidence(), AccountEvidence())
    (first.tamperScore, first.appVersion, first.flavour) = (0.1, "1.0", "debug")
    first.tamperFindings = [.init(category: "a", weight: 0.1, explanation: "b")]
    (second.tamperScore, second.screenLock) = (0.5, true)
    late.osVersion = "late"
    let (begun, timer) = (Count(), VirtualTimer())
    let stuck = Mutex<CheckedContinuation<Void, Never>?>(nil)
    let gate = DispatchSemaphore(value: 0)
    let collector = AccountEvidenceCollector(
      [
        Source(name: "first") { [first] in first }, Source(name: "fails") { throw Refusal() },
        Source(name: "hangs") { [late] in
          begun.add()
          await withCheckedContinuation { continuation in stuck.withLock { $0 = continuation } }
          return late
        },
        Source(name: "blocks") { [late] in
          begun.add()
          gate.blockThread()
          return late
        }, Source(name: "second") { [second] in second },
      ], timeLimit: .milliseconds(200), clock: timer)
    async let inTime = collector.evidence()
    try await begun.reach(2)
    #expect(await timer.untilSomeoneSleeps() == .milliseconds(200))
    timer.advance(by: .milliseconds(200))
    #expect(await inTime.osVersion == nil)
    var expected = first
    (expected.tamperScore, expected.tamperFindings, expected.screenLock) = (0.5, [], true)
    // From now on the two are not waited for. The others may have been late too, that once.
    while await collector.evidence() != expected { try await Task.sleep(for: .milliseconds(1)) }
    #expect(begun.value == 2)
    gate.signal()
    stuck.withLock { $0.take() }?.resume()
  }
}
