import SignetPolicy
import Testing

@Suite("Lock policy")
struct LockPolicyTests {
  static let boot = BootID(high: 1, low: 2)
  static let otherBoot = BootID(high: 3, low: 4)

  static func moment(_ milliseconds: Int64, _ boot: BootID = boot) -> BootInstant {
    BootInstant(bootID: boot, millisecondsSinceBoot: milliseconds)
  }

  private let start = Self.moment(0)

  private func failed(_ count: Int, at milliseconds: Int64 = 0) -> AttemptState {
    AttemptState(failedCount: count, lastAttempt: Self.moment(milliseconds))
  }

  @Test("no lock allows any number of attempts")
  func unlimited() {
    #expect(LockPolicy.none.decision(after: AttemptState(), at: start) == .allowed(remaining: nil))
    #expect(LockPolicy.none.decision(after: failed(.max), at: start) == .allowed(remaining: nil))
    #expect(LockPolicy.silent.decision(after: failed(.max), at: start) == .allowed(remaining: nil))
  }

  @Test("a limit of three gives three attempts, then none")
  func countsDown() {
    let policy = LockPolicy.lock(limit: 3)
    var state = AttemptState()
    var trace: [AttemptDecision] = []
    for _ in 0..<5 {
      trace.append(policy.decision(after: state, at: start))
      state = state.countingAttempt(at: start)
    }
    #expect(
      trace == [
        .allowed(remaining: 3), .allowed(remaining: 2), .allowed(remaining: 1), .lockedOut, .lockedOut,
      ])
  }

  @Test("a success gives all attempts back")
  func successResets() {
    #expect(AttemptState.afterSuccess.failedCount == 0)
    #expect(LockPolicy.lock(limit: 3).decision(after: .afterSuccess, at: start) == .allowed(remaining: 3))
    #expect(LockPolicy.fiveAttempts.decision(after: .afterSuccess, at: start) == .allowed(remaining: 5))
  }

  @Test("damaged or exhausted counts lock and do not overflow")
  func failsClosed() {
    let policy = LockPolicy.lock(limit: 100)
    #expect(policy.decision(after: AttemptState(failedCount: -1), at: start) == .lockedOut)
    #expect(policy.decision(after: AttemptState(failedCount: .min), at: start) == .lockedOut)
    #expect(failed(.max).countingAttempt(at: start) == failed(.max))
  }

  @Test("a limit out of range never allows more attempts than the range", arguments: [0, -1, Int.min])
  func senselessLimitLocks(limit: Int) {
    #expect(LockPolicy.lock(limit: limit).decision(after: AttemptState(), at: start) == .lockedOut)
  }

  @Test("a limit above the maximum counts as the maximum")
  func hugeLimit() {
    let policy = LockPolicy.lock(limit: .max)
    #expect(policy.decision(after: AttemptState(), at: start) == .allowed(remaining: 100))
    #expect(policy.decision(after: failed(100), at: start) == .lockedOut)
    let table = LockPolicy.coolDown(waits: Array(repeating: 0, count: 200))
    #expect(table.decision(after: failed(99), at: start) == .allowed(remaining: 1))
    #expect(table.decision(after: failed(100), at: start) == .lockedOut)
  }

  @Test("the delay doubles up to the counter, then stays: the documented example")
  func delayDoubles() {
    let policy = LockPolicy.delay(seconds: 2, counter: 6)
    #expect((0...9).map { policy.wait(afterFailure: $0) } == [0, 2, 4, 8, 16, 32, 64, 64, 64, 64])
    #expect(
      (1...4).map { LockPolicy.delay(seconds: 5, counter: 3).wait(afterFailure: $0) } == [5, 10, 20, 20])
    #expect(policy.wait(afterFailure: .max) == 64)
    #expect(policy.limit == nil)
  }

  @Test("invalid delays are handled, and are at most a week")
  func hugeDelay() {
    for seconds in [Int.min, -1, 0, 1, 604_800, Int.max] {
      for counter in [Int.min, 0, 1, 20, 63, 64, Int.max] {
        let policy = LockPolicy.delay(seconds: seconds, counter: counter)
        for failures in [Int.min, 0, 1, 19, 63, Int.max] {
          #expect(0...604_800 ~= policy.wait(afterFailure: failures))
        }
      }
    }
    #expect(LockPolicy.coolDown(waits: [.max, .min]).wait(afterFailure: 1) == 604_800)
    #expect(LockPolicy.coolDown(waits: [.max, .min]).wait(afterFailure: 2) == 0)
  }

  @Test("a cool-down of 0, 0, 60, 180 seconds locks at the fifth failure")
  func coolsDown() {
    let policy = LockPolicy.fiveAttempts
    #expect(policy.limit == 5)
    #expect(policy.decision(after: failed(1), at: start) == .allowed(remaining: 4))
    #expect(policy.decision(after: failed(2), at: start) == .allowed(remaining: 3))
    #expect(policy.decision(after: failed(3), at: start) == .wait(.seconds(60), remaining: 2))
    #expect(
      policy.decision(after: failed(3), at: Self.moment(59_999)) == .wait(.milliseconds(1), remaining: 2))
    #expect(policy.decision(after: failed(3), at: Self.moment(60_000)) == .allowed(remaining: 2))
    #expect(
      policy.decision(after: failed(4), at: Self.moment(179_999)) == .wait(.milliseconds(1), remaining: 1))
    #expect(policy.decision(after: failed(4), at: Self.moment(180_000)) == .allowed(remaining: 1))
    #expect(policy.decision(after: failed(5), at: Self.moment(.max)) == .lockedOut)
  }

  @Test("after a restart a pending wait starts again, at the restart")
  func restart() {
    let policy = LockPolicy.fiveAttempts
    let state = failed(3, at: 1_000_000)
    #expect(
      policy.decision(after: state, at: Self.moment(0, Self.otherBoot)) == .wait(.seconds(60), remaining: 2))
    #expect(
      policy.decision(after: state, at: Self.moment(59_000, Self.otherBoot))
        == .wait(.seconds(1), remaining: 2))
    #expect(policy.decision(after: state, at: Self.moment(60_000, Self.otherBoot)) == .allowed(remaining: 2))
    // A count without a time: the wait starts with the machine.
    let unknown = AttemptState(failedCount: 3)
    #expect(policy.decision(after: unknown, at: Self.moment(59_000)) == .wait(.seconds(1), remaining: 2))
  }

  @Test("a time in the future, which only damage explains, causes the full wait")
  func future() {
    let state = failed(3, at: .max)
    #expect(
      LockPolicy.fiveAttempts.decision(after: state, at: Self.moment(5)) == .wait(.seconds(60), remaining: 2))
  }

  @Test("at the limit the domain is erased if the policy says so")
  func wipes() {
    let policies: [LockPolicy] = [.lock(limit: 2, atLimit: .wipe), .coolDown(waits: [0], atLimit: .wipe)]
    for policy in policies {
      #expect(policy.decision(after: failed(1), at: start) == .allowed(remaining: 1))
      #expect(policy.decision(after: failed(2), at: start) == .wipe)
      #expect(policy.status(after: failed(2), at: start) == .lockedOut)
    }
  }

  @Test("the status says whether the last attempt failed, what is left and when the next may be made")
  func status() {
    let policy = LockPolicy.fiveAttempts
    #expect(policy.status(after: AttemptState(), at: start) == .unlocked)
    #expect(policy.status(after: failed(1), at: start) == .lastAttemptFailed(remaining: 4, retryAfter: .zero))
    #expect(
      policy.status(after: failed(4), at: Self.moment(1000))
        == .lastAttemptFailed(remaining: 1, retryAfter: .seconds(179)))
    #expect(policy.status(after: failed(5), at: start) == .lockedOut)
    #expect(
      LockPolicy.delay(seconds: 2, counter: 6).status(after: failed(3), at: start)
        == .lastAttemptFailed(remaining: nil, retryAfter: .seconds(8)))
    #expect(
      LockPolicy.none.status(after: failed(3), at: start)
        == .lastAttemptFailed(remaining: nil, retryAfter: .zero))
    #expect(LockPolicy.silent.status(after: failed(3), at: start) == .unlocked)
  }

  @Test("the identity of a boot is 16 bytes")
  func bootID() throws {
    let bytes = Array(UInt8(0)..<16)
    let identity = try #require(BootID(bytes: bytes))
    #expect(identity.bytes == bytes)
    #expect(identity == BootID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F))
    #expect(BootID(bytes: []) == nil)
    #expect(BootID(bytes: bytes + [0]) == nil)
    #expect(Self.moment(-5) == Self.moment(0))
  }
}

@Suite("Protection policy")
struct ProtectionPolicyTests {
  @Test("the parts of a protection policy")
  func parts() throws {
    let pin = try PasswordPolicy.pin(6...8)
    let none: [ProtectionPolicy] = [.device, .biometric, .devicePasscode]
    for policy in none {
      #expect(policy.passwordPolicy == nil)
      #expect(policy.lockPolicy == .none)
    }
    let lock = LockPolicy.lock(limit: 5)
    for policy in [
      ProtectionPolicy.password(pin, lock), .biometricOrPassword(pin, lock), .deviceLockOrPassword(pin, lock),
    ] {
      #expect(policy.passwordPolicy == pin)
      #expect(policy.lockPolicy == lock)
    }
  }

  @Test("the device's capabilities decide the effective protection")
  func inForce() throws {
    let pin = try PasswordPolicy.pin(6...8)
    let lock = LockPolicy.fiveAttempts
    let bare = DeviceAbilities(matchesBiometrics: false, checksPasscode: false)
    let full = DeviceAbilities(matchesBiometrics: true, checksPasscode: true)
    let password = ProtectionPolicy.password(pin, lock)
    #expect(ProtectionPolicy.biometricOrPassword(pin, lock).inForce(on: bare) == password)
    #expect(
      ProtectionPolicy.biometricOrPassword(pin, lock).inForce(on: full) == .biometricOrPassword(pin, lock))
    #expect(ProtectionPolicy.deviceLockOrPassword(pin, lock).inForce(on: bare) == password)
    #expect(
      ProtectionPolicy.deviceLockOrPassword(pin, lock).inForce(on: full) == .deviceLockOrPassword(pin, lock))
    for policy in [ProtectionPolicy.device, password, .biometric, .devicePasscode] {
      #expect(policy.inForce(on: bare) == policy)
      #expect(policy.inForce(on: full) == policy)
    }
  }
}

@Suite("Password age")
struct PasswordAgeTests {
  private let age = PasswordAge(minimumDays: 1, maximumDays: 90)

  @Test("the minimum age applies to passwords after the first")
  func minimum() {
    #expect(age.earliestChange(of: PasswordStamp(setAt: 1000, isInitial: true)) == 1000)
    #expect(age.earliestChange(of: PasswordStamp(setAt: 1000, isInitial: false)) == 87_400)
    let none = PasswordAge.unlimited
    #expect(none.earliestChange(of: PasswordStamp(setAt: 1000, isInitial: false)) == 1000)
  }

  @Test("the maximum age applies to every password, and 0 means no maximum")
  func maximum() {
    for isInitial in [true, false] {
      #expect(age.expiry(of: PasswordStamp(setAt: 1000, isInitial: isInitial)) == 7_777_000)
      #expect(PasswordAge.unlimited.expiry(of: PasswordStamp(setAt: 1000, isInitial: isInitial)) == nil)
    }
  }

  @Test("damaged moments and numbers do not overflow")
  func total() {
    for moment in [Int64.min, -1, 0, .max] {
      let stamp = PasswordStamp(setAt: moment, isInitial: false)
      for days in [Int.min, -1, 0, 3650, Int.max] {
        let age = PasswordAge(minimumDays: days, maximumDays: days)
        #expect(age.earliestChange(of: stamp) >= moment)
        #expect(age.expiry(of: stamp) ?? .max >= moment)
      }
    }
  }
}
