import Foundation
import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import SignetUAF
import Testing
import UAFFixture

/// `signet-server uaf credentials|targets|metadata`, and the metadata folder that is read again.
@Suite(.timeLimit(.minutes(10))) struct UAFRegistryCommandTests {
  /// A server with UAF, whose metadata has one model.
  private func start() async throws -> RunningServer {
    let folder = try TemporaryFolder()
    let port = try FreePort.find()
    let made = try await ServerCommand.run(
      ["init", "--data", "\(folder.path)/data", "--url", "127.0.0.1:\(port)/main"])
    try #require(made.status == 0, "\(made.errorOutput)")
    let file = URL(filePath: "\(folder.path)/data/server.json")
    var settings = try JSONObject(parsing: Array(Data(contentsOf: file)))
    settings["uaf"] = ["facets": ["ios:bundle-id:org.example.app"], "metadata": "metadata"]
    try Self.write(settings.bytes, file)
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/data/metadata", withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    var key = UAFTestKey()
    key.describe = { $0.keyProtection = .hardware }
    try Self.add(key, "one.json", to: folder)
    return try await RunningServer(folder, port)
  }

  private static func write(_ bytes: [UInt8], _ file: URL) throws {
    try Data(bytes).write(to: file)
    #expect(chmod(file.path, 0o600) == 0)
  }

  private static func add(_ key: UAFTestKey, _ name: String, to folder: TemporaryFolder) throws {
    try write(
      JSONValue.object(key.statement().json).bytes, URL(filePath: "\(folder.path)/data/metadata/\(name)"))
  }

  /// Adds a quarantined key and a device to the database, bypassing the server.
  private static func enrol(_ data: String) async throws -> String {
    // With the server's own storage, since the rows need MACs.
    let storage = try DataDirectory(opening: data).serviceContext(log: EventLog { _ in }).storage
    let event = AuditRecord.sample()
    var session = UAFOperationRecord(
      id: "s", operation: "Reg", user: "alice", created: 1, expires: 100, state: .requested)
    session.request = [1]
    try await storage.addUAFOperation(session, audit: nil)
    let key = [UInt8](repeating: 7, count: 32)
    var credential = UAFCredentialRecord(
      aaid: "7357#0001", keyID: key, user: "alice", publicKey: [4], algorithm: 1, keyFormat: 0x100,
      signCounter: 5, registrationCounter: 1, authenticatorVersion: 256, created: 1)
    credential.state = .quarantined
    (credential.modelProof, credential.keyProtection) = (.attested, 2)
    let outcome = try await storage.finishUAFRegistration(
      "s", UAFOperationEnd(status: 1200, time: 50),
      adding: [NewUAFCredential(credential, digest: PublicKeyDigest(of: [4]))], limit: 1
    ) { _ in event }
    #expect(outcome == .accepted)
    _ = try await storage.addUAFTarget(
      UAFTargetRecord(
        id: "target1", user: "alice", device: nil, name: "Phone", dispatcher: "link", sealedTarget: nil,
        signatureKey: [4], encryptionKey: [4], created: 1), limit: 1, audit: event)
    await storage.close()
    return Base64URL.encode(key)
  }

  @Test func managesKeysAndDevices() async throws {
    let server = try await start()
    try await server.addUser("alice")
    let key = try await Self.enrol(server.data)
    let listed = try await server.run("uaf", "credentials", "--user", "alice")
    #expect(listed.status == 0)
    #expect(listed.output.contains("7357#0001") && listed.output.contains("quarantined"))
    #expect(listed.output.contains(key))
    #expect(listed.output.contains("KEYS") && listed.output.contains("hardware (attested)"))
    try await server.addUser("bob")
    let none = try await server.json("uaf", "credentials", "--user", "bob")
    #expect(none == ["credentials": []])
    for list in ["credentials", "targets"] {
      let mistyped = try await server.run("uaf", list, "--user", "alcie")
      #expect(mistyped.isRefusal(67, "There is no user \"alcie\""), mistyped.summary)
    }
    #expect(
      try await server.run("uaf", "release-credential", "7357#0001", key).output
        == "released 7357#0001 \(key)\n")
    let again = try await server.run("uaf", "release-credential", "7357#0001", key)
    #expect(again.isRefusal(1, "The key is not in quarantine"), again.summary)
    #expect(!again.errorOutput.contains("already exists"), again.summary)
    #expect(try await server.json("uaf", "credentials").array("credentials").count == 1)
    #expect(try await server.run("uaf", "remove-credential", "7357#0001", key).status == 0)
    let gone = try await server.run("uaf", "remove-credential", "7357#0001", key)
    #expect(gone.status == 67 && gone.errorOutput.contains("uaf credentials"))
    let targets = try await server.run("uaf", "targets")
    #expect(targets.output.contains("Phone") && targets.output.contains("yes"))
    #expect(try await server.run("uaf", "remove-target", "target1").output == "removed target1\n")
    #expect(try await server.run("uaf", "remove-target", "target1").status == 67)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  @Test func readsMetadataAgainAtAHangUp() async throws {
    let server = try await start()
    let first = try await server.run("uaf", "metadata")
    #expect(first.output.contains("7357#0001") && !first.output.contains("7357#0002"))
    try Self.add(UAFTestKey(aaid: AAID(vendor: 0x7357, model: 2)), "two.json", to: server.folder)
    server.send(SIGHUP)
    // The signal takes effect with a delay, so the test polls.
    var isKnown = false
    for _ in 0..<1_000 where !isKnown {
      isKnown = try await server.run("uaf", "metadata").output.contains("7357#0002")
    }
    #expect(isKnown)
    #expect(server.events.contains("uaf.metadataRead"))
    await server.stop()
  }
}
