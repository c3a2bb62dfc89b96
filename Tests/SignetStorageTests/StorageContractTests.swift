import SignetStorage
import SignetServerTesting
import PostgreSQLFixture
import SignetTestKit
import Testing

/// Storage keeps the contract in both databases.
@Suite(.timeLimit(.minutes(10))) struct StorageContractTests {
  @Test(arguments: StorageContract.checks, StorageBackend.here)
  func keepsTheContract(_ check: StorageContract.Check, _ backend: StorageBackend) async throws {
    let folder = try TemporaryFolder()
    let storage = try Storage.open(backend.location(in: folder), connections: 4)
    try await check.run(storage)
    await storage.close()
  }

  /// The checks can fail: on a storage that is closed each does.
  ///
  /// Which of them find which lost write is in ``FaultyStorageTests``.
  @Test func findsWhoDoesNotKeepIt() async throws {
    let folder = try TemporaryFolder()
    let storage = try Storage(.file(folder.path + "/signet.sqlite"))
    await storage.close()
    // The check of closing is content with a closed storage, rightly.
    for check in StorageContract.checks where !check.name.contains("close") {
      await #expect(throws: (any Error).self, "\(check)") { try await check.run(storage) }
    }
  }
}
