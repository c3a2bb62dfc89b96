import SignetCrypto
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite("Notices that wait for their servers")
struct NoticeTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
  }

  private func draft(_ text: String, notBefore: Int64 = 0) -> NoticeDraft {
    NoticeDraft(server: "bank-1", notBefore: notBefore, bytes: Array(text.utf8))
  }

  @Test("stored, due when it is time, put off, removed, and the same for the next process")
  func life() async throws {
    let first = try await vault.append(draft("one"))
    let second = try await vault.append(draft("two", notBefore: 100))
    #expect(first != second)
    let again = try fixture.open()
    #expect(try await again.notices(dueAt: 99).map(\.id) == [first])
    #expect(try await again.notices(dueAt: 100).map(\.id) == [first, second])
    try await again.postponeNotice(first, notBefore: 200)
    #expect(try await vault.notices(dueAt: 100).map(\.bytes) == [Array("two".utf8)])
    #expect(try await vault.notices().map(\.notBefore) == [200, 100])
    #expect(try await vault.notices().first?.server == "bank-1")
    try await vault.removeNotice(second)
    try await vault.removeNotice(second)
    try await vault.postponeNotice(second, notBefore: 0)
    #expect(try await again.notices().map(\.id) == [first])
  }

  @Test("a container is deleted and its notice stored in one step, which a crash cannot part")
  func deletion() async throws {
    let id = try await vault.addContainer(.sample())
    let failing = try fixture.open { (sql) throws(SQLiteFailure) in
      if sql.hasPrefix("INSERT INTO notice") { throw .diskFull(extendedCode: 13) }
    }
    await #expect(throws: VaultFailure.diskFull) {
      try await failing.deleteContainer(id, leaving: draft("gone"))
    }
    #expect(try await vault.sessionKey(of: id) == "session key")
    #expect(try await vault.notices().isEmpty)
    try await vault.deleteContainer(id, leaving: draft("gone"))
    #expect(try await fixture.open().notices().map(\.bytes) == [Array("gone".utf8)])
    await #expect(throws: VaultFailure.noSuchContainer(id)) {
      try await vault.deleteContainer(id, leaving: draft("twice"))
    }
    #expect(try await vault.notices().count == 1)
  }

  @Test(
    "one that was changed, put back or taken away is noticed, and can be removed",
    arguments: [
      "UPDATE notice SET bytes = x'00'", "UPDATE notice SET server = 'other'", "UPDATE notice SET due = 0",
      "DELETE FROM notice",
    ])
  func altered(_ sql: String) async throws {
    let id = try await vault.append(draft("one"))
    try await vault.postponeNotice(id, notBefore: 50)
    try fixture.rawDatabase().execute(script: sql)
    let failure = await #expect(throws: VaultFailure.self) { try await vault.notices() }
    #expect(failure == .altered(.notice(id)))
    try await vault.removeNotice(id)
    #expect(try await vault.notices().isEmpty)
    try fixture.rawDatabase().execute(
      script: "INSERT INTO notice VALUES (\(id), 'bank-1', 0, x'00')")
    await #expect(throws: VaultFailure.altered(.notice(id))) { try await vault.notices() }
  }

  @Test("what is too long, or too much, is refused")
  func bounds() async throws {
    let long = NoticeDraft(server: "s", notBefore: 0, bytes: [UInt8](repeating: 0, count: 1 << 20 + 1))
    let failure = await #expect(throws: VaultFailure.self) { try await vault.append(long) }
    guard case .invalidDraft? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }
}
