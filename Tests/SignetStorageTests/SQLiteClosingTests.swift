import Foundation
import SignetServerTesting
import SignetStorage
import SignetTestKit
import Testing

/// Closing keeps all acknowledged data, leaves no open file, and refuses further use.
@Suite(.timeLimit(.minutes(10))) struct SQLiteClosingTests {
  private static let event = AuditRecord.sample()

  @Test func keepsWhatWasAcknowledgedWhileItCloses() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let storage = try Storage(.file(path))
    let acknowledged = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          if number == 25 { await storage.close() }
          do throws(StorageFailure) {
            try await storage.append(Self.event)
            return true
          } catch {
            #expect(error == .closed)
            return false
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    // SQLite's own files are removed, so the connections were closed.
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["signet.sqlite"])
    let entries = try await Storage(.file(path)).auditEntries(after: 0, limit: 100)
    #expect(entries.count == acknowledged)
    #expect(acknowledged < 50)
  }

  @Test func refusesEverythingAfterwards() async throws {
    let folder = try TemporaryFolder()
    let storage = try Storage(.file(folder.path + "/signet.sqlite"))
    await storage.close()
    await storage.close()
    await #expect(throws: StorageFailure.closed) { try await storage.append(Self.event) }
    await #expect(throws: StorageFailure.closed) { try await storage.users() }
  }
}
