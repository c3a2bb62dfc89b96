import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetPolicy
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAFClient
import SignetVault
import Testing

@Suite("UAF operations with a real server", .timeLimit(.minutes(10)))
struct UAFOperationsTests {
  @Test("a registration makes a key, an account and a dispatch target, an authentication gives a token")
  func registersAndAuthenticates() async throws {
    let fixture = try await UAFOperationsFixture()
    let outcome = try await fixture.register(pushToken: nil)
    #expect(outcome.account == UAFAccount(username: "alice", server: fixture.baseURL))
    #expect(outcome.targetFailure == nil)
    #expect(
      fixture.person.events() == [
        .choice(["devicePasscode", "fingerprint", "password", "pin"], shown: nil), .enrol(nil), .valid("pin"),
      ])
    let local = try fixture.operations.localData
    let information = try #require(try await local.deviceInformation())
    #expect(information.name == "laptop" && information.dispatchTargets.count == 1)
    // The same name as for containers, so that the server sees one device.
    #expect(information.deviceID == fixture.vault.deviceID.description)
    let devices = try await fixture.server.context.storage.devices(user: "alice")
    #expect(devices.map(\.installation) == [information.deviceID])
    #expect(try await local.accounts() == [outcome.account])
    #expect(try await fixture.serverKeys() == fixture.ownKeys())
    let authorization = try await fixture.operations.authenticate("alice")
    guard case .jwt(let token)? = authorization else { return failed("no token") }
    #expect(token.split(separator: ".").count == 3)
    #expect(
      fixture.person.events() == [
        .choice(["pin"], shown: nil), .verify(nil, .unlocked, shown: nil), .valid("pin"),
      ])
    #expect(fixture.person.obstacles["password"] == .some(.notRegistered))
    // The user's token authorizes the registration of another authenticator.
    fixture.person.use(.password)
    try await fixture.operations.register(
      "alice", device: UAFNewDevice(name: "ignored"), authorization: .jwt(token))
    #expect(try await fixture.ownKeys().count == 2)
    #expect(try await local.deviceInformation() == information)
    #expect(fixture.person.obstacles["pin"] == .some(.alreadyRegistered))
  }

  @Test(
    "fingers and the passcode of the device register and authenticate too",
    arguments: [UAFAuthenticator.Kind.fingerprint, .devicePasscode])
  func systemAuthenticators(_ kind: UAFAuthenticator.Kind) async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.person.type("secret")
    try await fixture.register("alice", kind)
    _ = fixture.person.events()
    #expect(try await fixture.operations.authenticate("alice") != nil)
    #expect(fixture.person.events().contains(.prompt(nil, shown: nil)))
    if kind == .fingerprint {
      fixture.biometrics.queue(.failure(.mismatch), .match)
    } else {
      fixture.person.type("wrong", "secret")
    }
    #expect(try await fixture.operations.authenticate("alice") != nil)
    #expect(fixture.person.events().contains(.prompt(.notRecognised, shown: nil)))
  }

  @Test("a server's cookies are used as the authorization")
  func cookies() async throws {
    let fixture = try await UAFOperationsFixture { $0.reply = .cookie }
    try await fixture.register()
    let authorization = try await fixture.operations.authenticate("alice")
    guard case .cookies(let cookies)? = authorization else { return failed("no cookies") }
    #expect(cookies.map(\.name) == ["__Host-signet-uaf"])
    fixture.person.use(.password)
    try await fixture.operations.register(
      "alice", device: UAFNewDevice(name: "x"), authorization: authorization)
    #expect(try await fixture.serverKeys().count == 2)
    #expect(try await fixture.operations.deregister("alice", authorization: authorization).count == 2)
  }

  // MARK: Errors

  @Test(
    "cancelling any prompt cancels the operation and leaves nothing behind",
    arguments: ["choice", "enrol"])
  func cancelsRegistration(_ question: String) async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.person.cancel(at: question)
    #expect(await failure { try await fixture.register() }?.code == .userCancelled)
    #expect(try await fixture.ownKeys().isEmpty)
    #expect(try await fixture.operations.localData.deviceInformation() == nil)
    #expect(try await fixture.vault.uafDeviceContainer() == nil)
  }

  @Test("cancelling a prompt cancels the authentication", arguments: ["choice", "verify"])
  func cancelsAuthentication(_ question: String) async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    fixture.person.cancel(at: question)
    #expect(await failure { try await fixture.operations.authenticate("alice") }?.code == .userCancelled)
  }

  @Test("choosing an unsuitable authenticator ends with NO_SUITABLE_AUTHENTICATOR")
  func wrongChoice() async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.person.choose("F1D0#1001")
    #expect(await failure { try await fixture.register() }?.code == .noSuitableAuthenticator)
    fixture.person.choose(nil)
    #expect(await failure { try await fixture.register("alice", .face) }?.code == .noSuitableAuthenticator)
    try await fixture.register()
    fixture.person.use(.password)
    #expect(
      await failure { try await fixture.operations.authenticate("alice") }?.code == .noSuitableAuthenticator)
  }

  @Test("the standard rule for passwords uses the device's dictionary, and rejects all without one")
  func standardPasswordRule() async throws {
    let rule = UAFPasswordPolicy.standard(checks: PasswordChecks(dictionary: AccountsTests.NoDictionary()))
    try await rule(SharedSecretBox(SecretBytes(copying: Array("winter-garden-42".utf8))))
    await #expect(throws: UAFCredentialRefusal.self) {
      try await rule(SharedSecretBox(SecretBytes(copying: Array("short".utf8))))
    }
    await #expect(throws: UAFCredentialRefusal(PasswordDictionaryFailure.missing.description)) {
      try await UAFPasswordPolicy.standard(checks: PasswordChecks())(
        SharedSecretBox(SecretBytes(copying: Array("winter-garden-42".utf8))))
    }
  }

  @Test("an invalid PIN is asked for again with the reason")
  func enrolmentRules() async throws {
    let person = ScriptedPerson(
      pinPolicy: UAFPINPolicy(enrolmentRule: { pin throws(UAFCredentialRefusal) in
        if pin.withSecret({ $0.isEqual(to: SecretBytes(copying: Array("314159".utf8))) }) {
          throw UAFCredentialRefusal("too easy", cause: "all the same")
        }
      }))
    let fixture = try await UAFOperationsFixture(person)
    person.type("2718", "314159", "271828")
    try await fixture.register()
    #expect(
      person.events().dropFirst() == [
        .enrol(nil), .enrol(.invalidFormat(minimumLength: 6, maximumLength: 6)),
        .enrol(.refused(UAFCredentialRefusal("too easy", cause: "all the same"))), .valid("pin"),
      ])
  }

  @Test("a wrong PIN is asked for again; the third causes a wait, the fifth locks permanently")
  func lockout() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    _ = fixture.person.events()
    fixture.person.type("000000", "271828")
    #expect(try await fixture.operations.authenticate("alice") != nil)
    #expect(
      fixture.person.events().dropFirst() == [
        .verify(nil, .unlocked, shown: nil),
        .verify(.wrongCredential, .lastAttemptFailed(remaining: 4, retryAfter: .zero), shown: nil),
        .valid("pin"),
      ])
    // After the third failure there is a wait of a minute, during which attempts do not count; after the fourth, three minutes.
    let waits = [Duration.zero, .zero, .seconds(60), .seconds(180)]
    for (index, wait) in waits.enumerated() {
      fixture.person.type("000000", "")
      fixture.person.cancelAfterTyping()
      #expect(await failure { try await fixture.operations.authenticate("alice") }?.code == .userCancelled)
      #expect(
        fixture.person.events().last
          == .verify(
            .wrongCredential, .lastAttemptFailed(remaining: 4 - index, retryAfter: wait), shown: nil))
      fixture.trusted.advance(by: wait)
    }
    fixture.person.type("000000")
    #expect(await failure { try await fixture.operations.authenticate("alice") }?.code == .userLockout)
    _ = fixture.person.events()
    fixture.person.type("271828")
    #expect(await failure { try await fixture.operations.authenticate("alice") }?.code == .userLockout)
    #expect(fixture.person.events().count == 1, "the person is not asked for what is locked")
  }

  @Test("a PIN change requires the current PIN, another new one, and is local")
  func pinChange() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    _ = fixture.person.events()
    fixture.person.change(("000000", "161803"), ("271828", "12"), ("271828", "271828"), ("271828", "161803"))
    fixture.transport.cut(.before, at: "")
    try await fixture.operations.changePIN(of: "alice")
    #expect(
      fixture.person.events() == [
        .change(nil, .unlocked),
        .change(.wrongCredential, .lastAttemptFailed(remaining: 4, retryAfter: .zero)),
        .change(
          .invalidFormat(minimumLength: 6, maximumLength: 6),
          .lastAttemptFailed(remaining: 4, retryAfter: .zero)),
        .change(.oldEqualsNew, .lastAttemptFailed(remaining: 4, retryAfter: .zero)), .valid("pin"),
      ])
    fixture.transport.cut(nil, at: "")
    fixture.person.type("161803")
    #expect(try await fixture.operations.authenticate("alice") != nil)
    let without = await failure { try await fixture.operations.changePassword(of: "alice") }
    #expect(without?.code == .userNotEnrolled)
    #expect(without?.description == "there is nothing to change for this user on this device")
    fixture.person.cancel(at: "change")
    let cancelled = await failure { try await fixture.operations.changePIN(of: "alice") }
    #expect(cancelled == .fido(.userCancelled))
  }

  @Test("the password changes too")
  func passwordChange() async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.person.type("correct horse")
    try await fixture.register("alice", .password)
    fixture.person.change(("correct horse", "battery staple"))
    try await fixture.operations.changePassword(of: "alice")
    fixture.person.type("battery staple")
    #expect(try await fixture.operations.authenticate("alice") != nil)
  }

  @Test("an app that the server does not trust ends with UNTRUSTED_FACET_ID")
  func untrusted() async throws {
    let fixture = try await UAFOperationsFixture(facet: "linux:app-id:org.example.other")
    #expect(await failure { try await fixture.register() }?.code == .untrustedFacetID)
  }

  @Test("without authorization the server refuses and nothing is left behind")
  func unauthorized() async throws {
    let fixture = try await UAFOperationsFixture()
    let found = await failure {
      try await fixture.operations.register("alice", device: UAFNewDevice(name: "laptop"))
    }
    guard case .network(let problem)? = found else { return failed("\(String(describing: found))") }
    #expect(problem.uafStatus == 1401 && problem.server == fixture.baseURL)
    #expect(try await fixture.vault.uafDeviceContainer() == nil)
  }

  @Test("a name that is registered at another server is refused before anything is sent")
  func otherServer() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    fixture.transport.cut(.before, at: "")
    let found = await failure {
      try await fixture.operations.register(
        "alice", server: "https://other.example.org", device: UAFNewDevice(name: "laptop"))
    }
    #expect(found == .userAlreadyRegisteredInAnotherServer(fixture.baseURL))
    let plain = await failure {
      try await fixture.operations.register(
        "bob", server: "http://other.example.org", device: UAFNewDevice(name: "laptop"))
    }
    #expect(plain == .configuration(.plainHTTP))
  }

  @Test("an unreachable server is a network failure, and the login continues")
  func offline() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    fixture.transport.cut(.before, at: "/uaf/1.1/request/authentication/")
    let operations = try fixture.operations
    var session: UAFAuthorization? = .jwt("login")
    do throws(SignetError) {
      _ = try await operations.authenticate("alice", session: &session)
      Issue.record("it succeeded")
    } catch {
      #expect(session == .jwt("login"))
      #expect(error.uafNetworkProblem?.cause == .transport(.unreachable(code: 7)), "\(error)")
    }
  }

  @Test("responses are signed one at a time, since an overtaken counter looks like a clone's")
  func oneAtATime() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    // Another program, which does not wait for the lock.
    let path = fixture.folder.path + "/device"
    let vault = try Vault.forTests(path, clock: fixture.trusted) { $0.lockTimeout = .zero }
    let transport = fixture.transport
    let device = Device(vault: vault, clock: fixture.clock) { _ throws(TransportFailure) in transport }
    let client = UAFClient(device: device, facetID: UAFOperationsFixture.facet)
    let hasty = UAFOperations(
      client: client, configuration: try UAFConfiguration(baseURL: fixture.baseURL),
      interaction: fixture.person, clock: fixture.timer)
    #expect(try await hasty.authenticate("alice") != nil)
    let lock = try await fixture.vault.counterLock()
    let found = await failure { try await hasty.authenticate("alice") }
    #expect(found == .device(.vault(.busy)), "\(String(describing: found))")
    lock.release()
    // Both release theirs with the server's answer.
    #expect(try await fixture.operations.authenticate("alice") != nil)
    #expect(try await hasty.authenticate("alice") != nil)
  }

  @Test("a device failure is reported to the server with ASM and client codes")
  func reportsFailures() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    let context: JSONObject = ["username": "alice"]
    let answer = try await fixture.ask(
      "/token/dispatch/authentication",
      ["dispatcher": "link", "getUafRequest": ["context": .string(context.text)]])
    let link = try answer.object("dispatcherInformation").string("response")
    fixture.person.cancel(at: "verify")
    let operations = try fixture.operations
    let found = await failure {
      let payload = try await operations.decode(scanned: link)
      guard case .authentication(let authentication) = try await operations.redeem(payload) else {
        return failed("no authentication")
      }
      try await authentication.run()
    }
    #expect(found?.code == .userCancelled)
    let status = try await fixture.ask("/status", ["sessionId": .string(answer.string("sessionId"))])
    #expect(try status.string("status") == "failed")
    #expect(try status.integer("asmStatusCode") == 3)
    #expect(try status.integer("clientErrorCode") == 3)
  }

  @Test("a key that the server has forgotten is deleted")
  func forgotten() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    try await fixture.register("bob")
    let context: JSONObject = [:]
    let link = try await fixture.link("authentication", context)
    let operations = try fixture.operations
    guard
      case .authentication(let authentication) = try await operations.redeem(
        operations.decode(scanned: link))
    else { return failed("no authentication") }
    try await fixture.forgetAtServer("alice")
    let found = await failure { try await authentication.run() }
    guard case .network(let problem)? = found else { return failed("\(String(describing: found))") }
    #expect(problem.uafStatus == 1481 && problem.description.hasSuffix("register again"), "\(problem)")
    #expect(try await fixture.ownKeys().isEmpty)
  }

  @Test("a user whose only key the server removed is asked to register again")
  func removedAtServer() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    try await fixture.forgetAtServer("alice")
    let found = await failure { try await fixture.operations.authenticate("alice") }
    guard case .network(let problem)? = found else { return failed("\(String(describing: found))") }
    #expect(problem.uafStatus == 1404 && problem.description.hasSuffix("; register again"), "\(problem)")
    try await fixture.register("alice", .password)
    #expect(try await fixture.operations.authenticate("alice") != nil)
  }

  // MARK: Deregistration

  @Test("authenticators are deregistered one by one; the last removes the device's registration")
  func deregisters() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    try await fixture.register("alice", .password)
    let pin = try #require(
      try await fixture.client.authenticators().first { $0.kind == .pin }?.aaid)
    let operations = try fixture.operations
    #expect(try await operations.deregister("alice", aaid: pin, authorization: .jws).map(\.aaid) == [pin])
    #expect(try await fixture.serverKeys().count == 1)
    #expect(try await operations.localData.deviceInformation() != nil)
    #expect(try await operations.deregister("alice", authorization: .jws).count == 1)
    #expect(try await fixture.serverKeys().isEmpty)
    #expect(try await operations.localData.deviceInformation() == nil)
    #expect(try await fixture.vault.uafDeviceContainer() == nil)
    #expect(try await fixture.server.context.storage.uafTargets(user: "alice").isEmpty)
  }

  @Test("deregistering one user leaves the keys of another")
  func deregistersItsUser() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    try await fixture.register("bob")
    let gone = try await fixture.operations.deregister("alice", authorization: .jws)
    #expect(gone.map(\.username) == ["alice"])
    #expect(try await fixture.client.keys().map(\.username) == ["bob"])
    try await fixture.operations.authenticate("bob")
  }

  @Test("an unauthorized deregistration removes nothing")
  func deregistrationRefused() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    #expect(await failure { try await fixture.operations.deregister("alice") } != nil)
    #expect(try await fixture.ownKeys().count == 1)
    #expect(try await fixture.serverKeys().count == 1)
  }

  @Test("a local deletion contacts no server")
  func deletesLocally() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    let local = try fixture.operations.localData
    let unknown = await failure { try await local.deleteAuthenticator(of: "alice", aaid: "F1D0#0001") }
    #expect(unknown == .noSuchAuthenticator(aaid: "F1D0#0001"))
    fixture.transport.cut(.before, at: "")
    #expect(try await local.deleteAuthenticator(of: "alice").count == 1)
    #expect(try await local.deviceInformation() == nil)
    #expect(try await fixture.serverKeys().count == 1)
  }
}

extension UAFOperationsFixture {
  /// Removes a user's keys at the server without informing the device.
  func forgetAtServer(_ username: String) async throws {
    let context: JSONObject = ["username": .string(username)]
    let response = try await transport.send(
      HTTPRequest(
        method: .post, url: baseURL + "/uaf/1.1/request/deregistration",
        headers: [
          ("Content-Type", "application/fido+uaf;charset=UTF-8"), ("Accept", "application/fido+uaf"),
          ("Authorization", "Bearer \(apiKey)"),
        ], body: (["op": "Dereg", "context": .string(context.text)] as JSONObject).bytes))
    #expect(try JSONObject(parsing: response.body).integer("statusCode") == 1200)
  }
}
