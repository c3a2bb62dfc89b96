import Signet
import SignetCrypto
import SignetJSON
import SignetOATH
import SignetPushAuth
import SignetTesting
import SignetVault
import Testing

/// Account policies and locks of what was enrolled by a URI.
@Suite struct PushLockTests {
  @Test("what breaks a policy is not enrolled, by any scheme, and no server is asked") func enrolment()
    async throws
  {
    let bench = try PushEnrolmentTests.Bench()
    let device = try bench.device()
    for scheme in AuthenticatorURI.Scheme.allCases {
      let uri = bench.server.uri(scheme, policies: ["biometricAvailable": [:]])
      do {
        _ = try await device.accounts.enrol(uri, from: PushEnrolmentTests.target())
        Issue.record("enrolled")
      } catch let error as SignetFailure {
        guard case .accountPolicyBroken(let breaches) = error else { throw error }
        #expect(breaches.map(\.policy) == ["biometricAvailable"])
      }
      let malformed = bench.server.uri(scheme, policies: ["deviceTampering": ["score": "high"]])
      do {
        _ = try await device.accounts.enrol(malformed, from: PushEnrolmentTests.target())
        Issue.record("enrolled")
      } catch let error as SignetFailure { guard case .accountPolicy = error else { throw error } }
    }
    #expect(bench.server.requestCount == 0)
    #expect(try await device.accounts.enrolled().isEmpty)
  }

  @Test("a locked account approves nothing and makes no codes; it denies, receives and is removed")
  func locked()
    async throws
  {
    let bench = try PushEnrolmentTests.Bench()
    let device = try bench.device()
    let account = try await device.accounts.enrol(
      bench.server.uri(.mfauth, policies: ["appsOwn": [:]]), from: PushEnrolmentTests.target()
    ).account
    let push = try #require(account.push)
    _ = try await device.accounts.receive(bench.server.delivery("M:1"))
    try await device.accounts.lock(push.id, reason: "lost")
    do {
      try await device.accounts.answer("M:1", .approve)
      Issue.record("approved")
    } catch { guard case .accountLocked = error else { throw error } }
    #expect(bench.server.answer(to: "M:1") == nil)
    _ = try await bench.device().accounts.receive(bench.server.delivery("M:2"))
    #expect(try await device.accounts.messages(pendingOnly: true).count == 2)
    try await device.accounts.answer("M:2", .deny)
    #expect(bench.server.answer(to: "M:2") == "no")
    try await device.accounts.unlock(push.id)
    try await device.accounts.answer("M:1", .approve)
    #expect(bench.server.answer(to: "M:1") == "yes")
    try await device.accounts.lock(push.id, reason: "again")
    try await device.accounts.removeEnrolled(account.id)
    #expect(try await device.accounts.enrolled().isEmpty)
  }
}
