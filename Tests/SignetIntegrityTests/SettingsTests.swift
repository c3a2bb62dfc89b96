import SignetJSON
import Testing

import SignetIntegrity

/// External settings: parsed strictly, and able only to harden unless they are the author's.
@Suite struct SettingsTests {
  private let standard = IntegritySettings.standard(for: .release)

  private func read(_ text: String) throws -> IntegritySettings {
    try IntegritySettings(JSONObject(parsing: Array(text.utf8)), over: standard)
  }

  @Test("written members apply, omitted ones keep defaults, and settings round-trip")
  func reads() throws {
    #expect(try read("{}") == standard)
    let settings = try read(
      #"{"scoring":"weighted-sum","threshold":0.7,"reaction":"wipe-session","weights":{"emulator":0.9,"hook.call":0}}"#
    )
    #expect(settings.scoring == .weightedSum && settings.threshold == 0.7)
    #expect(settings.reaction == .wipeSession && settings.weights == ["emulator": 0.9, "hook.call": 0])
    #expect(try IntegritySettings(settings.json, over: standard) == settings)
    #expect(try read(#"{"threshold":1}"#).threshold == 1)
    let own = try IntegritySettings(
      ["weights": ["mouse.moved": 0.4]], over: standard, findings: ["mouse.moved"])
    #expect(own.weights == ["mouse.moved": 0.4])
  }

  @Test(
    "invalid settings are refused, and the member is named",
    arguments: [
      (#"{"scorng":"maximum"}"#, #""scorng" is not known; there are scoring, threshold, reaction, weights"#),
      (#"{"scoring":"sum"}"#, #""scoring" must be one of "maximum", "weighted-sum""#),
      (#"{"scoring":1}"#, #""scoring" must be one of "#),
      (#"{"reaction":"explode"}"#, #""reaction" must be one of "report""#),
      (#"{"threshold":0}"#, #""threshold" is a number above 0 and up to 1"#),
      (#"{"threshold":"1"}"#, #""threshold" is"#), (#"{"threshold":1.5}"#, #""threshold" is"#),
      (#"{"weights":[]}"#, #""weights" is an object"#),
      (#"{"weights":{"hok":1}}"#, #""weights" has "hok", which is neither a finding nor a category"#),
      (#"{"weights":{"hook":2}}"#, #""hook" in "weights" is a number from 0 to 1"#),
      (#"{"weights":{"hook":-0.1}}"#, #""hook" in "weights" is"#),
      (#"{"weights":{"hook":"1"}}"#, #""hook" in "weights" is"#),
    ])
  func refuses(_ text: String, _ message: String) {
    do {
      _ = try read(text)
      Issue.record("taken: \(text)")
    } catch { #expect("\(error)".contains(message), "\(error)") }
  }

  @Test("tightening settings never lower a score and never loosen threshold or reaction")
  func hardens() throws {
    let texts = [
      "{}", #"{"threshold":0.3}"#, #"{"threshold":1,"reaction":"report"}"#, #"{"scoring":"weighted-sum"}"#,
      #"{"weights":{"hook":0,"debugger":0.1,"emulator":1}}"#,
      #"{"weights":{"hook.call":0.2,"guardFailure":0.9}}"#,
      #"{"reaction":"terminate","weights":{"library.unexpected":0,"library":0.85}}"#,
    ]
    let own = Finding("own.finding", .hook, weight: 0.95)
    for first in texts {
      for second in texts {
        let (base, others) = (try read(first), try read(second))
        let hardened = base.hardened(by: others)
        #expect(hardened.threshold == min(base.threshold, others.threshold))
        #expect(hardened.reaction == max(base.reaction, others.reaction))
        for finding in Finding.standard + [own] {
          #expect(hardened.weight(of: finding) >= base.weight(of: finding), "\(finding): \(first), \(second)")
          if others.weights[finding.name] != nil {
            #expect(hardened.weight(of: finding) >= others.weight(of: finding), "\(finding)")
          }
        }
        #expect(hardened.hardened(by: base) == hardened.hardened(by: base).hardened(by: base))
        let evidence = Finding.standard.prefix(3).map { Evidence($0, "x") }
        #expect(
          hardened.scoring.score(evidence.map(hardened.weighed))
            >= base.scoring.score(evidence.map(base.weighed)))
      }
    }
  }

  @Test("each finding is listed once, and each category has a finding")
  func standardFindings() {
    #expect(Set(Finding.standard.map(\.name)).count == Finding.standard.count)
    #expect(Set(Finding.standard.map(\.category)) == Set(EvidenceCategory.allCases))
  }

  @Test("a device's report is scored by category: by maximum, or by a sum with each category once")
  func reported() {
    let found = [("debugger", 0.3), ("hook", 0.4), ("hook", 0.2), ("emulator", 0.0), ("strange", 0.1)]
      .map { (category: $0.0, weight: $0.1) }
    var settings = IntegritySettings(reaction: .report)
    #expect(settings.score(ofReported: found) == 0.4)
    settings.scoring = .weightedSum
    #expect(abs(settings.score(ofReported: found) - 0.8) < 1e-9)
    settings.weights = ["emulator": 0.9, "hook": 0]
    #expect(settings.score(ofReported: found) == 1)
    settings.scoring = .maximum
    #expect(settings.score(ofReported: found) == 0.9)
    #expect(settings.score(ofReported: []) == 0)
    #expect(settings.score(ofReported: [("x", .nan)]) == 1)
  }
}
