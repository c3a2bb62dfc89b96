import Foundation
import SignetCrypto
import SignetDataDirectory
import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetTestKit
import Testing

import SignetServer

/// `server.json`: read strictly, with messages that name the member.
@Suite struct ServerConfigurationFileTests: DataDirectorySuite {
  let parent: TemporaryFolder

  init() throws { parent = try TemporaryFolder() }

  @Test func readsLimits() async throws {
    var settings = try Self.settings()
    (settings.inviteAttempts, settings.inviteLifetime) = (3, 3600)
    (settings.transactionLifetime, settings.codeAttempts) = (60, 10)
    settings.codes.firstWait = 7
    settings.codes.resyncWindow = 11
    let limits = TransactionLimits(pending: 2, challenges: 3, wait: 4, longestWait: 5, wrongNumbers: 6)
    settings.challengeLimits = limits
    settings.busyTimeout = 2
    settings.operatorAddresses = ["192.0.2.7", "2001:db8::1"]
    (settings.connections.total, settings.connections.perAddress) = (20_000, 12_000)
    (settings.connections.waiting, settings.connections.waitingPerAddress) = (10_000, 0)
    let folder = try await DataDirectory.create(at: path, settings)
    let context = try folder.serviceContext(log: .silent)
    #expect(context.settings.inviteAttempts == 3)
    #expect(context.settings.inviteLifetime == 3600)
    #expect(context.settings.transactionLifetime == 60)
    #expect(context.settings.codeAttempts == 10)
    #expect(context.settings.codes == settings.codes)
    #expect(context.settings.challengeLimits == limits)
    #expect(context.settings.operatorAddresses == ["192.0.2.7", "2001:db8::1"])
    #expect(context.settings.waitingCount == 10_000 && context.settings.waitingCountPerAddress == 0)
    let transport = try folder.transportConfiguration()
    #expect(transport.limits.connectionCount == 20_000)
    #expect(transport.limits.connectionCountPerAddress == 12_000)
    #expect(try DataDirectory(opening: path).settings == folder.settings)
    await context.storage.close()
  }

  @Test("the defaults are those of docs/threat-model.md")
  func defaults() async throws {
    let folder = try await makeFolder()
    let context = try folder.serviceContext(log: .silent)
    let settings = context.settings
    #expect(settings.inviteAttempts == 5 && settings.inviteLifetime == 86_400)
    #expect(settings.inviteCosts.memoryKiB == 19 * 1024 && settings.inviteCosts.passes == 2)
    #expect(settings.handshakeLifetime == 600)
    #expect(settings.handshakeLifetime + HandshakeKeys.period + HandshakeKeys.clockStep == 13 * 60)
    let codes = settings.codes
    #expect(codes.lookBack == 1 && codes.lookAhead == 1 && codes.counterLookAhead == 10)
    #expect(codes.freeAttempts == 3 && codes.firstWait == 30 && codes.longestWait == 3600)
    #expect(settings.codeAttempts == 100 && settings.transactionLifetime == 300)
    let limits = settings.challengeLimits
    #expect(limits.pending == 8 && limits.challenges == 8)
    #expect(limits.wrongNumbers == 3 && limits.initiated == 30)
    #expect(limits.wait == 60 && limits.longestWait == 3600)
    #expect(TransactionLimits.initiatedWindow == 3600 && limits.initiatedByteCount == 120 * 1024)
    let connections = try folder.transportConfiguration().limits
    #expect(connections.connectionCount == 1024 && connections.connectionCountPerAddress == 64)
    #expect(connections.refusedConnectionCount == 64 && connections.refusedConnectionCountPerAddress == 4)
    let uaf = UAFSettings(facets: [])
    #expect([uaf.requestLifetime, uaf.tokenLifetime, uaf.authorizationLifetime] == [120, 300, 300])
    #expect(uaf.openRequests == 256 && UAFKeys.limit == 256)
    await context.storage.close()
  }

  @Test("the example of docs/server-settings.md is read, and its text names what a reload changes")
  func readsTheDocumentedExample() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/server-settings.md"), encoding: .utf8)
    let start = try #require(page.range(of: "```json\n")).upperBound
    let end = try #require(page.range(of: "```", range: start..<page.endIndex)).lowerBound
    let example = page[start..<end].replacing("…", with: "AAAAAAAAAAAAAAAAAAAAAA")
    let settings = try ServerConfigurationFile(parsing: Array(example.utf8))
    #expect(settings.keystoreRequirement == .hardware)
    #expect(settings.codeAttempts == 10)
    #expect(settings.codes.lookAhead == 2)
    #expect(settings.connections.waiting == 10_000)
    #expect(settings.busyTimeout == 20)
    let reloaded = ServerConfigurationFile.reloaded.map { "`\($0)`" }.joined(separator: ", ")
    #expect(page.contains("\n| \(reloaded) | hold |\n"))
  }

  @Test(arguments: [
    ("localhost:8443/a", "127.0.0.1"), ("127.0.0.2/a", "127.0.0.1"), ("[::1]:8443/a", "::1"),
    ("id.example.org/a", "::"), ("127.example.org/a", "::"), ("192.0.2.1/a", "::"),
  ]) func listensOnLoopbackForLoopbackOnly(url: String, address: String) throws {
    #expect(try Self.settings(url).listenAddress == address)
  }

  /// A change to `server.json`, and a word of the message about it.
  struct Slip: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let word: String
    let change: @Sendable (inout JSONObject) throws -> Void

    init(_ name: String, _ word: String, _ change: @escaping @Sendable (inout JSONObject) throws -> Void) {
      (testDescription, self.word, self.change) = (name, word, change)
    }
  }

  @Test(arguments: [
    Slip("unknown member", "\"lsten\" is not known here; did you mean \"listen\"?") { $0["lsten"] = 1 },
    Slip("unknown listen member", "\"listen.prt\"") {
      $0["listen"] = ["address": "::", "port": 1, "prt": 1]
    },
    Slip("unknown TLS member", "\"tls.chain\"") {
      $0["tls"] = ["certificate": "a", "key": "b", "chain": "c"]
    },
    Slip("unknown limit", "\"limits.otpAttempts\"") { $0["limits"] = ["otpAttempts": 5] },
    Slip("limit too small", "\"limits.inviteAttempts\" must be 1 to 100; found 0") {
      $0["limits"] = ["inviteAttempts": 0]
    },
    Slip("limit too large", "\"limits.codeAttempts\" must be 1 to 100; found 101") {
      $0["limits"] = ["codeAttempts": 101]
    },
    Slip("limit of a wrong type", "the member \"limits.inviteLifetime\" must be a whole number; found \"1d\"")
    {
      $0["limits"] = ["inviteLifetime": "1d"]
    },
    Slip("unknown rule", "\"codes.lookAbove\"") { $0["codes"] = ["lookAbove": 1] },
    Slip("rule too large", "\"codes.driftLimit\" must be 0 to 100") { $0["codes"] = ["driftLimit": 101] },
    Slip("unknown connection member", "\"connections.all\"") { $0["connections"] = ["all": 1] },
    Slip("no time to wait", "\"database.busyTimeout\" must be 1 to 60 seconds; found 0") {
      $0["database"] = ["busyTimeout": 0]
    },
    Slip(
      "a name in place of an address",
      "\"operator.addresses[0]\" must be a numeric address; found \"monitor.example.org\""
    ) {
      $0["operator"] = ["addresses": ["monitor.example.org"]]
    },
    Slip("unknown member of the operator", "\"operator.address\"") {
      $0["operator"] = ["address": "::1"]
    },
    Slip("too few connections", "\"connections.total\" must be 16 to 100000") {
      $0["connections"] = ["total": 15]
    },
    Slip("all connections may wait", "\"connections.waiting\" must be less than \"total\" (100); found 100") {
      $0["connections"] = ["total": 100, "waiting": 100]
    },
    Slip(
      "all of an address may wait",
      "\"connections.waitingPerAddress\" must be less than \"perAddress\" (64); found 64"
    ) {
      $0["connections"] = ["waitingPerAddress": 64]
    },
    Slip("no URL", "url") { $0["url"] = nil },
    Slip("plain HTTP", "https") { $0["url"] = "http://localhost/a" },
    Slip("port 0", "1 to 65535") { $0["listen"] = ["address": "::", "port": 0] },
    Slip("port too large", "1 to 65535") { $0["listen"] = ["address": "::", "port": 65_536] },
    Slip("no profile", "profile") { $0["profile"] = nil },
    Slip("unknown protection", "protection") {
      $0["profile"] = ["protection": ["type": "magic"], "otp": [:]]
    },
    Slip(
      "a typing error in a profile", "\"profile.protectoin\" is not known here; did you mean \"protection\"?"
    ) {
      $0["profile"] = ["protectoin": ["type": "device"]]
    },
    Slip("a typing error in its codes", "\"profile.otp.digit\" is not known here; did you mean \"digits\"?") {
      $0["profile"] = ["otp": ["digit": 8]]
    },
    Slip(
      "a type of protection that is none",
      "\"profile.protection.type\" must be one of \"password\", \"biometricOrPassword\", \"deviceLockOrPassword\", "
        + "\"device\", \"biometric\", \"devicePasscode\"; found \"pasword\""
    ) {
      try $0.change(["profile", "protection", "type"], to: "pasword")
    },
    Slip("a protection without a type", "\"profile.protection.type\" is missing; add it") {
      try $0.change(["profile", "protection", "type"], to: nil)
    },
    Slip(
      "a typing error in a rule",
      "\"profile.protection.password.minDigts\" is not known here; did you mean \"minDigits\"?"
    ) {
      try $0.change(["profile", "protection", "password", "minDigts"], to: 2)
    },
    Slip("a rule out of range", "\"profile.protection.password.minLength\" must be 1 to 256; found 0") {
      try $0.change(["profile", "protection", "password", "minLength"], to: 0)
    },
    Slip(
      "a rule of a wrong type",
      "\"profile.protection.password.minLength\" must be a whole number; found \"8\""
    ) {
      try $0.change(["profile", "protection", "password", "minLength"], to: "8")
    },
    Slip("a missing rule", "\"profile.protection.password.maxLength\" is missing; add it") {
      try $0.change(["profile", "protection", "password", "maxLength"], to: nil)
    },
    Slip(
      "rules that contradict each other",
      "\"profile.protection.password\": no password satisfies "
    ) {
      try $0.change(["profile", "protection", "password", "maxLength"], to: 7)
    },
    Slip(
      "a type of lock that is none",
      "\"profile.protection.lock.type\" must be one of \"none\", \"lock\", \"delay\", \"coolDown\", \"silent\"; "
        + "found \"lok\""
    ) {
      try $0.change(["profile", "protection", "lock", "type"], to: "lok")
    },
    Slip("a limit out of range", "\"profile.protection.lock.limit\" must be 1 to 100; found 101") {
      try $0.change(["profile", "protection", "lock", "limit"], to: 101)
    },
    Slip("a rule of another lock", "\"profile.protection.lock.counter\" is not known here") {
      try $0.change(["profile", "protection", "lock", "counter"], to: 3)
    },
    Slip(
      "an end that is none",
      "\"profile.protection.lock.atLimit\" must be \"lockOut\" or \"wipe\"; found \"erase\""
    ) {
      try $0.change(["profile", "protection", "lock", "atLimit"], to: "erase")
    },
    Slip("a lock that is no object", "\"profile.protection.lock\" must be an object; found 5") {
      try $0.change(["profile", "protection", "lock"], to: 5)
    },
    Slip(
      "a typing error in the name of a key",
      "\"profile.keys.signin\" is not known here; did you mean \"signing\"?"
    ) {
      try $0.change(["profile", "keys"], to: ["signin": ["type": "device"]])
    },
    Slip("a policy of a key that is none", "\"profile.keys.otp.type\" must be one of") {
      try $0.change(["profile", "keys"], to: ["otp": ["type": "pin"]])
    },
    Slip("a policy that the key cannot have", "\"profile.keys.otp\" must be opened by the device") {
      try $0.change(["profile", "keys"], to: ["otp": ["type": "biometric"]])
    },
    Slip("codes of five digits", "\"profile.otp.digits\" must be 6 to 10; found 5") {
      try $0.change(["profile", "otp", "digits"], to: 5)
    },
    Slip("digits of a wrong type", "\"profile.otp.digits\" must be a whole number; found \"6\"") {
      try $0.change(["profile", "otp", "digits"], to: "6")
    },
    Slip("another kind of codes", "\"profile.otp.type\" must be one of \"totp\"; found \"hotp\"") {
      try $0.change(["profile", "otp", "type"], to: "hotp")
    },
    Slip("another digest", "\"profile.otp.algorithm\" must be one of SHA1, ") {
      try $0.change(["profile", "otp", "algorithm"], to: "MD5")
    },
    Slip("no label", "\"profile.otp.label\" is missing; add it") {
      try $0.change(["profile", "otp", "label"], to: nil)
    },
    Slip("a score out of range", "\"profile.policies.deviceTampering.score\" is 2.0; use a number above 0") {
      try $0.change(["profile", "policies"], to: ["deviceTampering": ["score": 2]])
    },
    Slip("a version that is none", "\"profile.policies.osVersion.linux.minimum\" is not a version") {
      try $0.change(["profile", "policies"], to: ["osVersion": ["linux": ["minimum": "six"]]])
    },
    Slip("a name to listen on", "\"listen.address\" must be a numeric address; found \"localhost\"") {
      $0["listen"] = ["address": "localhost", "port": 443]
    },
    Slip(
      "a requirement of UAF that is none",
      "\"uaf.requirements.default\" must be the name of a requirement (phr, phrh"
    ) {
      $0["uaf"] = ["facets": ["https://example.org"], "requirements": ["default": "staff"]]
    },
    Slip("a policy of UAF that is none", "not one of its \"policies\"; did you mean \"default\"?") {
      $0["uaf"] = ["facets": ["https://example.org"], "requirements": ["defualt": "phr"]]
    },
    Slip("a file above the folder", "\"tls.certificate\"") {
      $0["tls"] = ["certificate": "../a", "key": "b"]
    },
    Slip("a file without a name", "\"tls.certificate\"") { $0["tls"] = ["certificate": "", "key": "b"] },
    Slip(
      "a reaction that is none",
      "\"devices.reactions.deviceTampering\" must be one of \"allow\", \"stepUp\""
    ) {
      $0["devices"] = ["reactions": ["screenLock": "lock", "deviceTampering": "explode"]]
    },
    Slip("a reaction of a wrong type", "\"devices.reactions.screenLock\"") {
      $0["devices"] = ["reactions": ["screenLock": 3]]
    },
    Slip("reactions that are no object", "reactions") { $0["devices"] = ["reactions": ["wipe"]] },
    Slip("unknown member of devices", "\"devices.reaction\"") {
      $0["devices"] = ["reaction": ["a": "lock"]]
    },
    Slip("flavours that are no list", "flavours") { $0["devices"] = ["flavours": "release"] },
    Slip(
      "a weight that is none",
      "\"devices.tampering.weights.hook\" must be 0 to 1; found 2"
    ) {
      $0["devices"] = ["tampering": ["weights": ["hook": 2]]]
    },
    Slip(
      "a weight of nothing",
      "\"devices.tampering.weights.hok\" is not a category of evidence; did you mean \"hook"
    ) {
      $0["devices"] = ["tampering": ["weights": ["hok": 1]]]
    },
    Slip(
      "a score of another kind",
      "\"devices.tampering.scoring\" must be \"maximum\" or \"weighted-sum\"; found \"average\""
    ) {
      $0["devices"] = ["tampering": ["scoring": "average"]]
    },
    Slip("a threshold, which is the policy's", "\"devices.tampering.threshold\"") {
      $0["devices"] = ["tampering": ["threshold": 0.5]]
    },
    Slip("requirements that are no object", "requirements") { $0["requirements"] = ["phr"] },
    Slip("a requirement that is no object", "\"requirements.pay\" must be an object; found true") {
      $0["requirements"] = ["pay": true]
    },
    Slip("a built-in requirement", "\"requirements.phrh\" is built in; choose another name") {
      $0["requirements"] = ["phrh": ["factors": 2]]
    },
    Slip("a name of the product", "\"requirements.urn:signet:acr:gold\" is built in") {
      $0["requirements"] = ["urn:signet:acr:gold": ["factors": 2]]
    },
    Slip("a name of two words", "\"requirements.pay now\" is not a name") {
      $0["requirements"] = ["pay now": ["factors": 2]]
    },
    Slip("a requirement without a name", "\"requirements.\" is not a name") {
      $0["requirements"] = ["": ["factors": 2]]
    },
    Slip("a requirement that demands nothing", "\"requirements.pay\" requires nothing") {
      $0["requirements"] = ["pay": ["factors": 1, "keyProtection": "any"]]
    },
    Slip("an unknown demand", "\"requirements.pay.factor\" is not known here") {
      $0["requirements"] = ["pay": ["factor": 2]]
    },
    Slip("too many factors", "\"requirements.pay.factors\" must be 1 to 3") {
      $0["requirements"] = ["pay": ["factors": 4]]
    },
    Slip(
      "a demand of a wrong type",
      "\"requirements.pay.userVerification\" must be true or false; found \"yes\""
    ) { $0["requirements"] = ["pay": ["userVerification": "yes"]] },
    Slip(
      "a protection that is none",
      "\"requirements.pay.keyProtection\" must be one of \"any\", \"hardwareClaimed\", \"hardwareAttested\""
    ) { $0["requirements"] = ["pay": ["keyProtection": "hardware"]] },
    Slip(
      "a report that is younger than it takes to send one",
      "\"requirements.pay.reportAge\" must be 30 to 31536000"
    ) {
      $0["requirements"] = ["pay": ["reportAge": 29]]
    },
    Slip("a report of over a year", "\"requirements.pay.reportAge\" must be 30 to 31536000") {
      $0["requirements"] = ["pay": ["reportAge": 31_536_001]]
    },
    Slip("a number of one digit", "\"requirements.pay.numberDigits\" must be 2 to 6") {
      $0["requirements"] = ["pay": ["numberDigits": 1]]
    },
    Slip(
      "an age in words", "\"requirements.pay.reportAge\" must be a whole number; found \"5m\""
    ) { $0["requirements"] = ["pay": ["reportAge": "5m"]] },
    Slip(
      "a kind that is none",
      "\"requirements.pay.kinds[1]\" must be one of \"container\", \"uaf\", \"push-app\"; found \"phone\""
    ) { $0["requirements"] = ["pay": ["kinds": ["uaf", "phone"]]] },
    Slip("too many requirements", "\"requirements\" must have at most 64 members; found 65") {
      var many = JSONObject()
      for number in 0...64 { many["r\(number)"] = ["factors": 2] }
      $0["requirements"] = .object(many)
    },
    Slip("no master key check", "masterKeyCheck") { $0["masterKeyCheck"] = nil },
  ]) func namesWhatIsWrongInSettings(_ slip: Slip) async throws {
    _ = try await makeFolder()
    let file = "\(path)/server.json"
    var object = try JSONObject(parsing: Array(Data(contentsOf: URL(filePath: file))))
    try slip.change(&object)
    try write("server.json", object.text)
    guard case .settings(file, let reason)? = failure() else {
      Issue.record("not refused: \(String(describing: failure()))")
      return
    }
    #expect(reason.contains(slip.word))
  }

  @Test("every member of a profile is accepted")
  func readsWholeProfiles() async throws {
    var object = try await makeFolder().settings.json
    var profile = try object.object("profile")
    profile["keys"] = ["signing": ["type": "device"], "session": ["type": "device"]]
    profile["policies"] = ["screenLock": [:]]
    var otp = try profile.object("otp")
    otp["exportable"] = true
    profile["otp"] = .object(otp)
    object["profile"] = .object(profile)
    try write("server.json", object.text)
    #expect(try DataDirectory(opening: path).settings.json.object("profile") == profile)
    // A new member of profiles has to be added here.
    #expect(Set(profile.members.map(\.name)) == Set(ContainerProfile.memberNames))
    #expect(Set(otp.members.map(\.name)) == Set(ContainerProfile.otpMemberNames))
  }

  @Test(
    "each type of lock is accepted with its rules",
    arguments: [
      ["type": "none"], ["type": "lock", "limit": 3, "atLimit": "wipe"],
      ["type": "delay", "delay": 5, "counter": 3],
      ["type": "coolDown", "waits": [0, 60], "atLimit": "wipe"],
    ] as [JSONObject])
  func readsLocks(_ lock: JSONObject) async throws {
    var object = try await makeFolder().settings.json
    try object.change(["profile", "protection", "lock"], to: .object(lock))
    try write("server.json", object.text)
    #expect(
      try DataDirectory(opening: path).settings.json.object("profile").object("protection").object("lock")
        == lock)
  }

  @Test(
    "a missing file is named with its setting",
    arguments: [
      ("push.apns.key", ["push": ["apns": ["key": "no.p8", "keyID": "K", "teamID": "T", "topic": "t"]]]),
      ("push.fcm.account", ["push": ["fcm": ["account": "no.p8"]]]),
      ("push.webPush.key", ["push": ["webPush": ["key": "no.p8", "contact": "mailto:a@example.org"]]]),
      (
        "push.webhook.key",
        ["push": ["webhook": ["url": "https://a.example", "key": "no.p8", "keyID": "no.p8"]]]
      ),
      ("push.authority", ["push": ["authority": "no.p8"]]),
      ("openID.authority", ["openID": ["authority": "no.p8"]]),
      ("uaf.metadata", ["uaf": ["facets": ["https://example.org"], "metadata": "no.p8"]]),
    ] as [(String, JSONObject)])
  func namesTheSettingOfAMissingFile(_ setting: String, _ members: JSONObject) async throws {
    var object = try await makeFolder().settings.json
    for (name, value) in members.members { object[name] = value }
    try write("server.json", object.text)
    #expect(failure() == .fileOfSetting(setting, path: "\(path)/no.p8"))
  }

  @Test("a syntax error in server.json has line and column")
  func namesTheLine() async throws {
    _ = try await makeFolder()
    try write("server.json", "{\n  \"format\": 1,\n  \"url\": \"é\"; \"listen\": {}\n}\n")
    guard case .settings(_, let reason)? = failure() else {
      Issue.record("not refused: \(String(describing: failure()))")
      return
    }
    #expect(reason.hasPrefix("line 3, column 13: unexpected character; "))
  }

  @Test(
    "another encoding, a comment and a repeated member have their own errors",
    arguments: [
      (Array("\u{FEFF}{}".utf8), "the text begins with a byte order mark; save it as UTF-8 without one"),
      ([0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00], "the text is UTF-16; save it as UTF-8"),
      ([0x00, 0x7B, 0x00, 0x7D], "the text is UTF-16; save it as UTF-8"),
      (Array("{\n  // ours\n}".utf8), "line 2, column 3: a comment, which JSON does not have; remove it"),
      (Array("{} /* ours */".utf8), "line 1, column 4: a comment, which JSON does not have; remove it"),
      (
        Array(#"{"format": 1, "url": "a", "url": "b"}"#.utf8),
        "line 1, column 27: the member \"url\" is repeated; give each name once"
      ),
    ] as [([UInt8], String)])
  func namesTheForm(_ bytes: [UInt8], _ words: String) async throws {
    _ = try await makeFolder()
    let file = "\(path)/server.json"
    try Data(bytes).write(to: URL(filePath: file))
    #expect(chmod(file, 0o600) == 0)
    #expect(failure() == .settings(path: file, reason: words))
  }

  @Test("requirements are read, written and given to the services")
  func readsRequirements() async throws {
    let members: JSONObject = [
      "pay": [
        "factors": 2, "userVerification": true, "phishingResistance": true,
        "keyProtection": "hardwareAttested",
        "contentSigned": true, "reportAge": 300, "numberDigits": 4, "kinds": ["container", "uaf"],
      ],
      "tpm": ["keyProtection": "hardwareClaimed"],
    ]
    let folder = try await makeFolder()
    #expect(!folder.settings.json.contains("requirements"))
    var object = folder.settings.json
    object["requirements"] = .object(members)
    try write("server.json", object.text)
    let opened = try DataDirectory(opening: path)
    #expect(try opened.settings.json.object("requirements") == members)
    let context = try opened.serviceContext(log: .silent)
    let pay = try #require(context.settings.requirements["pay"])
    #expect(pay.factors == 2 && pay.needsUserVerification && pay.needsPhishingResistance)
    #expect(
      pay.keyProtection == .hardwareAttested && pay.needsSignedContent && pay.kinds == [.container, .uaf])
    #expect(pay.longestReportAge == 300 && pay.numberDigits == 4)
    #expect(context.settings.requirements["tpm"]?.longestReportAge == nil)
    #expect(context.settings.requirements["tpm"]?.keyProtection == .hardwareClaimed)
    #expect(context.settings.requirements["gold"] == nil)
    await context.storage.close()
  }

  @Test func refusesSettingsOfANewerFormatWhateverTheyHold() async throws {
    _ = try await makeFolder()
    try write("server.json", #"{"format":2,"realms":[]}"#)
    #expect(failure() == .settingsTooNew(path: "\(path)/server.json", found: 2, known: 1))
  }

  @Test func refusesSettingsThatWereCut() async throws {
    _ = try await makeFolder()
    let file = "\(path)/server.json"
    let whole = Array(try Data(contentsOf: URL(filePath: file)))
    for count in stride(from: 0, to: whole.count - 2, by: 7) {
      try write("server.json", String(decoding: whole[..<count], as: UTF8.self))
      guard case .settings(file, _)? = failure() else {
        Issue.record("\(count) of \(whole.count) bytes were accepted")
        return
      }
    }
  }
}

extension JSONObject {
  /// Sets the value at a path of members; `nil` removes it.
  fileprivate mutating func change(_ path: [String], to value: JSONValue?) throws {
    guard path.count > 1 else {
      self[path[0]] = value
      return
    }
    var inner = try object(path[0])
    try inner.change(Array(path.dropFirst()), to: value)
    self[path[0]] = .object(inner)
  }
}
