import SignetIntegrity
import SignetJSON
import Testing

@Suite(.timeLimit(.minutes(10))) struct ScoringTests {
  private let light = Finding("test.light", .hook, weight: 0.3)
  private let heavy = Finding("test.heavy", .debugger, weight: 0.7)

  private struct Fixed: Guard {
    let name: String
    var found: [Evidence] = []
    func examine() -> [Evidence] { found }
  }

  @Test("a configuration without guards or with a duplicate name is an error")
  func configuration() throws {
    #expect(throws: IntegrityFailure.noGuards) { try Integrity(guards: []) }
    #expect(throws: IntegrityFailure.duplicateGuard("same")) {
      try Integrity(guards: [Fixed(name: "same"), Fixed(name: "same")])
    }
    for threshold in [0, -1, 1.01, .nan, .infinity] {
      #expect(throws: IntegrityFailure.self) {
        try Integrity(guards: [Fixed(name: "one")], settings: .init(threshold: threshold, reaction: .report))
      }
    }
    #expect(throws: IntegrityFailure.weightOutOfRange(name: "hook", 2)) {
      try Integrity(guards: [Fixed(name: "one")], settings: .init(reaction: .report, weights: ["hook": 2]))
    }
    #expect(throws: IntegrityFailure.self) {
      try Integrity(guards: [Fixed(name: "one")], settings: .init(reaction: .report, weights: ["hook": .nan]))
    }
  }

  @Test("the maximum is the heaviest finding; the sum counts each finding once, up to 1")
  func scores() {
    let evidence = [Evidence(light, "a"), Evidence(light, "b"), Evidence(heavy, "c")]
    #expect(Scoring.maximum.score(evidence) == 0.7)
    #expect(Scoring.weightedSum.score(Array(evidence.prefix(2))) == 0.3)
    #expect(Scoring.weightedSum.score(evidence) == 1)
    #expect(Scoring.maximum.score([]) == 0 && Scoring.weightedSum.score([]) == 0)
    #expect(Finding("x", .hook, weight: 7).weight == 1 && Finding("x", .hook, weight: -.infinity).weight == 0)
    #expect(Finding("x", .hook, weight: .nan).weight == 1)
  }

  @Test("weights are set by finding and by category; the finding's has precedence")
  func weights() async throws {
    let guards = [
      Fixed(name: "one", found: [Evidence(light, "a")]), Fixed(name: "two", found: [Evidence(heavy, "b")]),
    ]
    func score(_ weights: [String: Double], _ scoring: Scoring = .maximum) async throws -> Double {
      let settings = IntegritySettings(scoring: scoring, reaction: .report, weights: weights)
      return try await Integrity(guards: guards, settings: settings).evaluate().score
    }
    #expect(try await score([:]) == 0.7)
    #expect(try await score(["debugger": 0]) == 0.3)
    #expect(try await score(["debugger": 0, "test.heavy": 0.9]) == 0.9)
    #expect(try await score(["hook": 0.2], .weightedSum) == 0.7 + 0.2)
  }

  @Test("a report has text and JSON, and its text cannot control a terminal")
  func report() async throws {
    let loud = Evidence(
      heavy, "a thread is called \u{1b}[2Jx\n\u{202e}\u{ad}\u{e0041}" + String(repeating: "y", count: 400))
    #expect(loud.explanation.hasPrefix("a thread is called ?[2Jx????y"))
    #expect(loud.explanation.count == Evidence.explanationLimit)
    let report = try await Integrity(
      guards: [Fixed(name: "one", found: [loud, Evidence(light, "b")])], flavour: .release
    ).evaluate()
    #expect(!report.isTampered && report.threshold == 0.8 && report.reaction == .refuse)
    #expect(report.guards == ["one"] && report.evidence.count == 2)
    let json = try JSONObject(parsing: report.json.bytes)
    #expect(try json.string("flavour") == "release" && json.number("score") == 0.7)
    #expect(try json.bool("tampered") == false && json.string("reaction") == "refuse")
    guard case .object(let first) = try #require(try json.array("evidence").first) else {
      Issue.record("evidence is no object")
      return
    }
    #expect(try first.string("finding") == "test.heavy" && first.string("category") == "debugger")
    #expect(try first.number("weight") == 0.7 && first.string("explanation") == loud.explanation)
    #expect("\(Evidence(light, "b"))" == "test.light (0.3): b")
  }

  @Test("the flavours differ: a debug program has fewer guards and reports, a release refuses")
  func flavours() throws {
    let (debug, release) = (try Integrity(flavour: .debug), try Integrity(flavour: .release))
    #expect(debug.settings.reaction == .report && release.settings.reaction == .refuse)
    #expect(Set(debug.guardNames).isStrictSubset(of: release.guardNames))
    #if os(Linux)
      for name in ["debugger", "instrumentation", "hooks", "root", "emulator", "binary"] {
        #expect(!debug.guardNames.contains(name) && release.guardNames.contains(name), "\(name)")
      }
    #endif
    // The compiler determines the build's flavor.
    #if DEBUG
      #expect(Flavour.current == .debug)
    #else
      #expect(Flavour.current == .release)
    #endif
  }
}
