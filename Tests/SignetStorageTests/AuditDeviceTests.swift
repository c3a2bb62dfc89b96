import PostgreSQLFixture
import SignetCrypto
import SignetServerTesting
import SignetSQL
import SignetStorage
import SignetSystem
import SignetTestKit
import Testing

/// Devices in the audit log after an attacker has changed the database.
@Suite(.timeLimit(.minutes(10))) struct AuditDeviceTests {
  /// A user with a key, a target and an operation on one device, and another key on another one.
  private static func fill(_ storage: Storage) async throws {
    let event = AuditRecord.sample()
    try await storage.addUser(UserRecord(id: "alice", created: 1), audit: event)
    for (name, device) in [("k1", "laptop"), ("k2", "phone")] {
      let session = UAFOperationRecord(
        id: "\(name)", operation: "Reg", user: "alice", created: 3, expires: 100, state: .requested)
      try await storage.addUAFOperation(session, audit: event)
      var credential = UAFCredentialRecord(
        aaid: "7357#0001", keyID: Array(name.utf8), user: "alice", publicKey: [4] + name.utf8, algorithm: 1,
        keyFormat: 0x100, signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 3)
      credential.device = device
      let outcome = try await storage.finishUAFRegistration(
        "\(name)", UAFOperationEnd(status: 1200, time: 4), adding: [credential.new], limit: 2
      ) { _ in event }
      #expect(outcome == .accepted)
    }
    let target = UAFTargetRecord(
      id: "d1", user: "alice", device: "laptop", name: "Laptop", dispatcher: nil, sealedTarget: nil,
      signatureKey: [4], encryptionKey: nil, created: 3)
    #expect(try await storage.addUAFTarget(target, limit: 1, audit: event))
    var session = UAFOperationRecord(
      id: "s", operation: "Auth", user: "alice", created: 3, expires: 100, state: .requested)
    session.target = "d1"
    try await storage.addUAFOperation(session, audit: event)
  }

  @Test(
    "a key or target with an altered device is logged without a device",
    arguments: StorageBackend.here)
  func moved(_ backend: StorageBackend) async throws {
    let folder = try TemporaryFolder()
    let location = try backend.location(in: folder)
    let storage = try Storage.open(location).authenticatingRows(with: .forTests)
    try await Self.fill(storage)
    let devices = try await storage.devices(user: "alice")
    let phone = try #require(devices.first { $0.installation == "phone" }).id
    let database = try SQLDatabase.beside(location)
    _ = try await database.write { connection in
      try connection.execute(
        "UPDATE uaf_credentials SET device = 'phone' WHERE device = 'laptop'", changing: 1)
      try connection.execute("UPDATE uaf_targets SET device = 'phone'", changing: 1)
    }.value
    let selection = [UAFKeySelection(aaid: "7357#0001", keyID: Array("k1".utf8))]
    let removed = try await storage.removeUAFCredentials(of: "alice", selection) { aaid, key in
      AuditRecord(.uafDeregistered(session: nil, user: "alice", aaid: aaid, key: key), by: .local, at: 5)
    }
    #expect(removed == 1)
    let event = AuditRecord(.deviceRevoked(user: "alice", device: phone), by: .local, at: 6)
    let isRevoked = try await storage.revokeDevice(
      phone, audit: event, lost: Sample.namedLoss(by: .local, at: 6))
    #expect(isRevoked)
    let entries = try await storage.auditEntries(after: 0, limit: 100).map(\.text)
    for (name, isNamed) in [("uaf.deregistered", false), ("uaf.targetRemoved", false), ("uaf.revoked", true)]
    {
      let found = entries.filter { $0.contains("\"event\":\"\(name)\"") }
      #expect(found.count == 1)
      #expect(found.allSatisfy { $0.contains("\"device\"") == isNamed }, "\(found)")
    }
    await database.close()
    await storage.close()
  }

  @Test(
    "an event about an altered row is logged without a device",
    arguments: StorageBackend.here,
    [
      "UPDATE uaf_credentials SET state = 'x'", "UPDATE uaf_credentials SET model_proof = 'x'",
      "UPDATE uaf_sessions SET state = 'x'", "UPDATE uaf_targets SET created = 9",
    ])
  func altered(_ backend: StorageBackend, _ change: String) async throws {
    let folder = try TemporaryFolder()
    let location = try backend.location(in: folder)
    let storage = try Storage.open(location).authenticatingRows(with: .forTests)
    try await Self.fill(storage)
    let database = try SQLDatabase.beside(location)
    _ = try await database.write { try $0.execute(change) }.value
    let key = Array("k1".utf8)
    let event: AuditEvent =
      if change.contains("uaf_credentials") {
        .uafReleased(user: "alice", aaid: "7357#0001", key: key)
      } else {
        .uafTokenRedeemed(session: "s", user: "alice")
      }
    try await storage.append(AuditRecord(event, by: .local, at: 5))
    let last = try #require(try await storage.auditEntries(after: 0, limit: 100).last).text
    #expect(last.contains("\"time\":5,") && !last.contains("\"device\""), "\(last)")
    await database.close()
    await storage.close()
  }
}
