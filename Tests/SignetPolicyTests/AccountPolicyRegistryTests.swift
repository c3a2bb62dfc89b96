import Dispatch
import SignetJSON
import SignetPolicy
import Synchronization
import Testing

@Suite("Policies of apps")
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

  private func set(_ names: String...) throws -> AccountPolicySet {
    var object = JSONObject()
    for name in names { object[name] = [:] }
    return try AccountPolicySet(object)
  }

  @Test("a policy of the app comes behind those that are built in, and sees its parameters")
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

  @Test("built-in policies stay unless they are replaced explicitly; nameless ones are refused")
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
      try set("biometricAvailable"), evidence)
    #expect(report.breaches.map(\.reason) == ["mine"])
    let none = try AccountPolicyRegistry(only: [])
    #expect(none.policies.isEmpty)
    #expect(try none.check(try set("screenLock")) == ["screenLock"])
    #expect(throws: AccountPolicyFailure.alreadyRegistered("a")) {
      try AccountPolicyRegistry(only: [
        OwnPolicy("a") { _ in .compliant }, OwnPolicy("a") { _ in .compliant },
      ])
    }
  }

  @Test("a policy that throws comes to no result, and what that means can be chosen")
  func throwing() async throws {
    var registry = AccountPolicyRegistry()
    try registry.register(OwnPolicy("a") { _ in throw Refusal() })
    try registry.register(OwnPolicy("b", whenIndeterminate: .lock) { _ in throw Refusal() })
    let report = await AccountPolicyEvaluator(registry: registry).evaluate(
      try set("a", "b"), AccountEvidence())
    #expect(report.indeterminate == ["a", "b"] && report.breaches.map(\.policy) == ["b"])
    #expect(report.breaches[0].reason == "the policy failed with Refusal")
    let other = await AccountPolicyEvaluator(registry: registry, reactions: ["a": .lock, "b": .keep])
      .evaluate(try set("a", "b"), AccountEvidence())
    #expect(other.breaches.map(\.policy) == ["a"])
  }

  @Test(
    "policies that hang, awaiting or blocking their thread, cost the time limit once and are not piled up")
  func hanging() async throws {
    let begun = Count()
    let gate = DispatchSemaphore(value: 0)
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
    let names = registry.policies.map(\.name).filter { $0.hasPrefix("waits") || $0.hasPrefix("blocks") }
    var object = JSONObject()
    for name in names { object[name] = [:] }
    let set = try AccountPolicySet(object)
    let evaluator = AccountPolicyEvaluator(registry: registry, timeLimit: .milliseconds(200))
    let begin = ContinuousClock.now
    let report = await evaluator.evaluate(set, AccountEvidence())
    #expect(ContinuousClock.now - begin < .seconds(10))
    #expect(Set(report.indeterminate) == Set(names))
    #expect(report.breaches.map(\.policy) == ["blocks0", "blocks1", "blocks2"])
    #expect(begun.value == 3)
    let again = await evaluator.evaluate(set, AccountEvidence())
    #expect(begun.value == 3)
    #expect(
      again.breaches.allSatisfy { $0.reason == "an earlier evaluation of the policy has not come back" })
    for _ in 0..<3 { gate.signal() }
    // What has come back is asked again.
    while true {
      let later = await evaluator.evaluate(try self.set("blocks0"), AccountEvidence())
      if begun.value > 3 { break }
      #expect(later.indeterminate == ["blocks0"])
      try await Task.sleep(for: .milliseconds(10))
    }
    gate.signal()
  }

  @Test("a policy that takes its time says the same to fifty that ask at once")
  func slowAtOnce() async throws {
    var registry = AccountPolicyRegistry()
    try registry.register(
      OwnPolicy("slow") { _ in
        try await Task.sleep(for: .milliseconds(20))
        return .breached(reason: "it is")
      })
    let evaluator = AccountPolicyEvaluator(registry: registry, timeLimit: .seconds(30))
    let set = try set("slow")
    await withTaskGroup(of: String?.self) { group in
      for _ in 0..<50 { group.addTask { await evaluator.evaluate(set, AccountEvidence()).lockingPolicy } }
      for await policy in group { #expect(policy == "slow") }
    }
  }

  @Test("fifty evaluations at once, of one evaluator, do not disturb each other")
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

/// How often something happened.
private final class Count: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }
}

extension DispatchSemaphore {
  /// Waits, as a policy does that does not know of Swift's concurrency.
  fileprivate func blockThread() { wait() }
}

@Suite("Sources of evidence")
struct AccountEvidenceSourceTests {
  private struct Source: AccountEvidenceSource {
    let name: String
    let find: @Sendable () async throws -> AccountEvidence
    func evidence() async throws -> AccountEvidence { try await find() }
  }

  private struct Refusal: Error {}

  @Test("a source that takes its time is heard by all who ask at once")
  func slowAtOnce() async {
    let collector = AccountEvidenceCollector(
      [
        Source(name: "slow") {
          try await Task.sleep(for: .milliseconds(20))
          var evidence = AccountEvidence()
          evidence.tamperScore = 1
          return evidence
        }
      ], timeLimit: .seconds(30))
    await withTaskGroup(of: Double?.self) { group in
      for _ in 0..<50 { group.addTask { await collector.evidence().tamperScore } }
      for await score in group { #expect(score == 1) }
    }
  }

  @Test("what sources know is put together; those that fail, hang or block know nothing")
  func merged() async {
    var (first, second) = (AccountEvidence(), AccountEvidence())
    (first.tamperScore, first.appVersion, first.flavour) = (0.1, "1.0", "debug")
    first.tamperFindings = [.init(category: "a", weight: 0.1, explanation: "b")]
    (second.tamperScore, second.screenLock) = (0.5, true)
    let gate = DispatchSemaphore(value: 0)
    let collector = AccountEvidenceCollector(
      [
        Source(name: "first") { [first] in first }, Source(name: "fails") { throw Refusal() },
        Source(name: "hangs") {
          try await Task.sleep(for: .seconds(3_600))
          return AccountEvidence()
        },
        Source(name: "blocks") {
          gate.blockThread()
          return AccountEvidence()
        }, Source(name: "second") { [second] in second },
      ], timeLimit: .milliseconds(200))
    let evidence = await collector.evidence()
    gate.signal()
    var expected = first
    (expected.tamperScore, expected.tamperFindings, expected.screenLock) = (0.5, [], true)
    #expect(evidence == expected)
  }
}
