import Foundation
import SignetDataDirectory
import SignetJSON
import SignetStorage
import SignetTestKit
import Synchronization
import Testing

import SignetServer

/// The settings about devices in `server.json`, up to the evaluation of reports.
@Suite("Reactions and flavours in server.json")
struct FolderAccountRuleTests: DataDirectorySuite {
  let parent: TemporaryFolder

  init() throws { parent = try TemporaryFolder() }

  private func rewrite(_ devices: JSONObject) throws {
    var object = try JSONObject(parsing: Array(Data(contentsOf: URL(filePath: "\(path)/server.json"))))
    object["devices"] = .object(devices)
    try write("server.json", object.text)
  }

  @Test("configured reactions and flavours evaluate reports and survive a round trip")
  func reachesTheRules() async throws {
    let made = try await makeFolder()
    #expect(made.settings.accountRules == AccountRules())
    try rewrite([
      "keystore": "hardware", "flavours": ["release", "beta"],
      "reactions": [
        "screenLock": "stepUp", "deviceTampering": "wipe", "geofence": "allow", "osVersion": "lock",
      ],
    ])
    var rules = AccountRules()
    rules.reactions = [
      "screenLock": .stepUp, "deviceTampering": .wipe, "geofence": .allow, "osVersion": .lock,
    ]
    rules.flavours = ["release", "beta"]
    let folder = try DataDirectory(opening: path)
    #expect(folder.settings.accountRules == rules && folder.settings.keystoreRequirement == .hardware)
    let context = try folder.serviceContext(log: .silent)
    #expect(context.settings.accountRules == rules)
    let other = try TemporaryFolder()
    let again = try await DataDirectory.create(at: other.path + "/server", folder.settings)
    #expect(try DataDirectory(opening: other.path + "/server").settings.accountRules == rules)
    #expect(again.settings.accountRules == rules)
    await context.storage.close()
  }

  @Test("an unevaluated policy or parameter of one is accepted and logged with the closest known one")
  func unevaluated() async throws {
    _ = try await makeFolder()
    try rewrite(["reactions": ["screenLok": "lock", "geofence": "allow", "osVersion": "lock"]])
    var object = try JSONObject(parsing: Array(Data(contentsOf: URL(filePath: "\(path)/server.json"))))
    var profile = try object.object("profile")
    profile["policies"] = [
      "geofence": [:], "deviceTamperin": [:],
      "osVersion": ["linx": ["minimum": "99"], "linux": ["minimum": "6", "maximun": "7"]],
      "deviceTampering": ["score": 0.5, "weigh": 1], "screenLock": [:],
    ]
    object["profile"] = .object(profile)
    try write("server.json", object.text)
    let lines = Mutex<[String]>([])
    try DataDirectory(opening: path).checkAccountPolicies(
      sayingIn: EventLog { line in lines.withLock { $0.append(line) } })
    let told = try lines.withLock { $0 }.map { try JSONObject(parsing: Array($0.utf8)) }
    #expect(
      try told.map { try $0.string("policy") } == [
        "geofence", "deviceTamperin", "screenLok", "deviceTampering.weigh", "osVersion.linx",
        "osVersion.linux.maximun",
      ])
    #expect(
      try told.allSatisfy {
        try $0.string("event") == "policy.notEvaluated" && $0.string("level") == "error"
      })
    let advice = try told.map { try $0.string("advice") }
    #expect(
      !advice[0].contains("did you mean")
        && advice[0].contains("; known names: biometricAvailable, deviceTampering, "))
    #expect(
      advice[1].hasSuffix("did you mean deviceTampering?") && advice[2].hasSuffix("did you mean screenLock?"))
    #expect(!advice[3].contains("did you mean"))
    #expect(advice[4].hasSuffix("did you mean linux?") && advice[5].hasSuffix("did you mean maximum?"))
  }

  @Test(
    "invalid reactions and flavours are refused by name",
    arguments: [
      (["reactions": ["screenLock": "ignore"]], "reactions"), (["reactions": ["screenLock": 5]], "reactions"),
      (["reactions": []], "reactions"), (["flavours": "release"], "flavours"),
      (["flavours": [1]], "flavours"), (["reactions": ["a b": "lock"]], "is not a policy name"),
      (["reaction": [:]], "\"devices.reaction\""),
    ] as [(JSONObject, String)])
  func refused(devices: JSONObject, word: String) async throws {
    _ = try await makeFolder()
    try rewrite(devices)
    guard case .settings(_, let reason)? = failure() else {
      Issue.record("not refused: \(String(describing: failure()))")
      return
    }
    #expect(reason.contains(word), "\(reason)")
  }
}
