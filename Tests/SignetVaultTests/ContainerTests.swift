import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetVault
import Testing

@Suite("Containers: add, confirm, discard, list, rename, delete")
struct ContainerTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
  }

  @Test("a new container is unconfirmed, then active, and returns the stored data")
  func lifeCycle() async throws {
    let id = try await vault.addContainer(.sample())
    #expect(try await vault.containers().isEmpty)
    let draft = try #require(try await vault.containers(matching: StoredContainerFilter(state: nil)).first)
    #expect(draft.id == id)
    #expect(draft.state == .unconfirmed)
    #expect(draft.attributes == .sample())
    #expect(draft.created == 1_000)
    try await vault.confirmContainer(id)
    try await vault.confirmContainer(id)
    #expect(try await vault.containers().map(\.state) == [.active])
    #expect(try await vault.signingKey(of: id) == "signing key")
    #expect(try await vault.sessionKey(of: id) == "session key")
  }

  @Test("confirming replaces only the container of the same user, server and domain")
  func replacement() async throws {
    let old = try await vault.addContainer(.sample())
    try await vault.confirmContainer(old)
    var others: [LocalContainerID] = []
    for attributes in [
      ContainerAttributes.sample(user: "bob"), .sample(server: "login.example.org/shop"),
      .sample(server: "login.example.org:8443/bank"),
    ] {
      let id = try await vault.addContainer(.sample(attributes, created: 2_000))
      try await vault.confirmContainer(id)
      others.append(id)
    }
    let new = try await vault.addContainer(.sample(.sample(name: "New"), created: 3_000))
    #expect(try await vault.containers().map(\.id) == [old] + others, "nothing happens before confirmation")
    try await vault.confirmContainer(new)
    #expect(try await vault.containers().map(\.id) == others + [new])
    await #expect(throws: VaultFailure.noSuchContainer(old)) { try await vault.sessionKey(of: old) }
  }

  @Test("only an unconfirmed container can be discarded, with its secrets")
  func discard() async throws {
    let id = try await vault.addContainer(.sample())
    try await vault.discardContainer(id)
    try await vault.discardContainer(id)
    await #expect(throws: VaultFailure.noSuchContainer(id)) { try await vault.confirmContainer(id) }
    let active = try await vault.addContainer(.sample())
    try await vault.confirmContainer(active)
    try await vault.discardContainer(active)
    #expect(try await vault.containers().map(\.id) == [active])
    let raw = try fixture.rawDatabase()
    #expect(try raw.query("SELECT count(*) AS n FROM record").first?["n"] == 4)
    #expect(try raw.query("SELECT count(*) AS n FROM slot").first?["n"] == 2)
  }

  @Test("a deleted container leaves none of its sealed bytes in any file")
  func delete() async throws {
    let id = try await vault.addContainer(.sample())
    try await vault.confirmContainer(id)
    let sealed = try fixture.rawDatabase().query(
      "SELECT sealed AS bytes FROM record UNION ALL SELECT wrapped_key FROM slot UNION ALL SELECT sealed_secret FROM slot"
    ).map { try $0.blob("bytes") }
    #expect(sealed.count == 8)
    func occurrences() throws -> Int {
      let files = try ["", "-wal"].map {
        try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath + $0))
      }
      return sealed.count { bytes in files.contains { $0.range(of: Data(bytes)) != nil } }
    }
    #expect(try occurrences() == 8)
    try await vault.deleteContainer(id)
    #expect(try occurrences() == 0)
    await #expect(throws: VaultFailure.noSuchContainer(id)) { try await vault.deleteContainer(id) }
  }

  @Test("containers are filtered and listed by creation")
  func filters() async throws {
    for (user, server, created) in [
      ("carol", "b.example/x", 30), ("alice", "a.example/x", 10), ("alice", "b.example/x", 20),
    ] as [(String, String, Int64)] {
      let id = try await vault.addContainer(.sample(.sample(user: user, server: server), created: created))
      try await vault.confirmContainer(id)
    }
    #expect(try await vault.containers().map(\.created) == [10, 20, 30])
    #expect(try await vault.containers(matching: .init(userID: "alice")).map(\.created) == [10, 20])
    #expect(try await vault.containers(matching: .init(server: "b.example/x")).map(\.created) == [20, 30])
    #expect(
      try await vault.containers(matching: .init(userID: "carol", server: "a.example/x")).isEmpty)
    #expect(try await vault.containers(matching: .init(state: .unconfirmed)).isEmpty)
  }

  @Test("changed settings persist after reopening")
  func changes() async throws {
    let id = try await vault.addContainer(.sample())
    try await vault.renameContainer(id, to: "Häuschen 🏠")
    try await vault.setExtra([9], of: id)
    try await vault.setConnection(ServerTrust(), of: id)
    let again = try fixture.open()
    let attributes = try await again.container(id).attributes
    #expect(attributes.name == "Häuschen 🏠")
    #expect(attributes.extra == [9])
    #expect(attributes.connection == ServerTrust())
    #expect(attributes.userID == "alice")
    #expect(again.deviceID == vault.deviceID)
    #expect(again.keystoreKind == .software)
  }

  @Test("two vaults are two devices, and containers are not interchangeable")
  func twoVaults() async throws {
    let other = try VaultFixture()
    let otherVault = try other.open()
    #expect(otherVault.deviceID != vault.deviceID)
    #expect(vault.deviceID.description.count == 32)
    let id = try await vault.addContainer(.sample())
    #expect(LocalContainerID(id.description) == id)
    #expect(LocalContainerID("not an id") == nil)
    await #expect(throws: VaultFailure.noSuchContainer(id)) { try await otherVault.confirmContainer(id) }
  }

  @Test("invalid drafts are refused, and nothing is stored")
  func refusals() async throws {
    let record = RecordDraft(name: "r", secret: SharedSecretBox("x"))
    let domain = DomainDraft(name: "d", protection: .device, records: [record])
    func draft(_ domains: [DomainDraft], _ change: (inout ContainerAttributes) -> Void = { _ in })
      -> ContainerDraft
    {
      var attributes = ContainerAttributes.sample()
      change(&attributes)
      return ContainerDraft(attributes: attributes, created: 0, domains: domains)
    }
    func named(_ name: String) -> DomainDraft { DomainDraft(name: name, protection: .device, records: []) }
    func password(_ text: String, _ lock: LockPolicy = .none) -> DomainDraft {
      DomainDraft(name: "d", protection: .password(SharedSecretBox(text), lock), records: [])
    }
    for refused in [
      draft([]),
      draft([domain]) { $0.connection.pins = [[1]] },
      draft([domain]) { $0.userID = String(repeating: "x", count: 5000) },
      draft([domain]) { $0.extra = [UInt8](repeating: 0, count: (1 << 20) + 1) },
    ] {
      let failure = await #expect(throws: VaultFailure.self) { try await vault.addContainer(refused) }
      guard case .invalidDraft? = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
    }
    for name in ["", String(repeating: "x", count: 65), "caf\u{E9}", "two words", "line\n"] {
      await #expect(throws: VaultFailure.invalidName) { try await vault.addContainer(draft([named(name)])) }
      let record = RecordDraft(name: name, secret: record.secret)
      await #expect(throws: VaultFailure.invalidName) {
        try await vault.addContainer(
          draft([DomainDraft(name: "d", protection: .device, records: [record])]))
      }
    }
    await #expect(throws: VaultFailure.duplicateName("d")) {
      try await vault.addContainer(draft([domain, named("d")]))
    }
    await #expect(throws: VaultFailure.duplicateName("r")) {
      try await vault.addContainer(
        draft([DomainDraft(name: "d", protection: .device, records: [record, record])]))
    }
    for limit in [0, -1, 101] {
      await #expect(throws: VaultFailure.lockLimitOutOfRange(limit)) {
        try await vault.addContainer(draft([password("x", .lock(limit: limit))]))
      }
    }
    await #expect(throws: VaultFailure.unusablePassword(.empty)) {
      try await vault.addContainer(draft([password("")]))
    }
    await #expect(throws: VaultFailure.unusablePassword(.disallowedCharacter)) {
      try await vault.addContainer(draft([password("\u{7}")]))
    }
    #expect(try await vault.containers(matching: .init(state: nil)).isEmpty)
  }
}
