import Signet
import SignetCrypto
import SignetSQLite
import SignetTestKit
import SignetTesting
import SignetVault
import Testing

@Suite("Imported accounts", .timeLimit(.minutes(10))) struct AccountsTests {
  static let secret = Array("12345678901234567890".utf8)

  static func box(_ text: String) -> SharedSecretBox {
    SharedSecretBox(SecretBytes(copying: Array(text.utf8)))
  }

  private static func account(
    _ issuer: String, _ name: String, _ kind: OTPAccount.Kind, secret: [UInt8] = secret, digits: Int = 6
  ) throws -> OTPAccount {
    try OTPAccount(
      issuer: issuer, name: name, kind: kind, digits: digits,
      secret: SharedSecretBox(SecretBytes(copying: secret)),
      foreign: [ForeignMember(format: .aegis, name: "note", value: "\"kept\"")])
  }

  struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse { throw .cancelled }
  }

  /// A device in a folder, with a clock.
  struct Bench {
    let folder: TemporaryFolder
    let clock: VirtualClock
    let trusted = VirtualTrustedClock()

    init(now: Int64 = 59) throws {
      folder = try TemporaryFolder()
      clock = VirtualClock(now)
    }

    /// Opens the device like another process.
    func device() throws -> Device {
      let path = folder.path + "/device"
      let vault = try Vault.forTests(path, clock: trusted)
      return Device(
        vault: vault, clock: clock, passwordChecks: PasswordChecks(dictionary: NoDictionary())
      ) { _ throws(TransportFailure) in NoTransport() }
    }
  }

  struct NoDictionary: PasswordDictionary {
    func contains(utf8 password: [UInt8]) async throws(PasswordDictionaryFailure) -> Bool { false }
  }

  @Test("imported accounts are listed, give the standards' codes and are no containers")
  func codes() async throws {
    let bench = try Bench()
    let device = try bench.device()
    #expect(try await device.accounts.list().isEmpty)
    let result = try await device.accounts.add([
      try Self.account("Time", "a", .totp(period: 30), digits: 8),
      try Self.account("Count", "b", .hotp(counter: 0)),
    ])
    #expect(result.added.map(\.description) == ["Time (a)", "Count (b)"] && result.duplicates.isEmpty)
    let listed = try await bench.device().accounts.list()
    #expect(listed.map(\.issuer) == ["Count", "Time"] && listed.map(\.isTimed) == [false, true])
    #expect(listed.allSatisfy { $0.isExportable && $0.imported == 59 })
    // RFC 6238 appendix B, RFC 4226 appendix D.
    let timed = try await device.accounts.code(of: result.added[0].id)
    #expect(timed.code == "94287082" && timed.counter == 1 && timed.validity == 30..<60)
    var codes: [String] = []
    for _ in 0..<3 { codes.append(try await bench.device().accounts.code(of: result.added[1].id).code) }
    #expect(codes == ["755224", "287082", "359152"])
    #expect(try await device.containers().isEmpty)
    #expect(try await device.unconfirmedContainers().isEmpty)
  }

  @Test("fifty concurrent requests each get their own code")
  func oncePerCode() async throws {
    let bench = try Bench()
    let id = try await bench.device().accounts.add([try Self.account("A", "a", .hotp(counter: 5))]).added[0]
      .id
    let devices = try (0..<5).map { _ in try bench.device() }
    let counters = try await withThrowingTaskGroup(of: UInt64.self) { group in
      for number in 0..<50 {
        let device = devices[number % devices.count]
        group.addTask { try await device.accounts.code(of: id).counter }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counters.sorted() == Array(5..<55))
    let exported = try await bench.device().accounts.export().accounts
    #expect(exported.map(\.kind) == [.hotp(counter: 55)])
  }

  @Test("an existing account is named and not added again; another secret is another account")
  func duplicates() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let account = try Self.account("A", "a", .totp(period: 30))
    let first = try await device.accounts.add([account, account])
    #expect(first.added.count == 1 && first.duplicates.map(\.id) == [first.added[0].id])
    let renamed = try Self.account("Other", "name", .totp(period: 30))
    #expect(try await device.accounts.add([renamed]).duplicates.map(\.issuer) == ["A"])
    let other = try Self.account("A", "a", .totp(period: 30), secret: [1, 2, 3])
    #expect(try await device.accounts.add([other]).added.count == 1)
    #expect(try await device.accounts.list().count == 2)
  }

  @Test("the maximum number of accounts is compared and stored in one step")
  func many() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let accounts = try (0..<2000).map { number in
      try Self.account(
        "A\(number)", "a", number.isMultiple(of: 2) ? .totp(period: 30) : .hotp(counter: 1),
        secret: [UInt8(number / 8), 1])
    }
    // Of eight in a row, those of one kind make the same codes.
    let first = try await device.accounts.add(accounts)
    #expect(first.added.count == 500 && first.duplicates.count == 1500)
    #expect(try await bench.device().accounts.add(accounts).duplicates.count == 2000)
    #expect(try await bench.device().accounts.export().accounts.count == 500)
  }

  @Test("a record that no version writes is damaged, one of a later version is too new")
  func records() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let id = try await device.accounts.add([try Self.account("A", "a", .totp(period: 30))]).added[0].id
    let path = bench.folder.path + "/device"
    let vault = try Vault.forTests(path)
    let container = try #require(try await vault.accountsContainer())
    func write(_ bytes: [UInt8]) async throws {
      let open = try await vault.open(Vault.accountsDomain, of: container, with: .device)
      try await vault.changeRecords(of: open) { (records) throws(VaultFailure) in
        try records.set("account-\(id)", to: SecretBytes(copying: bytes))
      }
    }
    let json =
      #"{"issuer":"A","name":"a","type":"ocra","suite":"OCRA-1:HOTP-SHA1-6:C-QN08","algorithm":"SHA1","#
      + #""digits":6,"exportable":true,"imported":1}"#
    let challenge = [0, 0, 0, UInt8(json.utf8.count)] + Array(json.utf8) + [7]
    // The last two: OCRA in version 1, which lacks it, and a suite without its counter.
    for damaged in [
      [0], [1], [2], [1, 0, 0, 0, 9, 1], [1, 0, 0, 0, 2] + Array("{}".utf8) + [1, 2],
      [2, 0, 0, 0, 2] + Array("{}".utf8) + [1, 2], [1] + challenge, [2] + challenge,
    ] as [[UInt8]] {
      try await write(damaged)
      await #expect(throws: SignetError.vault(.damaged)) { try await bench.device().accounts.list() }
    }
    try await write([4, 1, 1])
    await #expect(throws: SignetError.vault(.tooNew(found: 4, supported: 3))) {
      try await bench.device().accounts.list()
    }
    try await device.accounts.delete(id)
    #expect(try await device.accounts.list().isEmpty)
  }

  @Test("exports contain all imported data; accounts that may not be exported are left out")
  func export() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let first = try await device.accounts.add([try Self.account("A", "a", .totp(period: 60))])
    let second = try await device.accounts.add(
      [try Self.account("B", "b", .hotp(counter: 9), secret: [9])], exportable: false)
    let (accounts, refused) = try await device.accounts.export()
    #expect(accounts.map(\.description) == ["A (a)"] && refused.map(\.id) == second.added.map(\.id))
    #expect(accounts[0].kind == .totp(period: 60) && accounts[0].foreign.map(\.name) == ["note"])
    #expect(accounts[0].secret.withSecret { $0.insecureCopy() } == Self.secret)
    #expect(try await device.accounts.export([first.added[0].id]).refused.isEmpty)
    let unknown = try #require(Account.ID(String(repeating: "0", count: 32)))
    await #expect(throws: SignetError.noSuchAccount) { try await device.accounts.export([unknown]) }
  }

  @Test("renamed and deleted")
  func renamedAndDeleted() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let id = try await device.accounts.add([try Self.account("A", "a", .hotp(counter: 0))]).added[0].id
    #expect(try await device.accounts.rename(id, name: "b").description == "A (b)")
    #expect(try await device.accounts.rename(id, issuer: "").description == "b")
    await #expect(throws: SignetError.interchange(.missing("issuer and account"))) {
      try await device.accounts.rename(id, name: "")
    }
    #expect(try await device.accounts.code(of: id).code == "755224")
    try await device.accounts.delete(id)
    #expect(try await device.accounts.list().isEmpty)
    await #expect(throws: SignetError.noSuchAccount) { try await device.accounts.delete(id) }
    await #expect(throws: SignetError.noSuchAccount) { _ = try await device.accounts.code(of: id) }
    await #expect(throws: SignetError.noSuchAccount) { try await device.accounts.rename(id, name: "c") }
  }

  @Test("a password protects accounts like containers; wrong ones cause waits and never erase")
  func password() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let id = try await device.accounts.add([try Self.account("A", "a", .totp(period: 30))]).added[0].id
    await #expect(throws: SignetError.self) { try await device.accounts.setPassword(Self.box("short")) }
    try await device.accounts.setPassword(Self.box("correct horse"))
    #expect(try await device.accounts.havePassword())
    await #expect(throws: SignetError.passwordRequired) { try await device.accounts.list() }
    await #expect(throws: SignetError.passwordRequired) { _ = try await device.accounts.code(of: id) }
    #expect(try await device.accounts.code(of: id, by: Self.box("correct horse")).code.count == 6)
    for _ in 0..<20 {
      await #expect(throws: SignetError.wrongPassword(remaining: nil)) {
        try await device.accounts.list(by: Self.box("wrong"))
      }
      await #expect(throws: SignetError.self) {
        try await device.accounts.list(by: Self.box("correct horse"))
      }
      bench.trusted.advance(by: .seconds(3600))
    }
    #expect(try await device.accounts.list(by: Self.box("correct horse")).count == 1)
    try await device.accounts.setPassword(Self.box("another horse"), by: Self.box("correct horse"))
    try await device.accounts.setPassword(nil, by: Self.box("another horse"))
    #expect(try await bench.device().accounts.list().map(\.id) == [id])
  }

  @Test("all accounts can be deleted without the password; new ones then need none")
  func deletedAll() async throws {
    let bench = try Bench()
    let device = try bench.device()
    try await device.accounts.deleteAll()
    let account = try Self.account("A", "a", .totp(period: 30))
    _ = try await device.accounts.add([account])
    try await device.accounts.setPassword(Self.box("correct horse"))
    try await device.accounts.deleteAll()
    #expect(try await device.accounts.list().isEmpty)
    #expect(try await bench.device().accounts.add([account]).added.count == 1)
  }

  @Test("a container of imported accounts is recognised as such")
  func place() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let other = try #require(LocalContainerID(String(repeating: "0", count: 32)))
    #expect(try await !device.accounts.areStored(in: other))
    _ = try await device.accounts.add([try Self.account("A", "a", .totp(period: 30))])
    let path = bench.folder.path + "/device"
    let vault = try Vault.forTests(path)
    let own = try #require(try await vault.accountsContainer())
    #expect(try await device.accounts.areStored(in: own))
    #expect(try await !device.accounts.areStored(in: other))
  }

  @Test("an altered account is refused and can be deleted")
  func altered() async throws {
    let bench = try Bench()
    let device = try bench.device()
    _ = try await device.accounts.add([try Self.account("A", "a", .totp(period: 30))])
    let database = try Database(path: bench.folder.path + "/device/vault.sqlite", mode: .readWrite)
    try database.execute("UPDATE container SET state = 1")
    let failure = await #expect(throws: SignetError.self) { try await device.accounts.list() }
    guard case .vault(.altered(.container(let id?))) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    try await device.deleteContainer(id)
    #expect(try await device.accounts.list().isEmpty)
    // A container row that was removed from the database does not count as absent either.
    _ = try await device.accounts.add([try Self.account("A", "a", .totp(period: 30))])
    try database.execute("DELETE FROM container")
    await #expect(throws: SignetError.self) { try await device.accounts.list() }
    await #expect(throws: SignetError.self) {
      try await device.accounts.add([try Self.account("B", "b", .totp(period: 30))])
    }
  }

  @Test("a password can be set before there are any, and a reset erases them")
  func resets() async throws {
    let bench = try Bench()
    let device = try bench.device()
    try await device.accounts.setPassword(Self.box("correct horse"))
    await #expect(throws: SignetError.passwordRequired) {
      try await device.accounts.add([try Self.account("A", "a", .totp(period: 30))])
    }
    let added = try await device.accounts.add(
      [try Self.account("A", "a", .totp(period: 30))], by: Self.box("correct horse"))
    #expect(added.added.count == 1)
    let report = try await device.reset()
    #expect(report.isErased && report.undeliverable.isEmpty)
    #expect(try await bench.device().accounts.list().isEmpty)
  }
}
