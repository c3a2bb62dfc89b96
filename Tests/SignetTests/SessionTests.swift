import Signet
import SignetCrypto
import SignetPolicy
import SignetServerTesting
import SignetTesting
import Synchronization
import Testing

import SignetVault

@Suite(.timeLimit(.minutes(10))) struct SessionTests {
  private static let password = "Signal 42 tower"
  private static let limits = SessionLimits(idleTimeout: .seconds(60), maximumAge: .seconds(600))

  private struct Bench {
    let server: InvitingServer
    let fixture: DeviceFixture
    let container: Container
    let clock = VirtualTrustedClock()
    let reasons = Reasons()

    init(password: String? = SessionTests.password, lock: LockPolicy = .lock(limit: 3)) async throws {
      let protection: ProtectionPolicy =
        try password.map { _ in
          .password(try PasswordPolicy(minimumLength: 4, maximumLength: 40), lock)
        } ?? .device
      server = try await InvitingServer(protection)
      fixture = try DeviceFixture(server.transport, clock: clock)
      container = try await fixture.activate(server.invite(), password: password)
    }

    func session(_ group: AppGroup = .standard) -> Session {
      Session(
        for: container, on: fixture.device, group: group, limits: SessionTests.limits,
        onLock: { [reasons] reason in reasons.add(reason) })
    }
  }

  private final class Holder: Sendable { let value = Mutex<Session?>(nil) }

  private final class Reasons: Sendable {
    private let list = Mutex<[LockReason]>([])
    var all: [LockReason] { list.withLock { $0 } }
    func add(_ reason: LockReason) { list.withLock { $0.append(reason) } }
  }

  @Test("a lock during password verification is not lost")
  func lockedWhileUnlocking() async throws {
    let bench = try await Bench()
    let place = bench.fixture.folder.file("device")
    let session = Holder()
    let vault = try Vault.forTests(place) { settings in
      settings.createIfMissing = false
      settings.derivation = PasswordDerivation { (password, salt, cost) throws(CryptoFailure) in
        session.value.withLock { $0 }?.lock(because: .screenLocked)
        return try PasswordDerivation.insecureForTests.derive(password, salt, cost)
      }
    }
    let made = Session(for: bench.container, on: Device(vault: vault), limits: Self.limits)
    session.value.withLock { $0 = made }
    let password = SharedSecretBox(SecretBytes(copying: Array(Self.password.utf8)))
    await #expect(throws: SignetError.appData(.locked(.screenLocked))) {
      try await made.unlock(by: .password(password))
    }
    #expect(made.state() != .unlocked)
    session.value.withLock { $0 = nil }
    try await made.unlock(by: .password(password))
    #expect(made.state() == .unlocked)
  }

  @Test("a password change or lock by another process ends the session and its keys")
  func changedElsewhere() async throws {
    let bench = try await Bench()
    let session = bench.session()
    let elsewhere = Device(vault: try bench.fixture.openVault())
    try await session.unlock(by: .password(secret(Self.password)))
    let key = try await session.newTextKey(label: "notes")
    try await elsewhere.changePassword(
      of: bench.container, from: secret(Self.password), to: secret("Another 42 tower"))
    await #expect(throws: SignetError.appData(.locked(.changedElsewhere))) {
      try await session.newTextKey(label: "notes")
    }
    #expect(session.state() == .locked(.changedElsewhere))
    #expect(throws: AppDataFailure.locked(.changedElsewhere)) { try key.withKey { _ in } }
    try await session.unlock(by: .password(secret("Another 42 tower")))
    for _ in 0..<3 {
      await #expect(throws: SignetError.self) {
        try await elsewhere.verify(.password(secret("wrong")), for: bench.container)
      }
    }
    await #expect(throws: SignetError.lockedOut) { try await session.newTextKey(label: "notes") }
    #expect(session.state() == .locked(.changedElsewhere))
    #expect(bench.reasons.all == [.changedElsewhere, .changedElsewhere])
  }

  @Test("app data is available only while the session is unlocked")
  func lifeCycle() async throws {
    let bench = try await Bench()
    let session = bench.session()
    #expect(session.state() == .locked(.notUnlocked))
    await #expect(throws: SignetError.appData(.locked(.notUnlocked))) {
      try await session.encrypt([1, 2, 3], label: "notes")
    }
    await #expect(throws: SignetError.passwordRequired) { try await session.unlock() }
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await session.unlock(by: .password(secret("wrong")))
    }
    try await session.unlock(by: .password(secret(Self.password)))
    #expect(session.state() == .unlocked)
    let sealed = try await session.encrypt([1, 2, 3], label: "notes")
    #expect(try await session.decrypt(sealed, label: "notes") == [1, 2, 3])
    await #expect(throws: SignetError.appData(.damaged)) {
      try await session.decrypt(sealed, label: "other")
    }
    await #expect(throws: SignetError.appData(.invalidLabel)) { try await session.encrypt([], label: "") }
    session.lock()
    #expect(session.state() == .locked(.requested))
    await #expect(throws: SignetError.appData(.locked(.requested))) {
      try await session.decrypt(sealed, label: "notes")
    }
    try await session.unlock(by: .password(secret(Self.password)))
    #expect(try await session.decrypt(sealed, label: "notes") == [1, 2, 3])
    #expect(bench.reasons.all == [.requested])
  }

  @Test("an unlocked session gives no code or signature without the password")
  func worthNoKey() async throws {
    let bench = try await Bench()
    let device = bench.fixture.device
    let session = bench.session()
    try await session.unlock(by: .password(secret(Self.password)))
    _ = try await bench.server.server.createTransaction("Pay 1 EUR", for: bench.container.user)
    let waiting = try #require(try await device.pendingTransactions(for: bench.container).first)
    await #expect(throws: SignetError.passwordRequired) {
      try await device.oneTimePassword(for: bench.container)
    }
    await #expect(throws: SignetError.passwordRequired) {
      try await device.decide(waiting, .accepted, with: bench.container)
    }
    #expect(session.state() == .unlocked)
    let password = secret(Self.password)
    try await device.decide(waiting, .accepted, with: bench.container, by: .password(password))
    await bench.server.server.stop()
  }

  @Test("data of one session are readable by others of its group, not of another group")
  func groups() async throws {
    let bench = try await Bench()
    let office = try #require(AppGroup("office"))
    let first = bench.session(office)
    try await first.unlock(by: .password(secret(Self.password)))
    let sealed = try await first.encrypt([7], label: "notes")
    first.lock()
    let second = bench.session(office)
    try await second.unlock(by: .password(secret(Self.password)))
    #expect(try await second.decrypt(sealed, label: "notes") == [7])
    let other = bench.session()
    try await other.unlock(by: .password(secret(Self.password)))
    await #expect(throws: SignetError.appData(.damaged)) { try await other.decrypt(sealed, label: "notes") }
    #expect(AppGroup("") == nil)
    #expect(AppGroup("two words") == nil)
  }

  @Test("idleness and age lock a session; a new authentication restarts both")
  func limits() async throws {
    let bench = try await Bench()
    let session = bench.session()
    try await session.unlock(by: .password(secret(Self.password)))
    bench.clock.advance(by: .seconds(59))
    _ = try await session.encrypt([], label: "notes")
    bench.clock.advance(by: .seconds(60))
    #expect(session.state() == .locked(.idle))
    try await session.unlock(by: .password(secret(Self.password)))
    for _ in 0..<11 {
      bench.clock.advance(by: .seconds(50))
      _ = try await session.encrypt([], label: "notes")
    }
    try await session.unlock(by: .password(secret(Self.password)))
    bench.clock.advance(by: .seconds(50))
    #expect(session.state() == .unlocked)
    for _ in 0..<11 {
      _ = try await session.encrypt([], label: "notes")
      bench.clock.advance(by: .seconds(50))
    }
    await #expect(throws: SignetError.appData(.locked(.tooOld))) {
      try await session.encrypt([], label: "notes")
    }
    #expect(bench.reasons.all == [.idle, .tooOld])
  }

  @Test("a running stream ends with the session", arguments: [LockReason.suspended, .screenLocked])
  func streams(reason: LockReason) async throws {
    let bench = try await Bench()
    let session = bench.session()
    try await session.unlock(by: .password(secret(Self.password)))
    var sealer = try await session.encryptor(label: "film")
    let text = [UInt8](repeating: 1, count: 200_000)
    let begin = try sealer.update(text)
    #expect(begin.count > AppDataFormat.chunkByteCount)
    var opener = try await session.decryptor(label: "film", header: begin)
    session.lock(because: reason)
    #expect(throws: AppDataFailure.locked(reason)) { try sealer.update(text) }
    #expect(throws: AppDataFailure.locked(reason)) {
      try opener.update(Array(begin.dropFirst(AppDataFormat.headerByteCount)))
    }
  }

  @Test("a released session wipes its keys")
  func letGo() async throws {
    let bench = try await Bench()
    var session: Session? = bench.session()
    try await session?.unlock(by: .password(secret(Self.password)))
    let key = try #require(try await session?.newTextKey(label: "notes"))
    session = nil
    var sealer = AppDataSealer(key)
    #expect(throws: AppDataFailure.locked(.ending)) {
      try sealer.update([UInt8](repeating: 0, count: AppDataFormat.chunkByteCount + 1))
    }
  }

  @Test(
    "a container with a silent lock holds no app data, which would reveal a correct password")
  func silent() async throws {
    let bench = try await Bench(lock: .silent)
    for password in [Self.password, "another one"] {
      await #expect(throws: SignetError.appData(.silentLock)) {
        try await bench.session().unlock(by: .password(secret(password)))
      }
    }
  }

  @Test("a session without authentication works and reports its weakness")
  func withoutAuthentication() async throws {
    let bench = try await Bench(password: nil)
    let session = bench.session()
    await #expect(throws: SignetError.appData(.locked(.notUnlocked))) {
      try await session.encrypt([1], label: "notes")
    }
    try await session.unlock()
    let sealed = try await session.encrypt([1], label: "notes")
    #expect(try await session.decrypt(sealed, label: "notes") == [1])
    #expect(bench.fixture.device.weaknesses(of: bench.container) == [.noAuthentication, .softwareKeystore])
    let other = try await Bench()
    #expect(other.fixture.device.weaknesses(of: other.container) == [.softwareKeystore])
    #expect(ProtectionWeakness.allCases.allSatisfy { !$0.description.isEmpty })
  }
}
