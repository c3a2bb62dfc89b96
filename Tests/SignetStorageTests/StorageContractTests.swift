import SignetCrypto
import SignetStorage
import SignetServerTesting
import PostgreSQLFixture
import SignetTestKit
import Testing

/// The storage contract on both databases.
@Suite(.timeLimit(.minutes(10))) struct StorageContractTests {
  @Test(arguments: StorageContract.checks, StorageBackend.here)
  func keepsTheContract(_ check: StorageContract.Check, _ backend: StorageBackend) async throws {
    let folder = try TemporaryFolder()
    let storage = try Storage.open(backend.location(in: folder), connections: 1)
    // With MACs, which a step that changes a row must renew.
    try await check.run(storage.authenticatingRows(with: .forTests))
    await storage.close()
  }

  @Test(
    "concurrency checks hold on eight independent connections",
    .enabled(if: PrivatePostgreSQL.isPossible),
    arguments: StorageContract.checks.filter { $0.name.contains("50 ") || $0.name.contains("at once") })
  func holdsOnSeveralConnections(_ check: StorageContract.Check) async throws {
    let folder = try TemporaryFolder()
    let storage = try Storage.open(StorageBackend.postgreSQL.location(in: folder), connections: 8)
    try await check.run(storage.authenticatingRows(with: .forTests))
    await storage.close()
  }

  /// The checks can fail: each fails on a closed storage.
  ///
  /// ``FaultyStorageTests`` has the checks that find each lost write.
  @Test func findsWhoDoesNotKeepIt() async throws {
    let folder = try TemporaryFolder()
    let storage = try Storage(.file(folder.path + "/signet.sqlite"))
    await storage.close()
    // The checks of closing pass on a closed storage, rightly.
    for check in StorageContract.checks where !check.name.contains("close") {
      await #expect(throws: (any Error).self, "\(check)") { try await check.run(storage) }
    }
  }
}

extension HMACKey {
  /// A key for MACs of rows.
  static let forTests = HMACKey(SecretBytes(copying: [UInt8](repeating: 7, count: 32)), .sha256)
}
