import Signet
import SignetCrypto
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import SignetVault
import Testing

@Suite("Password lifecycle: change, expiry, recovery, erasure, silent lock", .timeLimit(.minutes(10)))
struct PasswordLifecycleTests {
  private static let password = "Signal 42 tower"

  /// A device with test clocks, and an activated container.
  private struct Bench {
    let server: InvitingServer
    let folder: TemporaryFolder
    let device: Device
    let container: Container

    init(
      _ policy: PasswordPolicy, _ lock: LockPolicy, clock: VirtualClock = VirtualClock(SystemWallClock().now)
    ) async throws {
      server = try await InvitingServer(.password(policy, lock))
      folder = try TemporaryFolder()
      let path = folder.file("device")
      let vault = try Vault.forTests(path, clock: VirtualTrustedClock(wallSeconds: clock.now))
      let transport = server.transport
      device = Device(vault: vault, clock: clock) { _ throws(TransportFailure) in transport }
      container = try await device.createContainer(
        ContainerInitialization(code: server.invite()),
        handler: ScriptedActivation(password: PasswordLifecycleTests.password))
    }

    func code(_ password: String) async throws -> String {
      try await device.oneTimePassword(for: container, by: .password(secret(password))).code
    }
  }

  @Test("an expired password is refused until it is changed")
  func expiry() async throws {
    let clock = VirtualClock(SystemWallClock().now)
    let bench = try await Bench(
      PasswordPolicy(minimumLength: 4, maximumLength: 40, age: PasswordAge(maximumDays: 2)), .lock(limit: 3),
      clock: clock)
    _ = try await bench.code(Self.password)
    clock.advance(by: 2 * 86_400)
    await #expect(throws: SignetError.passwordExpired) { try await bench.code(Self.password) }
    #expect(SignetError.passwordExpired.number == 103)
  }

  @Test("the earliest time of a password change is known before a new one is typed")
  func earliestChange() async throws {
    let clock = VirtualClock(SystemWallClock().now)
    let bench = try await Bench(
      PasswordPolicy(minimumLength: 4, maximumLength: 40, age: PasswordAge(minimumDays: 2)), .lock(limit: 3),
      clock: clock)
    let (device, container) = (bench.device, bench.container)
    #expect(
      try await device.earliestPasswordChange(of: container) == nil, "the first one may be changed at once")
    #expect(
      try await device.changePassword(
        of: container, from: secret(Self.password), to: secret("Second 42 tower")) == .done)
    let earliest = clock.now + 2 * 86_400
    #expect(try await device.earliestPasswordChange(of: container) == earliest)
    await #expect(throws: SignetError.passwordTooYoung(until: earliest)) {
      try await device.changePassword(
        of: container, from: secret("Second 42 tower"), to: secret("Third 42 tower"))
    }
    clock.advance(by: 2 * 86_400)
    #expect(try await device.earliestPasswordChange(of: container) == nil)
    await bench.server.server.stop()
  }

  @Test("password change, history and refusals map to SDK errors")
  func change() async throws {
    let bench = try await Bench(
      PasswordPolicy(minimumLength: 4, maximumLength: 40, maximumHistory: 2), .coolDown(waits: [60]))
    let device = bench.device
    let container = bench.container
    try await device.changePassword(of: container, from: secret(Self.password), to: secret("Second 42 tower"))
    await #expect(throws: SignetError.passwordUsedBefore(within: 2)) {
      try await device.changePassword(
        of: container, from: secret("Second 42 tower"), to: secret(Self.password))
    }
    await #expect(throws: SignetError.passwordRefused([.tooShort(minimum: 4)])) {
      try await device.changePassword(of: container, from: secret("Second 42 tower"), to: secret("x"))
    }
    let code = try await device.makeRecoveryCode(for: container, password: secret("Second 42 tower"))
    await #expect(throws: SignetError.wrongPassword(remaining: 1)) { try await bench.code(Self.password) }
    await #expect(throws: SignetError.waiting(.seconds(60), remaining: 1)) {
      try await bench.code("Second 42 tower")
    }
    try await device.resetPassword(of: container, with: code, to: secret("Third 42 tower"))
    #expect(try await bench.code("Third 42 tower").count == 6)
    await #expect(throws: SignetError.wrongRecoveryCode) {
      try await device.resetPassword(
        of: container, with: RecoveryCode("0000-0000-0000-0000-0000-0000-000"), to: secret("Fourth 42 tower"))
    }
  }

  @Test("erasure at the limit is reported by the SDK")
  func wiped() async throws {
    let bench = try await Bench(
      PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 1, atLimit: .wipe))
    for _ in 0..<2 { await #expect(throws: SignetError.wiped) { try await bench.code("no") } }
  }

  @Test("under a silent lock a wrong password gives a code and a signature that the server refuses")
  func silent() async throws {
    let bench = try await Bench(PasswordPolicy(minimumLength: 4, maximumLength: 40), .silent)
    let right = try await bench.code(Self.password)
    let wrong = try await bench.code("Signal 43 tower")
    #expect(wrong.count == right.count)
    let asked = try await TransactionService(bench.server.server.context).create(
      "Pay 12.50 to Bob", user: UserID("alice"), lifetime: nil, by: .local)
    let transaction = try #require(
      try await bench.device.pendingTransactions(for: bench.container).first { $0.id == asked.id })
    await #expect(throws: SignetError.self) {
      try await bench.device.decide(
        transaction, .accepted, with: bench.container, by: .password(secret("Signal 43 tower")))
    }
    try await bench.device.decide(
      transaction, .accepted, with: bench.container, by: .password(secret(Self.password)))
  }

  @Test(
    "under a silent lock a wrong password gives wrong digits, which the server refuses and counts"
  )
  func silentTyped() async throws {
    let bench = try await Bench(PasswordPolicy(minimumLength: 4, maximumLength: 40), .silent)
    let context = bench.server.server.context
    let transactions = TransactionService(context)
    let order = TransactionDraft(
      .text("Pay 12.50 to Bob"), from: "Example Bank", user: UserID("alice"), typedFields: [])
    let id = try await transactions.create(order, by: .local).record.id
    let approval = try TypedApproval(challenge: await transactions.typed(id).challenge)
    func answer(_ password: String) async throws {
      let digits = try await bench.device.typedAnswer(
        to: approval, with: bench.container, by: .password(secret(password)))
      try await transactions.answer(.typed(digits), to: id, by: .init(.local))
    }
    await #expect(throws: Problem.self) { try await answer("Signal 43 tower") }
    let credential = try await context.storage.credential(ID(of: bench.container.serverContainerID))
    #expect(credential?.failures == 1)
    try await answer(Self.password)
    #expect(try await transactions.find(id).0.decision?.isTyped == true)
  }
}
