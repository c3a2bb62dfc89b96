import SignetJSON
import SignetPolicy
import Testing

@Suite("Account policies")
struct AccountPolicyTests {
  private func policies(_ text: String) throws -> AccountPolicySet {
    try AccountPolicySet(parsing: Array(text.utf8))
  }

  private static let facts: [(name: String, policies: String, evidence: String, breached: [String])] = [
    ("no policies", "{}", #"{"tamperScore":1}"#, []),
    ("biometrics are there", #"{"biometricAvailable":{}}"#, #"{"biometricAvailable":true}"#, []),
    (
      "biometrics are not there", #"{"biometricAvailable":{}}"#, #"{"biometricAvailable":false}"#,
      ["biometricAvailable"]
    ),
    ("nobody knows of biometrics", #"{"biometricAvailable":null}"#, "{}", []),
    ("below the threshold", #"{"deviceTampering":{"score":0.8}}"#, #"{"tamperScore":0.79}"#, []),
    ("the threshold", #"{"deviceTampering":{"score":0.8}}"#, #"{"tamperScore":0.8}"#, ["deviceTampering"]),
    ("a whole threshold", #"{"deviceTampering":{"score":1}}"#, #"{"tamperScore":1}"#, ["deviceTampering"]),
    ("the standard threshold", #"{"deviceTampering":{}}"#, #"{"tamperScore":0.8}"#, ["deviceTampering"]),
    ("below it", #"{"deviceTampering":{}}"#, #"{"tamperScore":0.7}"#, []),
    ("no score locks", #"{"deviceTampering":{"score":0.8}}"#, "{}", ["deviceTampering"]),
    ("a score that is none locks", #"{"deviceTampering":{}}"#, #"{"tamperScore":-1}"#, ["deviceTampering"]),
    ("the same version", #"{"appIsUpToDate":{"minimumVersion":"2.10"}}"#, #"{"appVersion":"2.10.0"}"#, []),
    (
      "an older version", #"{"appIsUpToDate":{"minimumVersion":"2.10"}}"#, #"{"appVersion":"2.9.9"}"#,
      ["appIsUpToDate"]
    ),
    (
      "a version before", #"{"appIsUpToDate":{"minimumVersion":"2.10"}}"#, #"{"appVersion":"2.10-beta1"}"#,
      ["appIsUpToDate"]
    ),
    ("no version", #"{"appIsUpToDate":{"minimumVersion":"2.10"}}"#, #"{"appVersion":"new"}"#, []),
    (
      "a system in range", #"{"osVersion":{"linux":{"minimum":"6.1","maximum":"6.12"}}}"#,
      #"{"osName":"linux","osVersion":"6.12"}"#, []
    ),
    (
      "a system below", #"{"osVersion":{"linux":{"minimum":"6.1"}}}"#,
      #"{"osName":"linux","osVersion":"5.15.9"}"#, ["osVersion"]
    ),
    (
      "a system above", #"{"osVersion":{"ios":{"minimum":"1"},"linux":{"maximum":"6.1"}}}"#,
      #"{"osName":"linux","osVersion":"6.1.1"}"#, ["osVersion"]
    ),
    ("another system", #"{"osVersion":{"ios":{"minimum":"17"}}}"#, #"{"osName":"linux"}"#, []),
    ("a passcode", #"{"screenLock":{}}"#, #"{"screenLock":true}"#, []),
    ("no passcode", #"{"screenLock":{}}"#, #"{"screenLock":false}"#, ["screenLock"]),
    ("hardware", #"{"hardwareKeystore":{}}"#, #"{"hardwareKeystore":true}"#, []),
    ("files", #"{"hardwareKeystore":{}}"#, #"{"hardwareKeystore":false}"#, ["hardwareKeystore"]),
    (
      "hardware that is a program", #"{"hardwareKeystore":{}}"#,
      #"{"hardwareKeystore":true,"isKeystoreSimulated":true}"#, ["hardwareKeystore"]
    ),
    (
      "which may be allowed", #"{"hardwareKeystore":{"simulated":true}}"#,
      #"{"hardwareKeystore":true,"isKeystoreSimulated":true}"#, []
    ),
    ("used", #"{"inactivity":{"days":1}}"#, #"{"secondsSinceUse":86400}"#, []),
    ("not used", #"{"inactivity":{"days":1}}"#, #"{"secondsSinceUse":86401}"#, ["inactivity"]),
    ("a clock set back", #"{"inactivity":{"days":1}}"#, #"{"secondsSinceUse":0,"clockSetBack":true}"#, []),
    ("reached", #"{"offlinePeriod":{"hours":2}}"#, #"{"secondsSinceContact":7200}"#, []),
    ("not reached", #"{"offlinePeriod":{"hours":2}}"#, #"{"secondsSinceContact":7201}"#, ["offlinePeriod"]),
    (
      "a clock set back hides it", #"{"offlinePeriod":{"hours":2}}"#,
      #"{"secondsSinceContact":0,"clockSetBack":true}"#, ["offlinePeriod"]
    ),
    (
      "all that are broken, in the order of registration",
      #"{"screenLock":{},"deviceTampering":{"score":0.5},"biometricAvailable":{}}"#,
      #"{"biometricAvailable":false,"tamperScore":0.5,"screenLock":false}"#,
      ["biometricAvailable", "deviceTampering", "screenLock"]
    ),
  ]

  @Test("each built-in policy", arguments: facts.indices)
  func builtIn(_ index: Int) async throws {
    let fact = Self.facts[index]
    let evidence = try AccountEvidence(try JSONObject(parsing: Array(fact.evidence.utf8)))
    let set = try policies(fact.policies)
    let evaluator = AccountPolicyEvaluator()
    let report = await evaluator.evaluate(set, evidence)
    #expect(report.breaches.map(\.policy) == fact.breached, "\(fact.name)")
    #expect(report.lockingPolicy == fact.breached.first)
    #expect(report.isCompliant == fact.breached.isEmpty)
    #expect(report.results.count == set.names.count)
    #expect(report.breaches.allSatisfy { !$0.reason.isEmpty && !$0.evidence.isEmpty })
    #expect(evaluator.evaluateAtOnce(set, evidence) == report)
  }

  @Test(
    "policies that are malformed are refused",
    arguments: [
      "", "[]", "5", #"{"a":{}"#, #"{"a":{},"a":{}}"#, #"{"":{}}"#, #"{"a b":{}}"#, "{\"a\u{7}\":{}}",
      #"{"ä":{}}"#, #"{"\#(String(repeating: "n", count: 65))":{}}"#,
      #"{"a":[[[[[[[[[1]]]]]]]]]}"#, #"{"a":"\#(String(repeating: "x", count: 4_090))"}"#,
      "{" + (0..<33).map { #""p\#($0)":{}"# }.joined(separator: ",") + "}",
    ])
  func malformed(_ text: String) {
    #expect(throws: AccountPolicyFailure.self) { try policies(text) }
  }

  @Test(
    "invalid policy parameters are refused at enrolment, and give no result later",
    arguments: [
      #"{"deviceTampering":{"score":0}}"#, #"{"deviceTampering":{"score":1.01}}"#,
      #"{"deviceTampering":{"score":-0.5}}"#, #"{"deviceTampering":{"score":"0.8"}}"#,
      #"{"deviceTampering":0.8}"#, #"{"biometricAvailable":[]}"#, #"{"screenLock":"yes"}"#,
      #"{"appIsUpToDate":{}}"#, #"{"appIsUpToDate":{"minimumVersion":2}}"#,
      #"{"appIsUpToDate":{"minimumVersion":"2..1"}}"#, #"{"osVersion":{}}"#, #"{"osVersion":{"linux":"6"}}"#,
      #"{"osVersion":{"linux":{}}}"#, #"{"osVersion":{"linux":{"minimum":"7","maximum":"6"}}}"#,
      #"{"hardwareKeystore":{"simulated":1}}"#, #"{"inactivity":{"days":0}}"#, #"{"inactivity":{"days":91}}"#,
      #"{"inactivity":{"days":1.5}}"#, #"{"inactivity":{}}"#, #"{"offlinePeriod":{"hours":8761}}"#,
      #"{"offlinePeriod":{}}"#,
    ])
  func parameters(_ text: String) async throws {
    let set = try policies(text)
    let failure = #expect(throws: AccountPolicyFailure.self) { try AccountPolicyRegistry().check(set) }
    guard case .invalidParameter(let policy, _, let reason) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(policy == set.names[0] && !reason.isEmpty)
    var evidence = AccountEvidence()
    (evidence.osName, evidence.osVersion) = ("linux", "6.1")
    let report = await AccountPolicyEvaluator().evaluate(set, evidence)
    // An empty list of systems restricts none.
    if text != #"{"osVersion":{}}"# { #expect(report.indeterminate == [policy]) }
  }

  @Test(
    "an unknown system name is refused",
    arguments: ["Linux", "", "my os", "línux"])
  func systems(_ name: String) throws {
    let set = try AccountPolicySet(["osVersion": .object([name: ["minimum": "6"]])])
    #expect(throws: AccountPolicyFailure.self) { try AccountPolicyRegistry().check(set) }
  }

  @Test("unknown policy names are reported and not evaluated")
  func unknown() async throws {
    let set = try policies(#"{"geofence":{"radius":5},"biometricAvailable":{}}"#)
    #expect(try AccountPolicyRegistry().check(set) == ["geofence"])
    let report = await AccountPolicyEvaluator().evaluate(set, AccountEvidence())
    #expect(report.unknown == ["geofence"] && report.results.map(\.policy) == ["biometricAvailable"])
  }

  @Test("a breach has sanitised text of bounded size")
  func bounded() {
    let breach = AccountPolicyBreach(
      policy: "p", reason: "a\u{1B}[2J\u{202E}\n\u{AD}\u{E0041}" + String(repeating: "x", count: 1_000),
      evidence: ["big": .string(String(repeating: "y", count: 4_096))])
    #expect(breach.reason.hasPrefix("a [2J    x") && breach.reason.unicodeScalars.count == 400)
    #expect(breach.evidence == ["omitted": true])
  }

  @Test(
    "a score that is not a number is unknown, and tampering locks",
    arguments: [
      Double.nan, .infinity, -.infinity, .signalingNaN,
    ])
  func noNumber(_ value: Double) async throws {
    var evidence = AccountEvidence()
    evidence.tamperScore = value
    evidence.tamperFindings = [.init(category: "debugger", weight: value, explanation: "found")]
    #expect(!evidence.json.contains("tamperScore"))
    #expect(try AccountEvidence(JSONObject(parsing: evidence.json.bytes)).tamperFindings.map(\.weight) == [1])
    let set = try policies(#"{"deviceTampering":{}}"#)
    let report = await AccountPolicyEvaluator().evaluate(set, evidence)
    #expect(report.indeterminate == ["deviceTampering"] && report.lockingPolicy == "deviceTampering")
    evidence.tamperScore = 1
    let found = await AccountPolicyEvaluator().evaluate(set, evidence)
    #expect(found.breaches.first?.evidence["tamperScore"] == .number(1))
    let own = AccountPolicyBreach(policy: "own", reason: "r", evidence: ["a": [["b": .number(value)]]])
    #expect(own.evidence == ["omitted": true])
  }

  @Test("evidence survives a round trip")
  func evidence() throws {
    var evidence = AccountEvidence()
    (evidence.biometricAvailable, evidence.tamperScore, evidence.screenLock) = (true, 0.25, false)
    (evidence.appVersion, evidence.osName, evidence.osVersion) = ("1.2", "linux", "6.1")
    (evidence.hardwareKeystore, evidence.isKeystoreSimulated) = (true, false)
    (evidence.secondsSinceUse, evidence.secondsSinceContact, evidence.clockSetBack) = (5, 6, true)
    evidence.flavour = "release"
    evidence.tamperFindings = [
      .init(category: "debugger", weight: 0.5, explanation: "a debugger is attached")
    ]
    #expect(try AccountEvidence(JSONObject(parsing: evidence.json.bytes)) == evidence)
    #expect(AccountEvidence().json.isEmpty)
    evidence.tamperFindings = Array(repeating: evidence.tamperFindings[0], count: 40)
    #expect(try evidence.json.array("tamperFindings").count == 16)
  }

  @Test(
    "versions",
    arguments: [
      ("1", "1.0.0", false), ("1.2", "1.10", true), ("1.10", "1.2", false), ("2-rc1", "2", true),
      ("2", "2-rc1", false), ("2+5", "2+7", false), ("1.9.9.9", "2", true), ("0", "0.0", false),
    ])
  func versions(_ left: String, _ right: String, isLess: Bool) throws {
    let (a, b) = (try #require(SoftwareVersion(left)), try #require(SoftwareVersion(right)))
    #expect((a < b) == isLess)
    #expect((a == b) == !(a < b || b < a))
  }

  @Test(
    "invalid versions are refused",
    arguments: ["", ".", "1.", ".1", "v1", "1 ", "1.x", "1234567890", "1.2.3.4.5.6.7.8.9", "-1", "١"])
  func noVersions(_ text: String) { #expect(SoftwareVersion(text) == nil) }
}
