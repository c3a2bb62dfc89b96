import Foundation
import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetTestKit
import Testing

/// Handshakes are open for minutes, and can never be opened after that (`docs/protocol.md` section 3.1).
@Suite(.timeLimit(.minutes(10))) struct HandshakeKeyTests: DataDirectorySuite {
  let parent: TemporaryFolder
  private static let lifetime: Int64 = 600
  private static let hasMemory = MemoryFolder.isThere

  init() throws { parent = try TemporaryFolder() }

  /// A data folder whose processes share keys at a path.
  private func folder(runtime: String) async throws -> DataDirectory {
    _ = try await makeFolder()
    try set(runtime: runtime)
    return try DataDirectory(opening: path)
  }

  private func set(runtime: String) throws {
    var settings = try JSONObject(parsing: Array(Data(contentsOf: URL(filePath: "\(path)/server.json"))))
    settings["runtime"] = .string(runtime)
    try write("server.json", JSONValue.object(settings).text)
  }

  @Test("a key seals for two minutes, opens until its last handshake ends, and is then deleted")
  func forgets() throws {
    let keys = HandshakeKeys(lifetime: Self.lifetime)
    let first = try keys.current(at: 1000)
    #expect(try keys.current(at: 1000 + HandshakeKeys.period - 1).id == first.id)
    let second = try keys.current(at: 1000 + HandshakeKeys.period)
    #expect(second.id != first.id)
    let last = 1000 + HandshakeKeys.period + Self.lifetime
    #expect(try keys.key(first.id, at: last)?.id == first.id)
    #expect(try keys.key(first.id, at: last + 1) == nil)
    // A discarded key stays discarded, even if the clock is set back.
    #expect(try keys.key(first.id, at: 1000 + HandshakeKeys.period - 1) == nil)
    #expect(try keys.key(second.id, at: last)?.id == second.id)
  }

  @Test("setting the clock back voids later handshakes; a small step does not")
  func clockSetBack() throws {
    let keys = HandshakeKeys(lifetime: Self.lifetime)
    let key = try keys.current(at: 1000)
    #expect(try keys.current(at: 1000 - HandshakeKeys.clockStep).id == key.id)
    #expect(try keys.key(key.id, at: 1000 - HandshakeKeys.clockStep - 1) == nil)
    #expect(try keys.key(key.id, at: 1000) == nil)
  }

  @Test("maintenance deletes unused handshake keys")
  func maintenance() throws {
    let keys = HandshakeKeys(lifetime: Self.lifetime)
    let key = try keys.current(at: 1000)
    try keys.forgetOld(at: 1001)
    #expect(try keys.key(key.id, at: 1001) != nil)
    try keys.forgetOld(at: 1000 + HandshakeKeys.period + Self.lifetime + 1)
    #expect(try keys.key(key.id, at: 1001) == nil)
  }

  @Test("a recorded handshake cannot be opened after its key's deletion, nor with master key and database")
  func forwardSecrecy() async throws {
    let server = try ServerFixture()
    let device = ProtocolDevice(code: try await server.invite())
    let answer = try await server.activations.start(device.start.bytes)
    let body = try await device.finish(answer).body
    // An attacker with the master key, the database and the invite: an equal server without the handshake keys.
    let thief = ServiceContext(
      settings: server.context.settings, storage: server.storage, masterKey: server.context.masterKey,
      clock: server.clock, log: server.capture.log)
    #expect(try await problem { try await ActivationService(thief).finish(body) } == .handshakeVoid)
    // After the lifetime, the server itself cannot open it either.
    server.clock.advance(by: HandshakeKeys.period + Self.lifetime + 1)
    #expect(try await problem { try await server.activations.finish(body) } == .handshakeVoid)
    server.clock.advance(by: -HandshakeKeys.period - Self.lifetime - 1)
    #expect(try await problem { try await server.activations.finish(body) } == .handshakeVoid)
    #expect(try await server.storage.openActivation(user: "alice")?.failedAttempts == 0, "no guess")
    // The device starts again with the same invite.
    var again = ProtocolDevice(code: device.code)
    try await again.activate(server)
  }

  @Test("a renewal's handshake is refused for an activation")
  func purposes() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let record = try await device.send(to: server)
    let id = try #require(device.container)
    let renewal = try RenewalService(server.context).start(
      RenewalStart(container: id, random: SystemRandomSource()).bytes, for: record)
    let other = ProtocolDevice(code: try await server.invite("bob"))
    let answer = try await server.activations.start(other.start.bytes)
    let made = try ActivationFinish(parsing: await other.finish(answer).body)
    let body = ActivationFinish(
      handshake: renewal.handshake, message: made.message, possession: made.possession
    ).bytes
    #expect(try await problem { try await server.activations.finish(body) } == .handshakeVoid)
  }

  @Test(
    "processes share keys in a memory folder, and the last one empties it",
    .enabled(if: Self.hasMemory))
  func shares() async throws {
    let memory = try MemoryFolder()
    let opened = try await folder(runtime: memory.path)
    let (first, second) = (try opened.handshakeKeys(), try opened.handshakeKeys())
    let key = try first.current(at: 1000)
    #expect(try second.current(at: 1001).id == key.id)
    #expect(try second.key(key.id, at: 1500)?.id == key.id)
    #expect(try memory.names().count == 1)
    let status = try FileManager.default.attributesOfItem(atPath: "\(memory.path)/\(memory.names()[0])")
    #expect(status[.posixPermissions] as? Int == 0o600)
    // The other process makes the next key.
    let next = try second.current(at: 1000 + HandshakeKeys.period)
    #expect(try first.key(next.id, at: 1200)?.id == next.id)
    // An expired key file is overwritten and then removed.
    let link = "\(memory.path)/kept"
    try FileManager.default.linkItem(
      atPath: "\(memory.path)/handshake-\(Hex.encode(key.id))", toPath: link)
    try second.forgetOld(at: 1000 + HandshakeKeys.period + Self.lifetime + 1)
    #expect(try memory.names().filter { $0.hasPrefix("handshake-") } == ["handshake-\(Hex.encode(next.id))"])
    #expect(try Data(contentsOf: URL(filePath: link)).allSatisfy { $0 == 0 })
    try FileManager.default.removeItem(atPath: link)
    // While another process serves, the keys remain.
    try first.end()
    #expect(try memory.names().count == 1)
    #expect(try second.key(next.id, at: 1300) != nil)
  }

  @Test("the last process forgets the keys in the folder", .enabled(if: Self.hasMemory))
  func ends() async throws {
    let memory = try MemoryFolder()
    let keys = try await folder(runtime: memory.path).handshakeKeys()
    _ = try keys.current(at: 1000)
    #expect(try memory.names().count == 1)
    try keys.end()
    #expect(try memory.names().isEmpty)
  }

  @Test(
    "a folder deleted during operation is created and shared again",
    .enabled(if: Self.hasMemory))
  func remakes() async throws {
    let memory = try MemoryFolder()
    let place = "\(memory.path)/keys"
    let opened = try await folder(runtime: place)
    let (first, second) = (try opened.handshakeKeys(), try opened.handshakeKeys())
    _ = try first.current(at: 1000)
    try FileManager.default.removeItem(atPath: place)
    let key = try first.current(at: 1000 + HandshakeKeys.period)
    #expect(try second.key(key.id, at: 1001 + HandshakeKeys.period) != nil)
    #expect(try mode(place) == 0o700)
    try second.forgetOld(at: 1001 + HandshakeKeys.period)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["handshake-\(Hex.encode(key.id))"])
    withExtendedLifetime(memory) {}
  }

  @Test(
    "a server that cannot store handshake keys is not ready until the folder can be created",
    .enabled(if: Self.hasMemory))
  func readiness() async throws {
    let memory = try MemoryFolder()
    let place = "\(memory.path)/keys"
    let keys = try await folder(runtime: place).handshakeKeys()
    let fixture = try ServerFixture()
    let context = ServiceContext(
      settings: fixture.context.settings, storage: fixture.storage, masterKey: fixture.context.masterKey,
      clock: fixture.clock, log: fixture.capture.log, handshakeKeys: keys)
    try FileManager.default.removeItem(atPath: place)
    #expect(FileManager.default.createFile(atPath: place, contents: nil))
    #expect(await Readiness(context).failure()?.contains("handshake keys") == true)
    try FileManager.default.removeItem(atPath: place)
    #expect(await Readiness(context).failure() == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place).count == 1)
    withExtendedLifetime(memory) {}
  }

  @Test(
    "foreign and truncated files in the folder are skipped", .enabled(if: Self.hasMemory))
  func passesOver() async throws {
    let memory = try MemoryFolder()
    let opened = try await folder(runtime: memory.path)
    for (name, content) in [
      ("handshake-", [UInt8](repeating: 1, count: 40)), ("handshake-zz", [1]), ("other", [1]),
      ("handshake-0102030405060708", [UInt8](repeating: 1, count: 12)),
      ("handshake-1112131415161718", [UInt8](repeating: 0, count: 40)),
    ] {
      let path = "\(memory.path)/\(name)"
      try Data(content).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
    let keys = try opened.handshakeKeys()
    let made = try keys.current(at: 1000)
    #expect(try keys.key(made.id, at: 1000) != nil)
    #expect(try keys.key([1, 2, 3, 4, 5, 6, 7, 8], at: 1000) == nil)
    #expect(try keys.key([0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18], at: 1000) == nil)
    withExtendedLifetime(memory) {}
  }

  @Test(
    "an unreadable file in the folder is skipped and logged once",
    .enabled(if: Self.hasMemory))
  func passesOverUnreadable() async throws {
    let memory = try MemoryFolder()
    let opened = try await folder(runtime: memory.path)
    let capture = EventCapture()
    let keys = try opened.handshakeKeys(log: capture.log)
    let first = try keys.current(at: 1000)
    // A link, a folder, a file that others may read, and one that is too long.
    let bad = (1...4).map { "handshake-0\($0)02030405060708" }
    let paths = bad.map { "\(memory.path)/\($0)" }
    try FileManager.default.createSymbolicLink(atPath: paths[0], withDestinationPath: "/etc/passwd")
    try FileManager.default.createDirectory(atPath: paths[1], withIntermediateDirectories: false)
    for (path, count, mode) in [(paths[2], 40, 0o644), (paths[3], 41, 0o600)] {
      #expect(
        FileManager.default.createFile(
          atPath: path, contents: Data(repeating: 1, count: count), attributes: [.posixPermissions: mode]))
    }
    // Another process on the same folder uses the valid key, and later makes the next one.
    let other = try opened.handshakeKeys(log: capture.log)
    #expect(try other.current(at: 1001).id == first.id)
    let second = try other.current(at: 1000 + HandshakeKeys.period)
    #expect(try keys.key(second.id, at: 1200) != nil)
    for _ in 0..<2 { try other.forgetOld(at: 1000 + HandshakeKeys.period + Self.lifetime + 1) }
    #expect(try memory.names() == (bad + ["handshake-\(Hex.encode(second.id))"]).sorted())
    for name in bad {
      #expect(capture.lines.count { $0.contains("handshakes.fileRefused") && $0.contains(name) } == 1)
    }
    withExtendedLifetime(memory) {}
  }

  @Test("a second process that could not share keys is refused")
  func refusesASecond() async throws {
    let opened = try await makeFolder()
    let keys = try opened.handshakeKeys()
    #expect(throws: DataDirectoryFailure.servedElsewhere(path: opened.path)) { try opened.handshakeKeys() }
    withExtendedLifetime(keys) {}
  }

  @Test("a folder on a disk, open to others or with another name than a full path is refused")
  func refusesOtherFolders() async throws {
    let onDisk = try await folder(runtime: "/usr/lib")
    #expect(throws: DataDirectoryFailure.self) { try onDisk.handshakeKeys() }
    // /var/tmp is on a disk, so the new folder there is removed again.
    let made = "/var/tmp/signet-\(UUID().uuidString)"
    try set(runtime: made)
    #expect(throws: DataDirectoryFailure.notInMemory(path: made)) {
      try DataDirectory(opening: path).handshakeKeys()
    }
    #expect(!FileManager.default.fileExists(atPath: made))
    if Self.hasMemory {
      let memory = try MemoryFolder()
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: memory.path)
      try set(runtime: memory.path)
      #expect(throws: DataDirectoryFailure.openToOthers(path: memory.path, mode: 0o755)) {
        try DataDirectory(opening: path).handshakeKeys()
      }
    }
    try set(runtime: "run")
    #expect(throws: DataDirectoryFailure.self) { try DataDirectory(opening: path) }
  }
}
