import SignetPolicy
import Testing

@Suite("Lock policy")
struct LockPolicyTests {
  @Test("no lock allows any number of attempts")
  func unlimited() {
    #expect(LockPolicy.none.decision(after: AttemptState()) == .allowed(remaining: nil))
    #expect(LockPolicy.none.decision(after: AttemptState(failedCount: .max)) == .allowed(remaining: nil))
  }

  @Test("a limit of three gives three attempts, then none")
  func countsDown() {
    let policy = LockPolicy.lock(limit: 3)
    var state = AttemptState()
    var trace: [AttemptDecision] = []
    for _ in 0..<5 {
      trace.append(policy.decision(after: state))
      state = state.countingAttempt()
    }
    #expect(
      trace == [
        .allowed(remaining: 3), .allowed(remaining: 2), .allowed(remaining: 1), .lockedOut, .lockedOut,
      ])
  }

  @Test("a success gives all attempts back")
  func successResets() {
    #expect(AttemptState.afterSuccess.failedCount == 0)
    #expect(LockPolicy.lock(limit: 3).decision(after: .afterSuccess) == .allowed(remaining: 3))
  }

  @Test("damaged or exhausted counts lock and do not overflow")
  func failsClosed() {
    let policy = LockPolicy.lock(limit: 100)
    #expect(policy.decision(after: AttemptState(failedCount: -1)) == .lockedOut)
    #expect(policy.decision(after: AttemptState(failedCount: .min)) == .lockedOut)
    #expect(AttemptState(failedCount: .max).countingAttempt() == AttemptState(failedCount: .max))
  }

  @Test("a limit outside the allowed ones never gives more than they do", arguments: [0, -1, Int.min])
  func senselessLimitLocks(limit: Int) {
    #expect(LockPolicy.lock(limit: limit).decision(after: AttemptState()) == .lockedOut)
  }

  @Test("a limit above the largest counts as the largest")
  func hugeLimit() {
    let policy = LockPolicy.lock(limit: .max)
    #expect(policy.decision(after: AttemptState()) == .allowed(remaining: 100))
    #expect(policy.decision(after: AttemptState(failedCount: 100)) == .lockedOut)
  }

  @Test("a protection policy lends its parts")
  func parts() throws {
    let pin = try PasswordPolicy.pin(6...8)
    #expect(ProtectionPolicy.device.passwordPolicy == nil)
    #expect(ProtectionPolicy.device.lockPolicy == .none)
    #expect(ProtectionPolicy.password(pin, .lock(limit: 5)).passwordPolicy == pin)
    #expect(ProtectionPolicy.password(pin, .lock(limit: 5)).lockPolicy == .lock(limit: 5))
  }
}
