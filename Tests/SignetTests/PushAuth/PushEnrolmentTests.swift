import Signet
import SignetCrypto
import SignetHTTPClient
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetPushAuth
import SignetTesting
import SignetTestKit
import SignetVault
import Testing

/// Accounts with one-time codes and push messages on a device, over a server in the process.
@Suite(.timeLimit(.minutes(10))) struct PushEnrolmentTests {
  struct Bench {
    let folder: TemporaryFolder
    let clock = VirtualClock(1_700_000_000)
    let server = PushServerInProcess()
    let gate: (any BiometricGate)?

    init(gate: (any BiometricGate)? = nil) throws {
      folder = try TemporaryFolder()
      self.gate = gate
    }

    /// Opens the device like another process, with another server if one is named.
    func device(over other: PushServerInProcess? = nil) throws -> Device {
      let server = other ?? server
      let path = folder.path + "/device"
      let vault = try Vault.forTests(path, clock: VirtualTrustedClock())
      return Device(
        vault: vault, clock: clock, passwordChecks: PasswordChecks(dictionary: AccountsTests.NoDictionary()),
        biometrics: gate
      ) { [server] _ throws(TransportFailure) in server }
    }
  }

  static func target(_ token: String = "AB01") throws -> PushAuthDevice {
    try PushAuthDevice(token: token, name: "Laptop")
  }

  @Test("a combined URI: both halves in one account, registered and stored at once") func combined()
    async throws
  {
    let bench = try Bench()
    let device = try bench.device()
    let enrolment = try await device.accounts.enrol(
      bench.server.uri(.mfauth, policies: ["appsOwn": [:]]), from: Self.target())
    #expect(!enrolment.wasThere && enrolment.policyConflicts.isEmpty)
    let account = try #require(await bench.device().accounts.enrolled().first)
    #expect(account == enrolment.account && account.codes.count == 1 && account.issuer == "Acme")
    #expect(account.policyNames == ["appsOwn"])
    #expect(account.push?.mechanismID == bench.server.mechanism)
    #expect(bench.server.device == (try Self.target()))
    let code = try await device.accounts.code(of: account.codes[0].id)
    #expect(code.code.count == 8)
    // Another code mechanism does not turn a server into a container.
    #expect(try await device.containers().isEmpty)
    #expect(try await device.accounts.list().count == 1)
  }

  @Test("a refused or broken registration leaves nothing of either half, and can be tried again")
  func transactional()
    async throws
  {
    let bench = try Bench()
    let device = try bench.device()
    let uri = bench.server.uri(.mfauth)
    for (status, failure) in [(503, SignetError.pushAuthRefused(status: 503)), (0, .transport(.cancelled))] {
      bench.server.fail(with: [status])
      await #expect(throws: failure) { try await device.accounts.enrol(uri, from: Self.target()) }
      #expect(try await device.accounts.enrolled().isEmpty)
      #expect(try await device.accounts.list().isEmpty)
    }
    #expect(try await device.accounts.enrol(uri, from: Self.target()).account.codes.count == 1)
  }

  @Test("an unusable URI is refused before the server is asked") func refusedBefore() async throws {
    let bench = try Bench()
    let device = try bench.device()
    var cases: [(AuthenticatorURI, PushAuthFailure)] = []
    var uri = bench.server.uri(.pushauth)
    uri.push?.messageID = nil
    cases.append((uri, .missing("m (message id)")))
    uri = bench.server.uri(.pushauth)
    uri.push?.challenge = nil
    cases.append((uri, .missing("c (challenge)")))
    uri = bench.server.uri(.pushauth)
    uri.push?.sharedSecret = SharedSecretBox(SecretBytes(copying: [UInt8](0..<15)))
    cases.append((uri, .weakSecret(byteCount: 15, least: 16)))
    cases.append(
      (
        bench.server.uri(.pushauth, base: "http://am.example/push?_action="),
        .insecureEndpoint("registration endpoint")
      ))
    uri = bench.server.uri(.mfauth)
    uri.push?.authenticationEndpoint = "https://other.example/push?_action=authenticate"
    cases.append((uri, .endpointsApart))
    for (uri, failure) in cases {
      await #expect(throws: SignetError.pushAuth(failure)) {
        try await device.accounts.enrol(uri, from: Self.target())
      }
    }
    await #expect(throws: SignetError.pushAuth(.missing("device token"))) {
      try await device.accounts.enrol(bench.server.uri(.mfauth))
    }
    #expect(bench.server.requestCount == 0)
    #expect(try await device.accounts.enrolled().isEmpty)
  }

  @Test("a repeated URI is reported, new parts are merged, and policies are never weakened") func merging()
    async throws
  {
    let bench = try Bench()
    let device = try bench.device()
    let first = try await device.accounts.enrol(
      bench.server.uri(.otpauth, policies: ["score": ["limit": .number(0.5)], "second": [:]]))
    bench.clock.advance(by: 10)
    let second = try await device.accounts.enrol(
      bench.server.uri(
        .pushauth, policies: ["score": ["limit": .number(0.9)], "first": [:]]),
      from: Self.target())
    #expect(second.wasThere && second.account.id == first.account.id)
    #expect(second.account.created == first.account.created)
    #expect(second.account.codes.count == 1 && second.account.push != nil)
    #expect(second.policyConflicts == ["score"])
    #expect(second.account.policyNames == ["first", "score", "second"])
    let policies = try JSONObject(parsing: #require(await device.accounts.policies(of: first.account.id)))
    #expect(policies["score"] == ["limit": .number(0.5)])
    let count = bench.server.requestCount
    for uri in [
      bench.server.uri(.otpauth), bench.server.uri(.otpauth, codes: [UInt8](1...20)),
      bench.server.uri(.pushauth),
      bench.server.uri(.mfauth, policies: [:]),
    ] {
      do {
        _ = try await device.accounts.enrol(uri, from: Self.target())
        Issue.record("enrolled twice")
      } catch let error as SignetError {
        guard case .alreadyEnrolled(_, let account) = error else { throw error }
        // The account is listed, and can be removed as a whole.
        #expect(account == first.account.id)
      }
    }
    #expect(bench.server.requestCount == count)
    #expect(try await device.accounts.policies(of: first.account.id) == policies.bytes)
  }

  @Test("accounts are distinct even if their concatenated names are equal") func identity() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let pairs = [("a-b", "c"), ("a", "b-c"), ("", "a-b-c"), ("A", "b-c")]
    for (number, (issuer, name)) in pairs.enumerated() {
      bench.clock.advance(by: 1)
      let codes = [UInt8](repeating: UInt8(number + 1), count: 20)
      let made = try await device.accounts.enrol(
        bench.server.uri(.otpauth, issuer: issuer, account: name, codes: codes))
      #expect(!made.wasThere)
    }
    let enrolled = try await device.accounts.enrolled()
    #expect(enrolled.map(\.issuer) == pairs.map(\.0) && Set(enrolled.map(\.id)).count == 4)
    // The same secret under another name counts as the same secret.
    do {
      _ = try await device.accounts.enrol(
        bench.server.uri(.otpauth, issuer: "new", codes: [UInt8](repeating: 1, count: 20)))
      Issue.record("enrolled twice")
    } catch { guard case .alreadyEnrolled = error else { throw error } }
  }

  @Test("an imported account of the same issuer and name is joined") func joined() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let imported = try OTPAccount(
      issuer: "Acme", name: "alice", kind: .hotp(counter: 3),
      secret: SharedSecretBox(SecretBytes(copying: [UInt8](1...20))))
    let id = try await device.accounts.add([imported]).added[0].id
    let enrolment = try await device.accounts.enrol(bench.server.uri(.mfauth), from: Self.target())
    #expect(enrolment.account.codes.map(\.isTimed) == [false, true] && enrolment.account.codes[0].id == id)
  }

  @Test("removing an account takes everything along, and nothing else") func cascade() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let enrolment = try await device.accounts.enrol(bench.server.uri(.mfauth), from: Self.target())
    let other = try await device.accounts.enrol(
      bench.server.uri(.otpauth, account: "bob", codes: [UInt8](1...20)))
    let delivery = try bench.server.delivery("M:1")
    _ = try await device.accounts.receive(delivery)
    try await device.accounts.removeEnrolled(enrolment.account.id)
    #expect(try await device.accounts.enrolled().map(\.id) == [other.account.id])
    #expect(try await device.accounts.list().map(\.name) == ["bob"])
    #expect(try await device.accounts.messages().isEmpty)
    await #expect(throws: SignetError.pushAuth(.unknownMechanism)) {
      try await device.accounts.receive(delivery)
    }
    await #expect(throws: SignetError.noSuchAccount) {
      try await device.accounts.removeEnrolled(enrolment.account.id)
    }
  }

  @Test("of two concurrent enrolling processes, one succeeds") func race() async throws {
    let bench = try Bench()
    _ = try await bench.device().accounts.list()
    let results = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<6 {
        group.addTask {
          do {
            _ = try await bench.device().accounts.enrol(bench.server.uri(.mfauth), from: Self.target())
            return true
          } catch { return false }
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(results == 1)
    let enrolled = try await bench.device().accounts.enrolled()
    #expect(enrolled.count == 1 && enrolled[0].codes.count == 1)
  }

  @Test("a device token that a server did not accept is sent again, later each time") func tokens()
    async throws
  {
    let bench = try Bench()
    let device = try bench.device()
    _ = try await device.accounts.enrol(bench.server.uri(.pushauth), from: Self.target())
    bench.server.fail(with: [503, 0])
    let failed = try await device.accounts.setPushDevice(Self.target("CD02"))
    #expect(failed.map(\.failure) == [.pushAuthRefused(status: 503)])
    #expect(try await bench.device().accounts.enrolled()[0].push?.isUpdateDue == true)
    // Too early, then failed, then accepted.
    #expect(try await device.accounts.sendPushTokens().isEmpty)
    bench.clock.advance(by: 60)
    #expect(try await device.accounts.sendPushTokens().count == 1)
    bench.clock.advance(by: 119)
    #expect(try await device.accounts.sendPushTokens().isEmpty)
    #expect(bench.server.device?.token == "AB01")
    bench.clock.advance(by: 1)
    #expect(try await bench.device().accounts.sendPushTokens().isEmpty)
    #expect(bench.server.device?.token == "CD02")
    #expect(try await device.accounts.enrolled()[0].push?.isUpdateDue == false)
    // Unchanged: nothing is sent.
    let count = bench.server.requestCount
    #expect(try await device.accounts.setPushDevice(Self.target("CD02")).isEmpty)
    #expect(bench.server.requestCount == count)
  }

  @Test("with a password, nothing of it is read or changed without it") func password() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let password = AccountsTests.box("correct horse")
    try await device.accounts.setPassword(password)
    await #expect(throws: SignetError.passwordRequired) {
      try await device.accounts.enrol(bench.server.uri(.mfauth), from: Self.target())
    }
    _ = try await device.accounts.enrol(bench.server.uri(.mfauth), from: Self.target(), by: password)
    await #expect(throws: SignetError.passwordRequired) { try await device.accounts.enrolled() }
    await #expect(throws: SignetError.passwordRequired) {
      try await device.accounts.receive(bench.server.delivery("M:1"))
    }
    #expect(try await device.accounts.enrolled(by: password).count == 1)
  }

  @Test("after a lost answer the same URI completes the enrolment under the registered name")
  func lostAnswer() async throws {
    for scheme in [AuthenticatorURI.Scheme.pushauth, .mfauth] {
      let bench = try Bench()
      bench.server.registerOnce()
      bench.server.loseAnswers()
      let uri = bench.server.uri(scheme, policies: ["appsOwn": [:]])
      await #expect(throws: SignetError.transport(.cancelled)) {
        try await bench.device().accounts.enrol(uri, from: Self.target())
      }
      let registered = try #require(bench.server.mechanism)
      #expect(try await bench.device().accounts.enrolled().isEmpty)
      #expect(try await bench.device().accounts.list().isEmpty)
      await #expect(throws: SignetError.pushAuth(.unknownMechanism)) {
        try await bench.device().accounts.receive(bench.server.delivery("M:0"))
      }
      bench.server.loseAnswers(false)
      // From another process, and with a token that has changed in between.
      let device = try bench.device()
      let account = try await device.accounts.enrol(uri, from: Self.target("CD02")).account
      #expect(account.push?.mechanismID == registered && bench.server.device?.token == "CD02")
      #expect(account.codes.count == (scheme == .mfauth ? 1 : 0) && account.policyNames == ["appsOwn"])
      let parts = account.codes.map(\.id) + [try #require(account.push).id]
      for part in parts {
        #expect(try await device.accounts.status(of: part).policies.names == ["appsOwn"])
      }
      _ = try await device.accounts.receive(bench.server.delivery("M:1"))
      try await device.accounts.answer("M:1", .deny)
      #expect(bench.server.answer(to: "M:1") == "no")
    }
  }

  @Test("an abandoned enrolment leaves nothing, and another URI starts again") func givenUp()
    async throws
  {
    let bench = try Bench()
    bench.server.registerOnce()
    let device = try bench.device()
    let uri = bench.server.uri(.mfauth, policies: ["appsOwn": [:]])
    // After a rejection, the next attempt has another mechanism name, and no request concerns the old one.
    bench.server.fail(with: [403])
    await #expect(throws: SignetError.pushAuthRefused(status: 403)) {
      try await device.accounts.enrol(uri, from: Self.target())
    }
    let count = bench.server.requestCount
    #expect(try await device.accounts.evaluatePolicies().isEmpty)
    // Without an answer, twice: the second attempt has the same name.
    bench.server.fail(with: [0, 500])
    for failure in [SignetError.transport(.cancelled), .pushAuthRefused(status: 500)] {
      await #expect(throws: failure) { try await device.accounts.enrol(uri, from: Self.target()) }
    }
    #expect(bench.server.requestCount == count + 2)
    // Another URI does not interfere.
    let other = try await device.accounts.enrol(
      bench.server.uri(.mfauth, account: "bob", codes: [UInt8](1...20)), from: Self.target())
    #expect(other.account.push?.mechanismID == bench.server.mechanism)
    // The server has accepted its only registration, and does not know this one.
    await #expect(throws: SignetError.pushAuthRefused(status: 400)) {
      try await device.accounts.enrol(uri, from: Self.target())
    }
    #expect(try await device.accounts.enrolled().map(\.name) == ["bob"])
  }

  @Test("an enrolled account gets a second URI's policies and keeps its own") func joinedPolicies()
    async throws
  {
    let bench = try Bench()
    let device = try bench.device()
    let first = try await device.accounts.enrol(bench.server.uri(.otpauth, policies: ["one": [:]]))
    let second = try await device.accounts.enrol(
      bench.server.uri(.pushauth, policies: ["two": [:]]), from: Self.target())
    for part in [first.account.codes[0].id, try #require(second.account.push).id] {
      #expect(try await device.accounts.status(of: part).policies.names.sorted() == ["one", "two"])
    }
  }

  @Test("a mechanism alone is removed; an account without any is enrolled anew") func removals() async throws
  {
    let bench = try Bench()
    let device = try bench.device()
    let uri = bench.server.uri(.mfauth, policies: ["old": [:]])
    let first = try await device.accounts.enrol(uri, from: Self.target()).account
    _ = try await device.accounts.receive(bench.server.delivery("M:1"))
    let push = try #require(first.push).id
    try await device.accounts.removePush(push)
    await #expect(throws: SignetError.noSuchAccount) { try await device.accounts.removePush(push) }
    #expect(try await device.accounts.messages().isEmpty)
    let left = try await device.accounts.enrolled()
    #expect(left.map(\.id) == [first.id] && left[0].push == nil && left[0].codes.count == 1)
    // The push half alone is added to the same account again.
    let again = try await device.accounts.enrol(bench.server.uri(.pushauth), from: Self.target())
    #expect(again.wasThere && again.account.id == first.id && again.account.codes.count == 1)
    try await device.accounts.delete(first.codes[0].id)
    try await device.accounts.removePush(#require(again.account.push).id)
    #expect(try await device.accounts.enrolled().isEmpty)
    let anew = try await device.accounts.enrol(bench.server.uri(.mfauth), from: Self.target())
    #expect(!anew.wasThere && anew.account.policyNames.isEmpty)
  }

  @Test("an account is displayed under other names and identified by its own") func renaming() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let account = try await device.accounts.enrol(bench.server.uri(.mfauth), from: Self.target()).account
    let renamed = try await device.accounts.renameEnrolled(account.id, issuer: "My bank")
    #expect(renamed.issuer == "Acme" && renamed.displayIssuer == "My bank" && renamed.displayName == "alice")
    #expect(renamed.push?.issuer == "My bank" && renamed.codes[0].issuer == "My bank")
    #expect(try await bench.device().accounts.enrolled() == [renamed])
    await #expect(throws: SignetError.self) {
      try await device.accounts.renameEnrolled(account.id, name: "a\u{7}b")
    }
    do {
      _ = try await device.accounts.enrol(bench.server.uri(.mfauth), from: Self.target())
      Issue.record("enrolled twice")
    } catch { guard case SignetError.alreadyEnrolled = error else { throw error } }
    try await device.accounts.lock(account.codes[0].id)
    await #expect(throws: SignetError.self) {
      try await device.accounts.renameEnrolled(account.id, name: "bob")
    }
    let other = Account.ID(String(repeating: "0", count: 32))
    await #expect(throws: SignetError.noSuchAccount) {
      try await device.accounts.renameEnrolled(#require(other), name: "bob")
    }
  }
}
