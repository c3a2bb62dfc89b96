import SignetCrypto
import SignetSQLite
import SignetVault
import Testing

@Suite("Pending notices to servers")
struct VaultNoticeTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
  }

  private func draft(_ text: String, notBefore: Int64 = 0) -> NoticeDraft {
    NoticeDraft(server: "bank-1", notBefore: notBefore, bytes: Array(text.utf8))
  }

  /// Deletes a container, which leaves a notice.
  private func leave(_ notice: NoticeDraft) async throws { try await leave([notice]) }

  /// Deletes a container, which leaves notices.
  private func leave(_ notices: [NoticeDraft]) async throws {
    let draft = ContainerDraft(
      attributes: .sample(), created: 1,
      domains: [DomainDraft(name: "session", protection: .device, records: [])])
    let id = try await vault.addContainer(draft)
    try await vault.deleteContainer(id, leaving: notices)
  }

  @Test("notices are stored, postponed and removed for all processes")
  func life() async throws {
    try await leave(draft("one"))
    try await leave(draft("two", notBefore: 100))
    let again = try fixture.open()
    let found = try await again.notices()
    #expect(found.map(\.bytes) == [Array("one".utf8), Array("two".utf8)])
    #expect(found.map(\.notBefore) == [0, 100])
    let (first, second) = (found[0].id, found[1].id)
    #expect(first != second)
    try await again.postponeNotice(first, notBefore: 200)
    #expect(try await vault.notices().map(\.notBefore) == [200, 100])
    #expect(try await vault.notices().first?.server == "bank-1")
    try await vault.removeNotice(second)
    try await vault.removeNotice(second)
    try await vault.postponeNotice(second, notBefore: 0)
    #expect(try await again.notices().map(\.id) == [first])
  }

  @Test("a container's deletion and its notice are one atomic step")
  func deletion() async throws {
    let id = try await vault.addContainer(.sample())
    let failing = try fixture.open { (sql) throws(SQLiteFailure) in
      if sql.hasPrefix("INSERT OR REPLACE INTO notice") { throw .diskFull(extendedCode: 13) }
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
    "an altered, rolled-back or removed notice is detected, and can be removed",
    arguments: [
      "UPDATE notice SET bytes = x'00'", "UPDATE notice SET server = 'other'", "UPDATE notice SET due = 0",
      "DELETE FROM notice",
    ])
  func altered(_ sql: String) async throws {
    try await leave(draft("one"))
    let id = try #require(try await vault.notices().first).id
    try await vault.postponeNotice(id, notBefore: 50)
    try fixture.rawDatabase().execute(script: sql)
    let failure = await #expect(throws: VaultFailure.self) { try await vault.notices() }
    #expect(failure == .altered(.notice(id)))
    try await vault.removeNotice(id)
    #expect(try await vault.notices().isEmpty)
    try fixture.rawDatabase().execute(
      script: "INSERT INTO notice VALUES (\(id), 'bank-1', 0, x'00')")
    await #expect(throws: VaultFailure.altered(.notice(id))) { try await vault.notices() }
    // It does not prevent the deletion of a container.
    try await leave(draft("two"))
    #expect(try await vault.notices().map(\.bytes) == [Array("two".utf8)])
  }

  @Test("notices that are too long or too many are refused")
  func bounds() async throws {
    func isRefused(_ notice: NoticeDraft) async throws {
      let failure = await #expect(throws: VaultFailure.self) { try await leave(notice) }
      guard case .invalidDraft? = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
    try await isRefused(
      NoticeDraft(server: "s", notBefore: 0, bytes: [UInt8](repeating: 0, count: 1 << 20 + 1)))
    // The container stays with its keys: its end must be reported, or be recorded as unreported.
    #expect(try await vault.containers(matching: .init(state: nil)).count == 1)
    try await leave((1...999).map { draft("\($0)") })
    try await leave(draft("1000"))
    try await isRefused(draft("one too many"))
    let all = try await vault.notices()
    #expect(all.count == 1000)
    try await vault.removeNotice(all[0].id)
    try await leave(draft("in its place"))
    #expect(try await vault.notices().count == 1000)
  }
}
