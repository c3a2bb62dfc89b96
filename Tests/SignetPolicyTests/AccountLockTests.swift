import SignetJSON
import SignetPolicy
import Testing

@Suite("Locks of accounts")
struct AccountLockTests {
  private let set: AccountPolicySet
  private let evaluator = AccountPolicyEvaluator()

  init() throws {
    set = try AccountPolicySet([
      "biometricAvailable": [:], "screenLock": [:], "deviceTampering": ["score": 0.5],
    ])
  }

  private func report(
    biometrics: Bool? = true, screenLock: Bool? = true, score: Double? = 0
  ) async -> AccountPolicyReport {
    var evidence = AccountEvidence()
    (evidence.biometricAvailable, evidence.screenLock, evidence.tamperScore) = (biometrics, screenLock, score)
    return await evaluator.evaluate(set, evidence)
  }

  @Test("a broken policy locks, the next broken one replaces it, and compliance unlocks")
  func policy() async {
    var lock = AccountLock()
    #expect(!lock.isLocked && lock.lockingPolicy == nil && lock.description == "not locked")
    #expect(lock.apply(await report(screenLock: false), at: 10))
    #expect(lock.isLocked && lock.lockingPolicy == "screenLock" && lock.sources == [.policy])
    #expect(!lock.apply(await report(screenLock: false), at: 20))
    #expect(lock.broken.map(\.since) == [10])
    #expect(lock.apply(await report(biometrics: false, screenLock: false), at: 30))
    #expect(lock.lockingPolicy == "biometricAvailable" && lock.broken.map(\.since) == [30, 10])
    #expect(lock.description.hasPrefix("locked by policy biometricAvailable: no finger or face"))
    #expect(lock.description.contains("(and 1 more)"))
    #expect(lock.apply(await report(), at: 40))
    #expect(!lock.isLocked)
  }

  @Test("a policy without a result keeps its lock and sets none; tampering locks")
  func indeterminate() async {
    var lock = AccountLock()
    #expect(!lock.apply(await report(biometrics: nil, screenLock: nil), at: 1))
    #expect(lock.apply(await report(biometrics: false), at: 2))
    #expect(!lock.apply(await report(biometrics: nil), at: 3))
    #expect(lock.lockingPolicy == "biometricAvailable")
    #expect(lock.apply(await report(biometrics: nil, score: nil), at: 4))
    #expect(lock.broken.map(\.breach.policy) == ["biometricAvailable", "deviceTampering"])
  }

  @Test("a policy that became unknown keeps its lock; a removed policy does not")
  func unknown() async throws {
    var lock = AccountLock()
    lock.apply(await report(biometrics: false, screenLock: false), at: 1)
    let small = AccountPolicyEvaluator(
      registry: try AccountPolicyRegistry(only: [DevicePropertyPolicy.biometricAvailable]))
    var evidence = AccountEvidence()
    evidence.biometricAvailable = true
    lock.apply(await small.evaluate(set, evidence), at: 2)
    #expect(lock.broken.map(\.breach.policy) == ["screenLock"])
    lock.apply(await evaluator.evaluate(AccountPolicySet(), evidence), at: 3)
    #expect(!lock.isLocked)
  }

  @Test("a manual lock outlasts compliance and is removed manually")
  func manual() async throws {
    var lock = AccountLock()
    try lock.lock(naming: "screenLock", of: set, reason: "lost", at: 5)
    lock.apply(await report(), at: 6)
    #expect(lock.isLocked && lock.sources == [.manual] && lock.lockingPolicy == "screenLock")
    lock.apply(await report(biometrics: false), at: 7)
    #expect(lock.lockingPolicy == "biometricAvailable" && lock.sources == [.policy, .manual])
    try lock.unlock()
    #expect(lock.sources == [.policy])
  }

  @Test("invalid locks and unlocks are refused")
  func refusals() async throws {
    var lock = AccountLock()
    #expect(throws: AccountLockFailure.notLocked) { try lock.unlock() }
    #expect(throws: AccountLockFailure.missingName) { try lock.lock(naming: "", of: set, at: 1) }
    #expect(throws: AccountLockFailure.notAttached("inactivity")) {
      try lock.lock(naming: "inactivity", of: set, at: 1)
    }
    try lock.lock(at: 1)
    #expect(throws: AccountLockFailure.alreadyLocked) { try lock.lock(naming: "", of: set, at: 2) }
    try lock.unlock()
    lock.apply(await report(biometrics: false), at: 3)
    #expect(throws: AccountLockFailure.lockedBy([.policy])) { try lock.unlock() }
    lock.setServer(AccountLock.Order(reason: "stolen", since: 4))
    #expect(throws: AccountLockFailure.lockedBy([.policy, .server])) { try lock.unlock() }
  }

  @Test("the server's lock is separate")
  func server() async throws {
    var lock = AccountLock()
    lock.setServer(AccountLock.Order(reason: "stolen", since: 4))
    try lock.lock(at: 5)
    try lock.unlock()
    lock.apply(await report(), at: 6)
    #expect(lock.sources == [.server])
    #expect(
      lock.description
        == "locked by its server: stolen; report to it (signet condition report), or ask its operator to unlock it"
    )
    lock.setServer(nil)
    #expect(!lock.isLocked)
  }

  @Test("a lock survives a round trip")
  func json() async throws {
    var lock = AccountLock()
    #expect(lock.json.isEmpty)
    #expect(try AccountLock([:]) == lock)
    lock.apply(await report(biometrics: false, score: nil), at: 3)
    try lock.lock(naming: "screenLock", of: set, reason: "lost", at: 4)
    lock.setServer(AccountLock.Order(reason: "", since: 5))
    #expect(try AccountLock(JSONObject(parsing: lock.json.bytes)) == lock)
    #expect(throws: JSONFailure.self) { try AccountLock(["broken": [5]]) }
    #expect(throws: JSONFailure.self) { try AccountLock(["manual": ["reason": 5]]) }
  }
}
