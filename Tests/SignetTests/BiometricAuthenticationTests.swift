import Signet
import SignetCrypto
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

import enum SignetPolicy.LockPolicy
import struct SignetPolicy.PasswordAge
import enum SignetPolicy.ProtectionPolicy
import struct SignetPolicy.PasswordCache
import struct SignetPolicy.PasswordPolicy

/// A device with simulated gates, and a container under a policy.
private struct Bench {
  static let password = "Signal 42 tower"

  let server: InvitingServer
  let fixture: DeviceFixture
  let device: Device
  let container: Container
  let sensor: SimulatedBiometrics
  let passcode: SimulatedPasscode
  let clock: VirtualClock

  init(
    _ protection: (PasswordPolicy, LockPolicy) -> ProtectionPolicy,
    lock: LockPolicy = .lock(limit: 3), cache: PasswordCache = .disabled, age: PasswordAge = .unlimited,
    sensor: SimulatedBiometrics = SimulatedBiometrics(),
    passcode: SimulatedPasscode = SimulatedPasscode("1234")
  ) async throws {
    let policy = try PasswordPolicy(minimumLength: 4, maximumLength: 40, age: age, cache: cache)
    server = try await InvitingServer(protection(policy, lock))
    fixture = try DeviceFixture(server.transport)
    container = try await fixture.activate(server.invite(), password: Bench.password)
    let transport = server.transport
    (self.sensor, self.passcode) = (sensor, passcode)
    clock = VirtualClock(SystemWallClock().now)
    device = Device(
      vault: fixture.vault, clock: clock, biometrics: sensor, passcode: passcode
    ) { _ throws(TransportFailure) in transport }
  }

  static let finger = Authentication.biometrics(reason: "Sign in")

  func code(by authentication: Authentication?) async throws -> String {
    try await device.oneTimePassword(for: container, by: authentication).code
  }

  func enableBiometrics(_ password: String = Bench.password) async throws {
    try await device.enableBiometrics(for: container, password: secret(password))
  }

  func enablePasscode(_ password: String = Bench.password) async throws {
    try await device.enablePasscode(for: container, password: secret(password))
  }

  func byPasscode(_ answer: String?) -> Authentication {
    .passcode(reason: "Sign in", conversation: ScriptedPasscodeConversation(answer))
  }

  func stop() async { await server.server.stop() }

  /// Decides a new transaction of one of several relying parties, each of which may have four pending ones.
  func sign(by authentication: Authentication?, for party: Int = 0) async throws {
    let asked = try await TransactionService(server.server.context).create(
      "Pay 12.50 to Bob", user: UserID("alice"), lifetime: nil, by: .key("\(party)"))
    let transaction = try #require(
      try await device.pendingTransactions(for: container).first { $0.id == asked.id })
    try await device.decide(transaction, .accepted, with: container, by: authentication)
  }
}

@Suite("Biometrics in the SDK", .timeLimit(.minutes(10)))
struct BiometricAuthenticationTests {
  @Test("until enabled only the password works; then a finger replaces it everywhere")
  func everyOperation() async throws {
    let bench = try await Bench({ .biometricOrPassword($0, $1) }, cache: PasswordCache(isEnabled: true))
    #expect(try await bench.device.biometricStatus(for: bench.container) == .notEnabled)
    await #expect(throws: SignetError.unlockMethodNotEnabled(.biometrics)) {
      try await bench.code(by: Bench.finger)
    }
    #expect(bench.sensor.reasons.isEmpty)
    try await bench.enableBiometrics()
    #expect(try await bench.device.biometricStatus(for: bench.container) == .enabled)

    #expect(try await bench.code(by: Bench.finger) == bench.code(by: .password(secret(Bench.password))))
    try await bench.sign(by: Bench.finger)
    let session = Session(for: bench.container, on: bench.device)
    try await session.unlock(by: Bench.finger)
    let sealed = try await session.encrypt([1, 2, 3], label: "notes")
    session.lock()
    try await session.unlock(by: .password(secret(Bench.password)))
    #expect(try await session.decrypt(sealed, label: "notes") == [1, 2, 3])
    try await bench.device.verify(Bench.finger, for: bench.container)
    try await bench.sign(by: nil)
    #expect(bench.sensor.reasons == Array(repeating: "Sign in", count: 4))
    await #expect(throws: SignetError.passwordRequired) { try await bench.sign(by: nil) }
    await bench.stop()
  }

  @Test("prompts for the user are passed on")
  func hints() async throws {
    let bench = try await Bench({ .biometricOrPassword($0, $1) })
    try await bench.enableBiometrics()
    try await confirmation { told in
      _ = try await bench.code(
        by: .biometrics(reason: "Pay") { hint in
          #expect(hint == .touchSensor(reason: "Pay"))
          told()
        })
    }
    await bench.stop()
  }

  @Test("enabling requires the password; a wrong one is counted and enables nothing")
  func wrongPassword() async throws {
    let bench = try await Bench({ .biometricOrPassword($0, $1) })
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await bench.enableBiometrics("wrong one")
    }
    #expect(try await bench.device.biometricStatus(for: bench.container) == .notEnabled)
    await bench.stop()
  }

  @Test(
    "a device without biometrics, or without an enrolled finger, is an error before the password is tried")
  func notCapable() async throws {
    for (state, failure, status) in [
      (BiometricState.notCapable, BiometricFailure.notCapable, BiometricStatus.notCapable),
      (.notEnrolled, .notEnrolled, .notEnrolled),
    ] {
      let bench = try await Bench({ .biometricOrPassword($0, $1) }, sensor: SimulatedBiometrics(state))
      #expect(try await bench.device.biometricStatus(for: bench.container) == status)
      await #expect(throws: SignetError.biometrics(failure)) {
        try await bench.enableBiometrics("wrong one")
      }
      // No attempt was used up.
      await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
        try await bench.code(by: .password(secret("wrong one")))
      }
    }
    let bench = try await Bench({ .biometricOrPassword($0, $1) })
    let (plain, container) = (bench.fixture.device, bench.container)
    #expect(try await plain.biometricStatus(for: container) == .notCapable)
    #expect(await plain.protectionInForce(for: container).isPassword)
    #expect(await bench.device.protectionInForce(for: container) == container.profile.protection)
    await #expect(throws: SignetError.biometrics(.notCapable)) {
      try await plain.oneTimePassword(for: container, by: Bench.finger)
    }
    await bench.stop()
  }

  @Test("without the sensor the password still opens; the sensor works again once it is back")
  func sensorAway() async throws {
    let bench = try await Bench({ .biometricOrPassword($0, $1) })
    try await bench.enableBiometrics()
    bench.sensor.set(.notCapable)
    #expect(await bench.device.protectionInForce(for: bench.container).isPassword)
    await #expect(throws: SignetError.biometrics(.notCapable)) { try await bench.code(by: Bench.finger) }
    _ = try await bench.code(by: .password(secret(Bench.password)))
    bench.sensor.set(.ready(.simulated(fingers: 1)))
    _ = try await bench.code(by: Bench.finger)
    await bench.stop()
  }

  @Test("a policy without biometrics and a silent lock refuse them")
  func notOffered() async throws {
    for bench in [
      try await Bench({ .password($0, $1) }), try await Bench({ .deviceLockOrPassword($0, $1) }),
      try await Bench({ .biometricOrPassword($0, $1) }, lock: .silent),
    ] {
      #expect(try await bench.device.biometricStatus(for: bench.container) == .notOffered)
      await #expect(throws: SignetError.unlockMethodNotOffered(.biometrics)) {
        try await bench.enableBiometrics()
      }
      await #expect(throws: SignetError.unlockMethodNotOffered(.biometrics)) {
        try await bench.code(by: Bench.finger)
      }
      await bench.stop()
    }
  }

  @Test("each failure keeps its name, sends the caller to the password, and costs no attempt at it")
  func failures() async throws {
    let bench = try await Bench({ .biometricOrPassword($0, $1) }, lock: .lock(limit: 1))
    try await bench.enableBiometrics()
    let failures: [BiometricFailure] = [
      .cancelled, .mismatch, .lockedOut, .busy, .timedOut, .unavailable("x"),
    ]
    for (number, failure) in failures.enumerated() {
      bench.sensor.queue(.failure(failure))
      let thrown = await #expect(throws: SignetError.self) {
        try await bench.sign(by: Bench.finger, for: number % 2)
      }
      #expect(thrown == .biometrics(failure))
      #expect(thrown?.canFallBackToPassword == true)
    }
    #expect(SignetError.biometrics(.cancelled) != .biometrics(.lockedOut))
    #expect(SignetError.biometrics(.cancelled).number == 120)
    #expect(!SignetError.wrongPassword(remaining: 1).canFallBackToPassword)
    let before = bench.sensor.lockoutsEnded
    try await bench.sign(by: .password(secret(Bench.password)))
    #expect(bench.sensor.lockoutsEnded == before + 1)
    await bench.stop()
  }

  @Test("a cancelled task stops the sensor")
  func cancel() async throws {
    let bench = try await Bench({ .biometricOrPassword($0, $1) })
    try await bench.enableBiometrics()
    bench.sensor.queue(.nobody)
    let (waits, told) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await bench.code(by: .biometrics(reason: "Sign in") { _ in told.yield() })
    }
    for await _ in waits { break }
    task.cancel()
    await #expect(throws: SignetError.biometrics(.cancelled)) { try await task.value }
    await bench.stop()
  }

  @Test("an added or removed finger invalidates, the password enables again, and disabling works")
  func invalidated() async throws {
    let bench = try await Bench({ .biometricOrPassword($0, $1) })
    let (device, container) = (bench.device, bench.container)
    try await bench.enableBiometrics()
    bench.sensor.set(.ready(.simulated(fingers: 2)))
    #expect(try await device.biometricStatus(for: container) == .invalidated)
    await #expect(throws: SignetError.biometricsInvalidated) { try await bench.code(by: Bench.finger) }
    #expect(SignetError.biometricsInvalidated.canFallBackToPassword)
    try await bench.enableBiometrics()
    #expect(try await device.biometricStatus(for: container) == .enabled)
    _ = try await bench.code(by: Bench.finger)
    try await device.disableBiometrics(for: container)
    try await device.disableBiometrics(for: container)
    #expect(try await device.biometricStatus(for: container) == .notEnabled)
    await #expect(throws: SignetError.unlockMethodNotEnabled(.biometrics)) {
      try await bench.code(by: Bench.finger)
    }
    await bench.stop()
  }

  @Test("a password change keeps biometrics enabled; an expired password must still be changed")
  func passwordChange() async throws {
    let bench = try await Bench(
      { .biometricOrPassword($0, $1) }, age: PasswordAge(maximumDays: 2))
    try await bench.enableBiometrics()
    try await bench.device.changePassword(
      of: bench.container, from: secret(Bench.password), to: secret("Second 42 tower"))
    _ = try await bench.code(by: Bench.finger)
    bench.clock.advance(by: 3 * 86_400)
    await #expect(throws: SignetError.passwordExpired) { try await bench.code(by: Bench.finger) }
    await bench.stop()
  }
}

@Suite("The device's passcode in the SDK", .timeLimit(.minutes(10)))
struct PasscodeAuthenticationTests {
  @Test("until enabled only the password works; then the passcode replaces it everywhere")
  func everyOperation() async throws {
    let bench = try await Bench({ .deviceLockOrPassword($0, $1) })
    let (device, container) = (bench.device, bench.container)
    #expect(try await device.passcodeStatus(for: container) == .notEnabled)
    await #expect(throws: SignetError.unlockMethodNotEnabled(.passcode)) {
      try await bench.code(by: bench.byPasscode("1234"))
    }
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await bench.enablePasscode("wrong one")
    }
    try await bench.enablePasscode()
    #expect(try await device.passcodeStatus(for: container) == .enabled)
    #expect(
      try await bench.code(by: bench.byPasscode("1234")) == bench.code(by: .password(secret(Bench.password))))
    try await bench.sign(by: bench.byPasscode("1234"))
    let session = Session(for: container, on: device)
    try await session.unlock(by: bench.byPasscode("1234"))
    #expect(session.state() == .unlocked)
    try await device.disablePasscode(for: container)
    #expect(try await device.passcodeStatus(for: container) == .notEnabled)
    await bench.stop()
  }

  @Test("each failure keeps its name and sends the caller to the password")
  func failures() async throws {
    let bench = try await Bench({ .deviceLockOrPassword($0, $1) })
    try await bench.enablePasscode()
    for (answer, failure) in [("4321", DevicePasscodeFailure.mismatch), (nil, .cancelled)] {
      let thrown = await #expect(throws: SignetError.self) {
        try await bench.code(by: bench.byPasscode(answer))
      }
      #expect(thrown == .passcode(failure))
      #expect(thrown?.canFallBackToPassword == true)
    }
    bench.passcode.queue(.lockedOut)
    await #expect(throws: SignetError.passcode(.lockedOut)) {
      try await bench.code(by: bench.byPasscode("1234"))
    }
    await bench.stop()
  }

  @Test("a device that cannot check it, other policies and a silent lock refuse it")
  func refused() async throws {
    let bare = try await Bench({ .deviceLockOrPassword($0, $1) }, passcode: SimulatedPasscode(nil))
    #expect(try await bare.device.passcodeStatus(for: bare.container) == .notCapable)
    #expect(await bare.device.protectionInForce(for: bare.container).isPassword)
    await #expect(throws: SignetError.passcode(.notCapable)) { try await bare.enablePasscode("wrong one") }
    #expect(try await bare.fixture.device.passcodeStatus(for: bare.container) == .notCapable)
    for bench in [
      try await Bench({ .biometricOrPassword($0, $1) }),
      try await Bench({ .deviceLockOrPassword($0, $1) }, lock: .silent),
    ] {
      #expect(try await bench.device.passcodeStatus(for: bench.container) == .notOffered)
      await #expect(throws: SignetError.unlockMethodNotOffered(.passcode)) {
        try await bench.enablePasscode()
      }
      await #expect(throws: SignetError.unlockMethodNotOffered(.passcode)) {
        try await bench.code(by: bench.byPasscode("1234"))
      }
      await bench.stop()
    }
    await bare.stop()
  }
}

extension ProtectionPolicy {
  fileprivate var isPassword: Bool { if case .password = self { true } else { false } }
}
