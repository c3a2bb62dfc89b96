import Signet
import SignetCrypto
import SignetHTTPClient
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetPushAuth
import SignetTesting
import SignetVault
import Testing

/// Account policies and locks of accounts enrolled with a URI.
@Suite struct PushLockTests {
  @Test("a policy breach refuses enrolment by any scheme before any request") func enrolment()
    async throws
  {
    let bench = try PushEnrolmentTests.Bench()
    let device = try bench.device()
    for scheme in AuthenticatorURI.Scheme.allCases {
      let uri = bench.server.uri(scheme, policies: ["biometricAvailable": [:]])
      do {
        _ = try await device.accounts.enrol(uri, from: PushEnrolmentTests.target())
        Issue.record("enrolled")
      } catch let error as SignetError {
        guard case .accountPolicyBroken(let breaches) = error else { throw error }
        #expect(breaches.map(\.policy) == ["biometricAvailable"])
      }
      let malformed = bench.server.uri(scheme, policies: ["deviceTampering": ["score": "high"]])
      do {
        _ = try await device.accounts.enrol(malformed, from: PushEnrolmentTests.target())
        Issue.record("enrolled")
      } catch let error as SignetError { guard case .accountPolicy = error else { throw error } }
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

  private func isRefused(_ call: () async throws -> Void) async throws -> Bool {
    do {
      try await call()
      return false
    } catch let error as SignetError {
      guard case .accountLocked(let lock) = error else { throw error }
      return lock.manual != nil
    }
  }

  @Test("codes and push messages of an account are locked and unlocked together, whichever is named")
  func parts() async throws {
    let bench = try PushEnrolmentTests.Bench()
    let accounts = try bench.device().accounts
    let account = try await accounts.enrol(
      bench.server.uri(.mfauth, policies: ["appsOwn": [:]]), from: PushEnrolmentTests.target()
    ).account
    let (codes, push) = (account.codes[0].id, try #require(account.push).id)
    _ = try await accounts.receive(bench.server.delivery("M:1"))
    for (locked, unlocked) in [(codes, push), (push, account.id), (account.id, codes)] {
      #expect(try await accounts.lock(locked, naming: "appsOwn", reason: "lost").lockingPolicy == "appsOwn")
      #expect(try await accounts.status(of: account).lock.manual?.reason == "lost")
      #expect(try await isRefused { _ = try await accounts.code(of: codes) })
      #expect(try await isRefused { try await accounts.answer("M:1", .approve) })
      await #expect(throws: SignetError.accountLock(.alreadyLocked)) { try await accounts.lock(unlocked) }
      #expect(try await !accounts.unlock(unlocked).isLocked)
      #expect(try await !accounts.status(of: account).lock.isLocked)
      _ = try await accounts.code(of: codes)
    }
    await #expect(throws: SignetError.accountLock(.notAttached("other"))) {
      try await accounts.lock(account.id, naming: "other")
    }
    await #expect(throws: SignetError.accountLock(.notLocked)) { try await accounts.unlock(push) }
    try await accounts.answer("M:1", .approve)
    try await accounts.removeEnrolled(account.id)
    await #expect(throws: SignetError.noSuchAccount) { try await accounts.lock(account.id) }
  }

  @Test("nothing is added to a locked account; an addition during locking is locked too")
  func joining() async throws {
    let bench = try PushEnrolmentTests.Bench()
    let accounts = try bench.device().accounts
    let account = try await accounts.enrol(bench.server.uri(.otpauth)).account
    try await accounts.lock(account.id, reason: "lost")
    #expect(
      try await isRefused {
        _ = try await accounts.enrol(bench.server.uri(.pushauth), from: PushEnrolmentTests.target())
      })
    #expect(bench.server.requestCount == 0)
    try await accounts.unlock(account.id)
    // By another process during the server's request.
    let path = bench.folder.path + "/device"
    let vault = try Vault.forTests(path, clock: VirtualTrustedClock())
    let slow = Device(vault: vault, clock: bench.clock) { _ throws(TransportFailure) in
      Interrupted(inner: bench.server) {
        do { try await accounts.lock(account.id, reason: "meanwhile") } catch { Issue.record(error) }
      }
    }
    let push = try #require(
      try await slow.accounts.enrol(bench.server.uri(.pushauth), from: PushEnrolmentTests.target())
        .account.push)
    #expect(try await accounts.status(of: push.id).lock.manual?.reason == "meanwhile")
  }

  /// Runs an action before each request.
  private struct Interrupted: HTTPTransport {
    let inner: any HTTPTransport
    let before: @Sendable () async -> Void

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      await before()
      return try await inner.send(request)
    }
  }
}
