import SignetStorage
import SignetServerTesting
import SignetTestKit
import Testing

/// The SQLite back end keeps the contract.
@Suite(.timeLimit(.minutes(10))) struct StorageContractTests {
  @Test(arguments: StorageContract.checks)
  func keepsTheContract(_ check: StorageContract.Check) async throws {
    let folder = try TemporaryFolder()
    let storage = try SQLiteStorage(path: folder.path + "/signet.sqlite")
    try await check.run(storage)
    await storage.close()
  }

  /// The checks can fail: on a storage that is closed each does.
  ///
  /// Which of them find which lost write is in ``FaultyStorageTests``.
  @Test func findsWhoDoesNotKeepIt() async throws {
    let folder = try TemporaryFolder()
    let storage = try SQLiteStorage(path: folder.path + "/signet.sqlite")
    await storage.close()
    // The check of closing is content with a closed storage, rightly.
    for check in StorageContract.checks where !check.name.contains("close") {
      await #expect(throws: (any Error).self, "\(check)") { try await check.run(storage) }
    }
  }
}
