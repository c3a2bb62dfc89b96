import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJOSE
import SignetJSON
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAFClient
import SignetVault
import Testing

@Suite("Device information for UAF servers", .timeLimit(.minutes(10)))
struct UAFDeviceInformationTests {
  private func check(_ fixture: UAFOperationsFixture) async throws -> [UAFMismatch] {
    let check = try await fixture.operations.checkDeviceInformation()
    #expect(check.errors.isEmpty, "\(check.errors)")
    return check.mismatches
  }

  private func target(_ fixture: UAFOperationsFixture) async throws -> String {
    let information = try #require(try await fixture.operations.localData.deviceInformation())
    return try #require(information.dispatchTargets.values.first)
  }

  /// Repairs the mismatches, and expects none afterwards.
  private func mend(_ fixture: UAFOperationsFixture, _ mismatches: [UAFMismatch]) async throws {
    #expect(try await fixture.operations.synchronize(mismatches).isEmpty)
    #expect(try await check(fixture).isEmpty)
  }

  @Test("name and push token change at server and device; no change is a success")
  func changes() async throws {
    let fixture = try await UAFOperationsFixture()
    let operations = try fixture.operations
    try await operations.changeDeviceInformation()
    await #expect(throws: UAFDeviceInformationChangeFailure.notFound.signetError) {
      try await operations.changeDeviceInformation(name: "desk")
    }
    try await fixture.register(pushToken: "token-1")
    #expect(try await check(fixture).isEmpty)
    try await operations.changeDeviceInformation(name: "desk", pushToken: "token-2")
    var information = try #require(try await operations.localData.deviceInformation())
    #expect((information.name, information.pushToken) == ("desk", "token-2"))
    #expect(try await check(fixture).isEmpty)
    try await operations.changeDeviceInformation(pushToken: "ignored", disablesPush: true)
    information = try #require(try await operations.localData.deviceInformation())
    #expect(information.pushToken == nil)
    #expect(try await check(fixture).isEmpty)
  }

  @Test("every signature of the device covers its request and the data sent with it")
  func saysItsRequest() async throws {
    let fixture = try await UAFOperationsFixture()
    let operations = try fixture.operations
    try await fixture.register()
    _ = try await check(fixture)
    _ = try await operations.pendingOutOfBandOperations()
    try await operations.changeDeviceInformation(name: "desk")
    _ = try await operations.deregister("alice", authorization: .jws)
    let origin = String(fixture.baseURL.dropLast("/nevisfido".count))
    var methods: Set<String> = []
    for request in fixture.changes.requests() {
      func field(_ name: String) -> String? { request.headers.first { $0.0 == name }?.1 }
      // A request to change a target is itself the JWS.
      let isJWS = field("Content-Type")?.hasPrefix("application/jose") == true
      guard
        let text = field("Device-Signature") ?? (isJWS ? String(decoding: request.body, as: UTF8.self) : nil)
      else { continue }
      let claims = try JSONObject(parsing: JWS(compact: text).unverifiedPayload)
      #expect(try claims.string("method") == request.method.rawValue)
      let path = try claims.string("path")
      #expect(request.url == origin + path)
      let digest = Base64URL.encode(HashFunction.sha256.digest(of: request.body))
      #expect(try claims.optionalString("body") == (isJWS || request.body.isEmpty ? nil : digest))
      methods.insert(request.method.rawValue)
    }
    #expect(methods == ["DELETE", "GET", "PATCH", "POST"])
  }

  @Test("a name that another device of the user has is refused")
  func nameTaken() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    _ = try await fixture.ask(
      "/token/dispatch/targets",
      [
        "username": "alice", "name": "phone", "signatureKey": .string(try Self.jwk()),
      ])
    await #expect(throws: UAFDeviceInformationChangeFailure.nameAlreadyExists("phone").signetError) {
      try await fixture.operations.changeDeviceInformation(name: "phone")
    }
    #expect(try await fixture.operations.localData.deviceInformation()?.name == "laptop")
    #expect(try await check(fixture).isEmpty)
  }

  private static func jwk() throws -> String {
    let point = P256.Signing.PrivateKey().publicKey.x963Representation
    let object: JSONObject = [
      "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(Array(point[1..<33]))),
      "y": .string(Base64URL.encode(Array(point[33...]))),
    ]
    return object.text
  }

  @Test("an unreachable server is retried as configured")
  func retries() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    let target = try await target(fixture)
    fixture.transport.cut(.before, at: target)
    let operations = try fixture.operations
    async let changed: Void = operations.changeDeviceInformation(
      name: "desk", retry: .constant(maximumRetries: 1, delay: .seconds(7)))
    #expect(await fixture.timer.untilSomeoneSleeps() == .seconds(7))
    fixture.transport.cut(nil, at: target)
    fixture.timer.advance(by: .seconds(7))
    try await changed
    #expect(try await operations.localData.deviceInformation()?.name == "desk")
  }

  // MARK: The six mismatches

  @Test("a key that only the server has is removed there")
  func missingHere() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    try await fixture.register("alice", .password)
    let key = try #require(try await fixture.client.keys().last)
    try await fixture.client.delete(key)
    let found = try await check(fixture)
    let account = UAFAccount(username: "alice", server: fixture.baseURL)
    #expect(
      found == [.missingAuthenticatorInMobileDevice(account, aaid: key.aaid, keyID: key.keyID)])
    try await mend(fixture, found)
    #expect(try await fixture.serverKeys() == fixture.ownKeys())
  }

  @Test("a key that only this device has is deleted here")
  func missingThere() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    let key = try #require(try await fixture.client.keys().last)
    try await fixture.forgetAtServer("alice")
    let found = try await check(fixture)
    let account = UAFAccount(username: "alice", server: fixture.baseURL)
    #expect(found == [.missingAuthenticatorInServer(account, aaid: key.aaid, keyID: key.keyID)])
    try await mend(fixture, found)
    #expect(try await fixture.ownKeys().isEmpty)
    #expect(try await fixture.server.context.storage.uafTargets(user: "alice").isEmpty)
  }

  @Test("a target that this device does not use is removed at the server")
  func strayTarget() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    let information = try #require(try await fixture.operations.localData.deviceInformation())
    let stray = try await fixture.ask(
      "/token/dispatch/targets",
      [
        "username": "alice", "name": "stray", "deviceId": .string(information.deviceID),
        "signatureKey": .string(try Self.jwk()),
      ]
    ).string("id")
    let found = try await check(fixture)
    let account = UAFAccount(username: "alice", server: fixture.baseURL)
    #expect(found == [.missingDeviceInformationInMobileDevice(account, dispatchTarget: stray)])
    #expect(
      try await fixture.operations.synchronize(found) == [.forbidden(server: fixture.baseURL)])
    // Data for another server is not sent to this one, which could use it there.
    let elsewhere = UAFOperations(
      client: fixture.client, configuration: try UAFConfiguration(host: "id.example.org"),
      interaction: fixture.person, clock: fixture.timer)
    #expect(
      await elsewhere.synchronize(found, authorization: .jwt(fixture.apiKey))
        == [.forbidden(server: fixture.baseURL)])
    #expect(try await fixture.operations.synchronize(found, authorization: .jwt(fixture.apiKey)).isEmpty)
    #expect(try await check(fixture).isEmpty)
  }

  @Test("a server that lost this device registers it again with an authorization")
  func forgottenDevice() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    let target = try await target(fixture)
    _ = try await fixture.ask("/token/dispatch/targets/\(target)", [:], .delete)
    let found = try await check(fixture)
    let account = UAFAccount(username: "alice", server: fixture.baseURL)
    #expect(found == [.missingDeviceInformationInServer(account, dispatchTarget: target)])
    let operations = try fixture.operations
    #expect(await operations.synchronize(found, authorization: .jwt(fixture.apiKey)).isEmpty)
    #expect(try await check(fixture).isEmpty)
    // Without an authorization, the next authentication restores it.
    let second = try await self.target(fixture)
    _ = try await fixture.ask("/token/dispatch/targets/\(second)", [:], .delete)
    #expect(await operations.synchronize(try await check(fixture)).isEmpty)
    #expect(
      try await check(fixture) == [.missingDeviceInformationInServer(account, dispatchTarget: nil)])
    try await operations.authenticate("alice")
    #expect(try await check(fixture).isEmpty)
  }

  @Test("a different name and push token at the server are corrected")
  func differences() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register(pushToken: "token-1")
    let target = try await target(fixture)
    // The state after an interrupted change: the server has it, this device has not stored it.
    let state = try #require(try await fixture.operations.store.state())
    let entry = try #require(state["alice"])
    try await fixture.operations.changeTarget(
      target, ["name": "desk", "target": "token-2"], of: entry)
    let found = try await check(fixture)
    let account = UAFAccount(username: "alice", server: fixture.baseURL)
    #expect(
      found == [
        .deviceName(account, dispatchTarget: target, onDevice: "laptop", inServer: "desk"),
        .pushToken(account, dispatchTarget: target, onDevice: "token-1", inServer: "token-2"),
      ])
    try await mend(fixture, found)
  }

  // MARK: What cannot be put right

  @Test("a server without the service is reported as such")
  func noService() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    fixture.changes.change { request, response in
      if request.method == .patch { response = HTTPResponse(status: 404) }
    }
    await #expect(
      throws: UAFDeviceInformationChangeFailure.operationNotSupportedByBackend(server: fixture.baseURL)
        .signetError
    ) {
      try await fixture.operations.changeDeviceInformation(name: "desk")
    }
    fixture.changes.change { request, response in
      if request.method == .patch { response = HTTPResponse(status: 403) }
    }
    await #expect(throws: UAFDeviceInformationChangeFailure.forbidden(server: fixture.baseURL).signetError) {
      try await fixture.operations.changeDeviceInformation(name: "desk")
    }
    #expect(try await fixture.operations.localData.deviceInformation()?.name == "laptop")
  }

  @Test("a name used by another device is not reported as a server error")
  func takenSince() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    let target = try await target(fixture)
    _ = try await fixture.ask("/token/dispatch/targets/\(target)", [:], .delete)
    _ = try await fixture.ask(
      "/token/dispatch/targets",
      ["username": "alice", "name": "laptop", "signatureKey": .string(try Self.jwk())])
    let found = try await check(fixture)
    #expect(
      try await fixture.operations.synchronize(found, authorization: .jwt(fixture.apiKey))
        == [.nameAlreadyExists("laptop", server: fixture.baseURL)])
  }

  @Test("a key that fails to sign is a device error, and nothing is sent unsigned")
  func lostSigningKey() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    let vault = fixture.vault
    let container = try #require(try await vault.uafDeviceContainer())
    let unlocked = try await vault.open(Vault.uafDeviceDomain, of: container, with: .device)
    try await vault.changeRecords(of: unlocked) { records in records.remove("sign-1") }
    _ = fixture.changes.requests()
    let operations = try fixture.operations
    let found = await failure { try await operations.deregister("alice", authorization: .jws) }
    guard case .device? = found else { return failed("\(String(describing: found))") }
    #expect(fixture.changes.requests().isEmpty)
    #expect(try await fixture.ownKeys() == fixture.serverKeys())
    let change = await #expect(throws: SignetError.self) {
      try await operations.changeDeviceInformation(name: "desk")
    }
    if case .uaf? = change { failed("\(String(describing: change)) is not the failure of the device") }
  }

  // MARK: Interrupted

  @Test("a registration with a lost answer leaves a key that a synchronization can resolve")
  func lostAnswer() async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.transport.cut(.after, at: "/uaf/1.1/registration/")
    #expect(await failure { try await fixture.register() } != nil)
    fixture.transport.cut(nil, at: "/uaf/1.1/registration/")
    // Both sides have the key, and it works; the target follows with the first authorization.
    #expect(try await fixture.serverKeys() == fixture.ownKeys())
    #expect(try await fixture.operations.authenticate("alice") != nil)
    #expect(try await check(fixture).isEmpty)
  }

  @Test("a registration that never reached the server leaves nothing")
  func neverSent() async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.transport.cut(.before, at: "/uaf/1.1/registration/")
    #expect(await failure { try await fixture.register() } != nil)
    #expect(try await fixture.ownKeys().isEmpty)
    #expect(try await fixture.operations.localData.deviceInformation() == nil)
  }

  @Test("a target with a lost answer is replaced at the next attempt, under the same name")
  func lostTarget() async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.transport.cut(.after, at: "/token/dispatch/targets/")
    let outcome = try await fixture.register()
    #expect(outcome.targetFailure != nil)
    fixture.transport.cut(nil, at: "/token/dispatch/targets/")
    try await fixture.operations.authenticate("alice")
    #expect(try await check(fixture).isEmpty)
    #expect(try await fixture.server.context.storage.uafTargets(user: "alice").count == 1)
  }

  @Test("a deregistration with a lost answer is detected and completed")
  func lostDeregistration() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    fixture.transport.cut(.after, at: "/uaf/1.1/request/deregistration/")
    #expect(await failure { try await fixture.operations.deregister("alice", authorization: .jws) } != nil)
    fixture.transport.cut(nil, at: "/uaf/1.1/request/deregistration/")
    #expect(try await fixture.ownKeys().count == 1)
    #expect(try await fixture.serverKeys().isEmpty)
    try await mend(fixture, try await check(fixture))
    #expect(try await fixture.ownKeys().isEmpty)
  }
}
