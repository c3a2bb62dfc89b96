import Signet
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct PasswordCacheTests {
  private static let password = "Signal 42 tower"

  /// A device whose container needs a password, and a pending transaction.
  private struct Bench {
    let server: InvitingServer
    let fixture: DeviceFixture
    let device: Device
    let container: Container
    let clock = VirtualTrustedClock()

    init(cache: PasswordCache = PasswordCache(isEnabled: true)) async throws {
      server = try await InvitingServer(
        .password(
          PasswordPolicy(minimumLength: 4, maximumLength: 40, cache: cache), .lock(limit: 3)))
      fixture = try DeviceFixture(server.transport, clock: clock)
      container = try await fixture.activate(server.invite(), password: PasswordCacheTests.password)
      device = fixture.device
    }

    /// Decides a new transaction of one of several relying parties, each of which may have four pending ones.
    func sign(password: String? = nil, for party: Int = 0) async throws {
      let asked = try await TransactionService(server.server.context).create(
        "Pay 12.50 to Bob", user: UserID("alice"), lifetime: nil, by: .key("\(party)"))
      let transaction = try #require(
        try await device.pendingTransactions(for: container).first { $0.id == asked.id })
      try await device.decide(
        transaction, .accepted, with: container, by: password.map { .password(secret($0)) })
    }

    func verify() async throws {
      try await device.verify(.password(secret(PasswordCacheTests.password)), for: container)
    }
  }

  @Test("a verified password is used for one signature")
  func once() async throws {
    let bench = try await Bench()
    await #expect(throws: SignetError.passwordRequired) { try await bench.sign() }
    try await bench.verify()
    #expect(bench.device.hasCachedPassword(for: bench.container))
    try await bench.sign()
    #expect(!bench.device.hasCachedPassword(for: bench.container))
    await #expect(throws: SignetError.passwordRequired) { try await bench.sign() }
    try await bench.sign(password: Self.password)
  }

  @Test("a signature with its own password and a code leave the cached password unused")
  func others() async throws {
    let bench = try await Bench()
    try await bench.verify()
    try await bench.sign(password: Self.password)
    await #expect(throws: SignetError.passwordRequired) {
      try await bench.device.oneTimePassword(for: bench.container)
    }
    #expect(bench.device.hasCachedPassword(for: bench.container))
    try await bench.sign()
  }

  @Test("time, sleep, a changed clock and a lock clear the cache")
  func ends() async throws {
    let bench = try await Bench()
    let ends: [@Sendable () -> Void] = [
      { bench.clock.advance(by: .seconds(30)) }, { bench.clock.sleep(for: .seconds(5)) },
      { bench.clock.adjustWallClock(by: 3600) },
      { bench.device.clearPasswordCache() }, { bench.device.clearPasswordCache(because: .screenLocked) },
    ]
    for (number, end) in ends.enumerated() {
      try await bench.verify()
      bench.clock.advance(by: .seconds(1))
      #expect(bench.device.hasCachedPassword(for: bench.container))
      end()
      #expect(!bench.device.hasCachedPassword(for: bench.container))
      await #expect(throws: SignetError.passwordRequired) { try await bench.sign(for: number % 2) }
    }
    try await bench.verify()
    bench.clock.advance(by: .seconds(29))
    try await bench.sign(for: 1)
  }

  @Test("a password that another process changes, or locks, signs nothing more")
  func changedElsewhere() async throws {
    let bench = try await Bench()
    let elsewhere = Device(vault: try bench.fixture.openVault())
    try await bench.verify()
    for _ in 0..<3 {
      await #expect(throws: SignetError.self) {
        try await elsewhere.verify(.password(secret("wrong one")), for: bench.container)
      }
    }
    await #expect(throws: SignetError.lockedOut) { try await bench.sign() }

    let other = try await Bench()
    try await other.verify()
    try await Device(vault: try other.fixture.openVault()).changePassword(
      of: other.container, from: secret(Self.password), to: secret("Another 42 tower"))
    await #expect(throws: SignetError.passwordRequired) { try await other.sign() }
    try await other.sign(password: "Another 42 tower")
  }

  @Test("without a cache policy a password is verified and not cached")
  func withoutCache() async throws {
    let bench = try await Bench(cache: .disabled)
    try await bench.verify()
    #expect(!bench.device.hasCachedPassword(for: bench.container))
  }

  @Test("a wrong password counts as an attempt, is not cached and keeps the earlier cached one")
  func wrong() async throws {
    let bench = try await Bench()
    try await bench.verify()
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await bench.device.verify(.password(secret("wrong one")), for: bench.container)
    }
    await #expect(throws: SignetError.passwordRequired) {
      try await bench.device.verify(nil, for: bench.container)
    }
    try await bench.sign()
    #expect(!bench.device.hasCachedPassword(for: bench.container))
  }

  @Test("with device protection only there is nothing to verify or cache")
  func deviceAlone() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    let container = try await fixture.activate(server.invite())
    try await fixture.device.verify(nil, for: container)
    #expect(!fixture.device.hasCachedPassword(for: container))
  }
}
