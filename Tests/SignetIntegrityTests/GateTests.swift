import SignetIntegrity
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct GateTests {
  private struct Fixed: Guard {
    let name = "fixed"
    let weight: Double
    func examine() -> [Evidence] {
      [Evidence(Finding("test.fixed", .hook, weight: weight), "something is hooked")]
    }
  }

  private final class Recorder: IntegrityResponder {
    private let calls = Mutex<[String]>([])
    var all: [String] { calls.withLock { $0 } }
    func lock(because report: IntegrityReport) async { calls.withLock { $0.append("lock") } }
    func wipeSession(because report: IntegrityReport) async { calls.withLock { $0.append("wipe") } }
  }

  @Test(
    "each reaction has its documented effect, and all but report refuse",
    arguments: [
      (Reaction.report, [String](), true), (.refuse, [], false), (.lock, ["lock"], false),
      (.wipeSession, ["wipe"], false),
    ])
  func reactions(_ reaction: Reaction, _ calls: [String], _ admitted: Bool) async throws {
    let recorder = Recorder()
    let settings = IntegritySettings(threshold: 0.5, reaction: reaction)
    let gate = IntegrityGate(
      try Integrity(guards: [Fixed(weight: 0.5)], settings: settings), responder: recorder)
    do throws(IntegrityFailure) {
      let report = try await gate.admit()
      #expect(admitted && report.isTampered)
    } catch {
      #expect(!admitted)
      guard case .tampered(let report) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(report.score == 0.5 && report.reaction == reaction)
      #expect(
        error.description
          == "this program is being tampered with: something is hooked; remove the cause, and try again (tamper score 0.5 of 1)"
      )
    }
    #expect(recorder.all == calls)
    // Nothing follows below the threshold.
    let quiet = Recorder()
    let passed = try await IntegrityGate(
      Integrity(guards: [Fixed(weight: 0.49)], settings: settings), responder: quiet
    ).admit()
    #expect(!passed.isTampered && quiet.all.isEmpty)
  }

  @Test("termination prints the reason and is no crash")
  func terminates() async throws {
    let result = await #expect(processExitsWith: .exitCode(77), observing: [\.standardErrorContent]) {
      let settings = IntegritySettings(threshold: 0.5, reaction: .terminate)
      try await IntegrityGate(Integrity(guards: [Fixed(weight: 1)], settings: settings)).admit()
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      message.contains("This program terminates: this program is being tampered with: something is hooked"),
      "\(message)")
  }

  @Test("a reaction from the environment tightens the settings and never loosens them")
  func tightened() {
    for own in Reaction.allCases {
      for other in Reaction.allCases {
        let settings = IntegritySettings(threshold: 0.7, reaction: own, weights: ["hook": 0.1]).hardened(
          to: other)
        #expect(settings.reaction == max(own, other))
        #expect(settings.threshold == 0.7 && settings.weights == ["hook": 0.1])
      }
    }
  }

  @Test("reactions are ordered from the mildest to the strictest")
  func order() {
    #expect(Reaction.allCases == Reaction.allCases.sorted())
    #expect(Reaction.allCases == [.report, .refuse, .lock, .wipeSession, .terminate])
  }

  @Test("locking is stricter than refusing, so a release can be set to lock")
  func locksMoreThanItRefuses() {
    #expect(IntegritySettings.standard(for: .release).hardened(to: .lock).reaction == .lock)
    #expect(IntegritySettings(reaction: .lock).hardened(to: .refuse).reaction == .lock)
  }
}
