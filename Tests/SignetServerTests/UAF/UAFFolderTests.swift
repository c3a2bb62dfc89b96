import Foundation
import SignetDataDirectory
import SignetJSON
import SignetServer
import SignetStorage
import SignetServerTesting
import SignetTestKit
import SignetUAF
import Testing
import UAFFixture

/// UAF in a data folder: the member `uaf` of `server.json`, and the folder with metadata statements.
@Suite struct UAFFolderTests: DataDirectorySuite {
  let parent: TemporaryFolder

  init() throws { parent = try TemporaryFolder() }

  private func add(_ text: String, _ name: String) throws {
    let folder = URL(filePath: "\(path)/metadata")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data(text.utf8).write(to: folder.appending(path: name))
    #expect(chmod("\(path)/metadata/\(name)", 0o600) == 0)
  }

  private func add(_ key: UAFTestKey, _ name: String) throws {
    try add(JSONValue.object(key.statement().json).text, name)
  }

  /// Makes a data folder with a member `uaf`.
  private func make(_ uaf: String) async throws {
    _ = try await makeFolder()
    let file = URL(filePath: "\(path)/server.json")
    var settings = try JSONObject(parsing: Array(Data(contentsOf: file)))
    settings["uaf"] = try JSONValue(parsing: uaf)
    try write("server.json", JSONValue.object(settings).text)
  }

  private static let settings = #"{"facets":["ios:bundle-id:org.example.app"],"metadata":"metadata"}"#

  @Test("each JSON file in the folder is a model, and other entries are ignored")
  func readsStatements() async throws {
    try await make(Self.settings)
    try add(UAFTestKey(), "one.json")
    try add(UAFTestKey(aaid: AAID(vendor: 0x7357, model: 2), isDER: true), "two.json")
    try add("no statement", "README.txt")
    try add("no statement", ".hidden.json")
    let context = try DataDirectory(opening: path).serviceContext(log: .silent)
    let aaids = context.uaf?.models.aaids.map(\.text) ?? []
    // Signet's own models are known without a file.
    #expect(aaids.count { $0.hasPrefix("5167#") } == 10)
    #expect(aaids.filter { !$0.hasPrefix("5167#") } == ["7357#0001", "7357#0002"])
    await context.storage.close()
  }

  @Test(
    "an invalid statement is named, and the server does not start", arguments: ["x", "{}", "[]", "", "large"])
  func namesWhatIsNoStatement(_ text: String) async throws {
    try await make(Self.settings)
    try add(UAFTestKey(), "good.json")
    try add(text == "large" ? String(repeating: " ", count: (1 << 20) + 1) : text, "bad.json")
    let failure = try #require(self.failure())
    #expect(failure.description.contains("bad.json"), "\(failure)")
  }

  @Test("a folder writable by others is refused", arguments: [0o777, 0o770, 0o1777])
  func trustsNoOtherFolder(_ mode: mode_t) async throws {
    try await make(Self.settings)
    try add(UAFTestKey(), "one.json")
    #expect(chmod("\(path)/metadata", mode) == 0)
    #expect(try #require(self.failure()).description.contains("metadata"))
    // The same with an absolute path.
    let file = URL(filePath: "\(path)/server.json")
    var settings = try JSONObject(parsing: Array(Data(contentsOf: file)))
    settings["uaf"] = ["facets": ["ios:bundle-id:org.example.app"], "metadata": .string("\(path)/metadata")]
    try write("server.json", JSONValue.object(settings).text)
    #expect(try #require(self.failure()).description.contains("metadata"))
    #expect(chmod("\(path)/metadata", 0o755) == 0)
    #expect(self.failure() == nil)
  }

  @Test("a missing folder is named") func namesTheMissingFolder() async throws {
    try await make(Self.settings)
    #expect(try #require(self.failure()).description.contains("metadata"))
  }

  @Test("a reload reads the folder again, and an invalid file changes nothing")
  func readsAgain() async throws {
    try await make(Self.settings)
    try add(UAFTestKey(), "one.json")
    let folder = try DataDirectory(opening: path)
    let capture = EventCapture()
    let context = try folder.serviceContext(log: capture.log)
    let server = try Server(context, transport: try folder.transportConfiguration())
    func aaids() -> [String] {
      (context.uaf?.models.aaids.map(\.text) ?? []).filter { !$0.hasPrefix("5167#") }
    }
    try add("x", "two.json")
    server.readMetadata()
    #expect(aaids() == ["7357#0001"])
    #expect(capture.lines.contains { $0.contains("uaf.metadataRefused") && $0.contains("two.json") })
    try add(UAFTestKey(aaid: AAID(vendor: 0x7357, model: 2)), "two.json")
    server.readMetadata()
    #expect(aaids() == ["7357#0001", "7357#0002"])
    try FileManager.default.removeItem(atPath: "\(path)/metadata/one.json")
    server.readMetadata()
    #expect(aaids() == ["7357#0002"])
    #expect(capture.lines.count { $0.contains("uaf.metadataRead\"") } == 2)
    await server.stop()
  }

  @Test("a reload checks metadata and settings separately, and names an invalid file")
  func reloadsApart() async throws {
    try await make(Self.settings)
    try add(UAFTestKey(), "one.json")
    let folder = try DataDirectory(opening: path)
    let capture = EventCapture()
    let context = try folder.serviceContext(log: capture.log)
    let server = try Server(context, transport: try folder.transportConfiguration())
    let reload = FolderReload(folder, of: server)
    let file = URL(filePath: "\(path)/server.json")
    var settings = try JSONObject(parsing: Array(Data(contentsOf: file)))
    func lines(_ event: String) -> [String] { capture.lines.filter { $0.contains("\"\(event)\"") } }
    // Bad metadata, other settings.
    try add("x", "two.json")
    settings["limits"] = ["inviteLifetime": 3600]
    try write("server.json", JSONValue.object(settings).text)
    reload.run()
    #expect(lines("uaf.metadataRefused").map { $0.contains("two.json") } == [true])
    let done = lines("reload.done")
    #expect(done.count == 1 && done.allSatisfy { $0.contains("limits") && $0.contains("unchanged") })
    // Good metadata, bad settings.
    try add(UAFTestKey(aaid: AAID(vendor: 0x7357, model: 2)), "two.json")
    settings["limmits"] = [:]
    try write("server.json", JSONValue.object(settings).text)
    reload.run()
    #expect(lines("uaf.metadataRead").count == 1)
    #expect(lines("reload.refused").map { $0.contains("server.json") } == [true])
    #expect(context.uaf?.models.aaids.count { $0.text.hasPrefix("7357#") } == 2)
    await server.stop()
  }

  @Test("a reload cannot remove a requirement that UAF uses")
  func keepsRequirements() async throws {
    try await make(Self.settings)
    try add(UAFTestKey(), "one.json")
    let file = URL(filePath: "\(path)/server.json")
    var settings = try JSONObject(parsing: Array(Data(contentsOf: file)))
    let before = settings
    settings["requirements"] = ["staff": ["factors": 2]]
    if case .object(var uaf)? = settings["uaf"] {
      uaf["requirements"] = ["default": "staff"]
      settings["uaf"] = .object(uaf)
    }
    try write("server.json", JSONValue.object(settings).text)
    let folder = try DataDirectory(opening: path)
    let capture = EventCapture()
    let context = try folder.serviceContext(log: capture.log)
    let server = try Server(context, transport: try folder.transportConfiguration())
    try write("server.json", JSONValue.object(before).text)
    FolderReload(folder, of: server).run()
    #expect(capture.lines.contains { $0.contains("reload.refused") && $0.contains("staff") })
    #expect(context.settings.requirements["staff"] != nil)
    await server.stop()
  }

  @Test("settings survive a round trip") func readsSettings() async throws {
    let text = """
      {"prefix":"/a/b","appID":"https://uaf.example.org/facets","facets":["https://example.org"],
       "policies":{"default":{"accepted":[[{"aaid":["7357#0001"]}]]},"two":{"accepted":[[{"vendorID":["7357"],
       "authenticationAlgorithms":[1],"assertionSchemes":["UAFV1TLV"]}]]}},"requirements":{"default":"phrh","two":"phr"},
       "requestLifetime":60,"tokenLifetime":600,
       "authorizationLifetime":30,"clockSkew":5,"reply":"cookie","link":"signet://open","conformance":true,
       "openRequests":9}
      """
    try await make(text)
    let settings = try #require(try DataDirectory(opening: path).settings.uaf)
    #expect(settings.prefix == "/a/b" && settings.appID == "https://uaf.example.org/facets")
    #expect(settings.facets == ["https://example.org"] && settings.metadata == nil)
    #expect(settings.requestLifetime == 60 && settings.tokenLifetime == 600)
    #expect(settings.authorizationLifetime == 30 && settings.clockSkew == 5)
    #expect(
      settings.reply == .cookie && settings.openRequests == 9 && settings.link == "signet://open"
        && settings.hasConformanceAdapter)
    #expect(Set(settings.policies.keys) == ["default", "two"])
    #expect(settings.requirements == ["default": "phrh", "two": "phr"])
    let folder = try DataDirectory(opening: path)
    #expect(try ServerConfigurationFile(parsing: folder.settings.json.bytes) == folder.settings)
  }

  @Test(
    "invalid settings are refused by member",
    arguments: [
      (#"{}"#, "facets"), (#"{"facets":[]}"#, "facets"), (#"{"facets":["http://example.org"]}"#, "facets"),
      (#"{"facets":["https://e.org"],"prefix":"nevisfido"}"#, "prefix"),
      (#"{"facets":["https://e.org"],"prefix":"/main"}"#, "prefix"),
      (#"{"facets":["https://e.org"],"prefix":"/a/"}"#, "prefix"),
      (#"{"facets":["https://e.org"],"prefix":"/a b"}"#, "prefix"),
      (#"{"facets":["https://e.org"],"appID":"http://e.org"}"#, "appID"),
      (#"{"facets":["https://e.org"],"policies":{"default":{"accepted":[]}}}"#, "accepted"),
      (
        #"{"facets":["https://e.org"],"requirements":{"two":"phr"}}"#,
        #""uaf.requirements.two" is not one of"#
      ),
      (
        #"{"facets":["https://e.org"],"requirements":{"default":"gold"}}"#,
        #""uaf.requirements.default" must be the name of a requirement (phr, phrh"#
      ),
      (
        #"{"facets":["https://e.org"],"requirements":{"default":1}}"#,
        "must be the name of a requirement; found 1"
      ),
      (
        #"{"facets":["https://e.org"],"policies":{"default":{"accepted":[[{"userVerification":1}]]}}}"#,
        "default"
      ),
      (
        #"{"facets":["https://e.org"],"policies":{"default":1}}"#,
        #""uaf.policies.default" must be an object; found 1"#
      ),
      (
        #"{"facets":["https://e.org"],"policies":{"weak":{"accepted":[[{"aaid":["7357#0001"]}],[{"aaid":["7357"]}]]}}}"#,
        #""uaf.policies.weak": accepted[1][0].aaid[0]"#
      ),
      (#"{"facets":["https://e.org"],"requestLifetime":9}"#, "requestLifetime"),
      (#"{"facets":["https://e.org"],"tokenLifetime":604801}"#, "tokenLifetime"),
      (#"{"facets":["https://e.org"],"authorizationLifetime":0}"#, "authorizationLifetime"),
      (#"{"facets":["https://e.org"],"authorizationLifetime":301}"#, "authorizationLifetime"),
      (#"{"facets":["https://e.org"],"clockSkew":601}"#, "clockSkew"),
      (#"{"facets":["https://e.org"],"openRequests":0}"#, "openRequests"),
      (#"{"facets":["https://e.org"],"reply":"saml"}"#, "reply"),
      (#"{"facets":["https://e.org"],"link":"x"}"#, "link"),
      (#"{"facets":["https://e.org"],"link":"https://e.org?a=b"}"#, "link"),
      (#"{"facets":["https://e.org"],"metadata":"../x"}"#, "metadata"),
      (#"{"facets":["https://e.org"],"more":1}"#, "more"), (#"1"#, "uaf"),
    ])
  func refusesSettings(_ text: String, _ word: String) async throws {
    try await make(text)
    let failure = try #require(self.failure())
    #expect(failure.description.contains(word), "\(failure)")
  }
}
