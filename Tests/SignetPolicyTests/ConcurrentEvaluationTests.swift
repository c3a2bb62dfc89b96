import Dispatch
import SignetJSON
import SignetPolicy
import SignetTestKit
import Testing

/// Concurrent evaluations give the same results as single ones.
@Suite("Concurrent policy evaluations", .timeLimit(.minutes(10))) struct ConcurrentEvaluationTests {
  private static let count = 12

  /// A barrier that releases all once all have arrived.
  private struct Meeting: Sendable {
    private let missing = DispatchGroup()

    init(of count: Int) { for _ in 0..<count { missing.enter() } }

    func arrive() {
      missing.leave()
      missing.wait()
    }
  }

  private struct MeetingPolicy: AccountPolicy {
    let name = "meeting"
    let whenIndeterminate = IndeterminateReaction.lock
    let meeting: Meeting

    func evaluate(
      _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
    ) async throws -> AccountPolicyVerdict {
      meeting.arrive()
      return .breached(reason: "met", evidence: ["number": parameters.value])
    }
  }

  private struct MeetingSource: AccountEvidenceSource {
    let name = "meeting"
    let meeting: Meeting

    func evidence() async throws -> AccountEvidence {
      meeting.arrive()
      var evidence = AccountEvidence()
      evidence.tamperScore = 0.25
      return evidence
    }
  }

  @Test("a slow app policy decides for each account evaluated concurrently")
  func policies() async throws {
    var registry = AccountPolicyRegistry()
    try registry.register(MeetingPolicy(meeting: Meeting(of: Self.count)))
    let evaluator = AccountPolicyEvaluator(registry: registry, clock: VirtualTimer())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.count {
        let set = try AccountPolicySet(["meeting": .integer(Int64(number))])
        group.addTask {
          let breaches = await evaluator.evaluate(set, AccountEvidence()).breaches
          #expect(breaches.map(\.reason) == ["met"])
          #expect(breaches.first?.evidence == ["number": .integer(Int64(number))])
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("concurrent callers all get the result of a running measurement")
  func evidence() async {
    let collector = AccountEvidenceCollector(
      [MeetingSource(meeting: Meeting(of: Self.count))], clock: VirtualTimer())
    await withTaskGroup(of: Double?.self) { group in
      for _ in 0..<Self.count { group.addTask { await collector.evidence().tamperScore } }
      for await score in group { #expect(score == 0.25) }
    }
  }
}
