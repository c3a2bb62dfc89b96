import PostgreSQLFixture
import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// Locks and revocations of a device apply to the UAF keys and the targets on it.
@Suite(.timeLimit(.minutes(10))) struct UAFDeviceLockTests {
  /// A key without a signature counter.
  private static func key() -> UAFTestKey {
    var key = UAFTestKey()
    key.signCounter = 0
    return key
  }

  private static func register(
    _ key: UAFTestKey, _ server: UAFServer, on device: String? = "d1", by token: String? = nil
  ) async throws -> JSONObject {
    let authorization = token.map { [("Authorization", "Bearer \($0)")] } ?? []
    let asked = try await server.uaf(
      "/uaf/1.1/request/registration", ["op": "Reg", "context": #"{"username":"alice"}"#], authorization,
      isOrdered: token == nil)
    guard try asked.integer("statusCode") == 1200 else { return asked }
    let request = try RegistrationRequest(
      parsing: Array(asked.string("uafRequest").utf8), versions: [.v1_1])
    return try await server.answer(request, key, on: device)
  }

  private static func device(_ server: UAFServer) async throws -> ID<DeviceRecord> {
    try #require(
      try await server.storage.devices(user: "alice").first { $0.installation == "d1" }
    ).id
  }

  @Test("a key of a locked device is refused until the device is unlocked; other keys are accepted")
  func authentication() async throws {
    let keys = [Self.key(), Self.key()]
    let server = try await UAFServer(keys)
    _ = try await Self.register(keys[0], server)
    _ = try await Self.register(keys[1], server, on: "d2")
    let devices = DeviceService(server.context)
    let device = try await Self.device(server)
    let request = try await server.authenticationRequest()
    #expect(try await devices.lock(device, reason: "lost", by: .local).compliance == .locked)
    // One requested before the lock, and one after it.
    let answer = try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(try UAFServer.answer(request, keys[0]))])
    #expect(try answer.integer("statusCode") == 1403)
    #expect(try await server.authenticate(keys[0]).integer("statusCode") == 1403)
    #expect(try await server.authenticate(keys[1]).integer("statusCode") == 1200)
    let refusals = try await server.audit().filter { $0.contains(#""event":"uaf.refused""#) }
    #expect(refusals.count == 2 && refusals.allSatisfy { $0.contains("The device is locked") }, "\(refusals)")
    #expect(try await devices.unlock(device, by: .local).compliance == .open)
    #expect(try await server.authenticate(keys[0]).integer("statusCode") == 1200)
    let events = try await server.audit()
    #expect(events.contains { $0.contains(#""event":"device.locked""#) && $0.contains("lost") })
    #expect(events.contains { $0.contains(#""event":"device.unlocked""#) })
  }

  @Test(
    "an authorization from a locked device adds nothing on any device, but can remove keys")
  func authorization() async throws {
    let keys = [Self.key(), Self.key(), Self.key()]
    let server = try await UAFServer(keys)
    let token = try UAFServer.token(await Self.register(keys[0], server))
    let (devices, device) = (DeviceService(server.context), try await Self.device(server))
    _ = try await Self.register(keys[2], server, on: "d3")
    // A registration from before the lock cannot be finished under another device's name.
    let begun = try await server.registrationRequest()
    _ = try await devices.lock(device, reason: "", by: .local)
    #expect(try await server.answer(begun, keys[1], on: "d2").integer("statusCode") == 1403)
    #expect(try await Self.register(keys[1], server, on: "d2", by: token).integer("statusCode") == 1401)
    let added: JSONObject = ["username": "alice", "name": "x", "signatureKey": "{}"]
    let target = try await server.send(
      .post, "/token/dispatch/targets", added.bytes,
      [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")])
    #expect(target.status == 401)
    #expect(try await Self.register(keys[1], server, on: "d1").integer("statusCode") == 1403)
    #expect(try await server.storage.uafCredentials(user: "alice").count == 2)
    let removal = try await server.uaf(
      "/uaf/1.1/request/deregistration", ["op": "Dereg", "context": #"{"username":"alice"}"#],
      [("Authorization", "Bearer \(token)")])
    #expect(try removal.integer("statusCode") == 1200)
    // Keys on another device stay, so that the finder of the locked device cannot lock the owner out.
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.device) == ["d3"])
  }

  @Test("authorizations of a suspended user are refused until the user is resumed")
  func suspended() async throws {
    let keys = [Self.key(), Self.key()]
    let server = try await UAFServer(keys)
    let token = try UAFServer.token(await Self.register(keys[0], server))
    let users = UserService(server.context)
    _ = try await users.suspend(UserID("alice"), reason: "", by: .local)
    let removal: JSONObject = ["op": "Dereg", "context": #"{"username":"alice"}"#]
    let bearer = [("Authorization", "Bearer \(token)")]
    let path = "/uaf/1.1/request/deregistration"
    #expect(try await server.uaf(path, removal, bearer).integer("statusCode") == 1401)
    #expect(try await Self.register(keys[1], server, on: "d1", by: token).integer("statusCode") == 1401)
    #expect(try await server.storage.uafCredentials(user: "alice").count == 1)
    _ = try await users.resume(UserID("alice"), by: .local)
    #expect(try await server.uaf(path, removal, bearer).integer("statusCode") == 1200)
  }

  @Test("a target on a locked device gets and redeems no tokens and changes nothing; it can be removed")
  func targets() async throws {
    let server = try await UAFServer(Self.key())
    let device = try await UAFTestDevice(on: server)
    func dispatch(_ operation: String, _ op: String, status: Int = 200) async throws -> JSONObject {
      try await server.json(
        "/token/dispatch/\(operation)",
        [
          "dispatchTargetId": .string(device.target),
          "getUafRequest": ["op": .string(op), "context": #"{"username":"alice"}"#],
        ], status: status)
    }
    let sent = try await dispatch("registration", "Reg")
    let devices = DeviceService(server.context)
    let id = try await Self.device(server)
    _ = try await devices.lock(id, reason: "", by: .local)
    let refused = try await dispatch("registration", "Reg", status: 403)
    #expect(try refused.string("code") == "deviceLocked")
    let redeemed = try await server.json(
      "/token/redeem/registration", ["token": .string(try sent.string("token"))], isOrdered: false)
    #expect(try redeemed.integer("statusCode") == 1403)
    let change = try await server.change(
      "/devices/d1", device.jws(at: server.clock.now, ["name": "Mine"]))
    #expect(try change.refusal == "403 deviceLocked")
    let key = JSONValue.object(P256.Signing.PrivateKey().publicKey.wireJWK).text
    let added = try await server.json(
      "/token/dispatch/targets",
      ["username": "alice", "deviceId": "d1", "name": "Other", "signatureKey": .string(key)], status: 403)
    #expect(try added.string("code") == "deviceLocked")
    #expect(try await server.storage.uafTargets(user: "alice").map(\.name) == ["Phone"])
    let removed = try await server.signed(
      .delete, "/token/dispatch/targets/\(device.target)", device.jws(at: server.clock.now))
    #expect(removed.status == 204)
    _ = try await devices.unlock(id, by: .local)
    _ = try await UAFTestDevice(on: server, name: "Other")
  }

  @Test(
    "a revoked key is refused and cannot be registered again; the authenticator may register a new one")
  func revocation() async throws {
    let key = Self.key()
    let server = try await UAFServer(key)
    let token = try UAFServer.token(await Self.register(key, server))
    let device = try await UAFTestDevice(on: server)
    let request = try await server.authenticationRequest()
    let devices = DeviceService(server.context)
    _ = try await devices.revoke(try await Self.device(server), by: .local)
    let answer = try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(try UAFServer.answer(request, key))])
    #expect(try answer.integer("statusCode") == 1493)
    let nothing = try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": #"{"username":"alice"}"#])
    #expect(try nothing.integer("statusCode") == 1404)
    #expect(try await Self.register(key, server, by: token).integer("statusCode") == 1401)
    #expect(try await Self.register(key, server).integer("statusCode") == 1498)
    let pending = try await server.signed(
      .get, "/devices/oob-operations/d1", device.jws(at: server.clock.now))
    #expect(try pending.refusal == "404 targetUnknown")
    // Neither an operator nor the device can remove it.
    let selection = UAFKeySelection()
    let count = try await server.storage.removeUAFCredentials(of: "alice", [selection]) { _, _ in .sample() }
    #expect(count == 0)
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.state) == [.revoked])
    let events = try await server.audit()
    #expect(events.contains { $0.contains(#""event":"device.revoked""#) })
    #expect(events.count { $0.contains(#""event":"uaf.revoked""#) } == 1)
    #expect(events.contains { $0.contains(#""event":"uaf.targetRemoved""#) })
    // The next request disallows only active keys.
    #expect(try await server.registrationRequest().policy.disallowed.isEmpty)
  }

  @Test(
    "a forged device row unlocks nothing",
    arguments: ["UPDATE devices SET standing = 'open', ordered_lock = 0", "DELETE FROM devices"])
  func rows(_ statement: String) async throws {
    let key = Self.key()
    let server = try await UAFServer(key, on: .sqlite)
    _ = try await Self.register(key, server)
    _ = try await DeviceService(server.context).lock(try await Self.device(server), reason: "", by: .local)
    try server.tamper(statement)
    #expect(try await server.authenticate(key).integer("statusCode") == 1500)
    #expect(server.capture.lines.contains { $0.contains("storage.failed") && $0.contains("devices") })
  }

  /// A device with a key, whose row an attacker has changed.
  private static func altered(
    _ key: UAFTestKey, by change: String = "name = 'x', standing = 'open'"
  ) async throws -> (UAFServer, device: ID<DeviceRecord>) {
    let server = try await UAFServer([key, Self.key()], on: .sqlite)
    #expect(try await register(key, server).integer("statusCode") == 1200)
    #expect(try await register(Self.key(), server, on: "d2").integer("statusCode") == 1200)
    let found = try await server.storage.devices(user: "alice").filter { $0.installation == "d1" }
    let device = try #require(found.first).id
    try server.tamper("UPDATE devices SET \(change) WHERE installation = 'd1'")
    return (server, device)
  }

  @Test(
    "a device with an altered row is listed as altered, and its answers are refused",
    arguments: [
      "name = 'x'", "platform = 'x'", "created = 1", "standing = 'stepUp'", "ordered_reason = 'x'",
      "ordered = 1", "code = NULL",
    ])
  func alteredIsShown(_ change: String) async throws {
    let key = Self.key()
    let (server, device) = try await Self.altered(key, by: change)
    let admin = try await APIKeyService(server.context).create(
      name: "Operator", displayName: nil, scopes: [.admin], by: .local
    ).text
    for path in ["users/alice/devices", "users/alice", "devices/\(device)"] {
      let answer = try await server.send(
        .get, "//main/v1/admin/\(path)", [], [("Authorization", "Bearer \(admin)")])
      #expect(answer.status == 200, "\(path)")
      let body = try JSONObject(parsing: answer.body)
      let devices = body.contains("devices") ? try body.array("devices") : [.object(body)]
      let complianceStates = devices.compactMap { value -> JSONValue? in
        if case .object(let one) = value, one["id"] == .string(device.text) { one["standing"] } else { nil }
      }
      #expect(complianceStates == ["altered"], "\(path)")
      #expect(devices.count == (path.hasPrefix("users") ? 2 : 1))
    }
    let holdings = try await server.storage.holdings(of: "alice", codeAttempts: 100).authenticators
    #expect(holdings.filter { $0.device == device }.map(\.state) == [.suspended])
    #expect(holdings.filter { $0.device != device }.map(\.state) == [.active])
    #expect(try await server.authenticate(key).integer("statusCode") == 1500)
    #expect(try await Self.register(Self.key(), server).integer("statusCode") == 1500)
    let devices = DeviceService(server.context)
    #expect(try await problem { _ = try await devices.unlock(device, by: .local) } == .deviceLocked)
    #expect(try await server.authenticate(key).integer("statusCode") == 1500)
  }

  @Test("locking a device with an altered row rewrites the row; the lock lasts until an operator removes it")
  func alteredIsLocked() async throws {
    let key = Self.key()
    let (server, device) = try await Self.altered(key)
    let devices = DeviceService(server.context)
    let locked = try await devices.lock(device, reason: "altered", by: .local)
    #expect(locked.compliance == .locked && !locked.isAltered && locked.isOrderedLocked)
    #expect(try await server.authenticate(key).integer("statusCode") == 1403)
    #expect(try await devices.unlock(device, by: .local).compliance == .open)
    #expect(try await server.authenticate(key).integer("statusCode") == 1200)
  }

  @Test(
    "a row moved to another user or installation is neither locked nor revoked, and no success is reported",
    arguments: ["installation = 'd3'", "user_id = 'bob'"])
  func exchanged(_ change: String) async throws {
    let server = try await UAFServer(Self.key(), on: .sqlite)
    try await server.activate()
    try await server.users.add(UserID("bob"), by: .local)
    let device = try #require(try await server.storage.devices(user: "alice").first).id
    try server.tamper("UPDATE devices SET \(change)")
    let devices = DeviceService(server.context)
    let failure = StorageFailure.altered(row: device.text, of: "devices")
    await #expect(throws: failure) { _ = try await devices.lock(device, reason: "lost", by: .local) }
    await #expect(throws: failure) { _ = try await devices.revoke(device, by: .local) }
    #expect(try await server.storage.device(device)?.isOrderedLocked == false)
  }

  @Test(
    "a device with an altered row can be revoked; the row stays altered until an operator locks the device")
  func alteredIsRevoked() async throws {
    let key = Self.key()
    let (server, device) = try await Self.altered(key)
    let devices = DeviceService(server.context)
    #expect(try await devices.revoke(device, by: .local).isAltered)
    let keys = try await server.storage.uafCredentials(user: "alice")
    #expect(keys.filter { $0.device == "d1" }.map(\.state) == [.revoked])
    #expect(keys.filter { $0.device == "d2" }.map(\.state) == [.active])
    #expect(try await Self.register(Self.key(), server).integer("statusCode") == 1500)
    _ = try await devices.lock(device, reason: "", by: .local)
    _ = try await devices.unlock(device, by: .local)
    #expect(try await Self.register(Self.key(), server).integer("statusCode") == 1200)
  }

  @Test("the container of a device whose row was altered is locked, and wiped", arguments: [false, true])
  func alteredIsWiped(_ isDevice: Bool) async throws {
    let server = try await UAFServer(Self.key(), on: .sqlite)
    try await server.activate()
    let container = try #require(try await server.storage.containers(user: "alice").first)
    try server.tamper("UPDATE devices SET name = 'x'")
    if isDevice {
      let device = try #require(try await server.storage.devices(user: "alice").first).id
      _ = try await DeviceService(server.context).lock(device, reason: "", by: .local)
    } else {
      _ = try await DeviceManagement(server.context).command(.lock, for: container.id, reason: "", by: .local)
    }
    #expect(try await server.storage.container(container.id)?.compliance == .locked)
    _ = try await DeviceManagement(server.context).command(.wipe, for: container.id, reason: "", by: .local)
    let orders = try await server.storage.deviceCommands(of: container.id)
    #expect(orders.contains { $0.action == .wipe })
  }

  @Test("a second revocation of a container leaves later keys of its device unchanged")
  func revokedTwice() async throws {
    let keys = [Self.key(), Self.key()]
    let server = try await UAFServer(keys)
    try await server.activate()
    let container = try #require(try await server.storage.containers(user: "alice").first)
    for key in keys {
      #expect(
        try await Self.register(key, server, on: container.installation).integer("statusCode") == 1200)
      _ = try await server.users.revokeContainer(container.id, by: .local)
    }
    let states = try await server.storage.uafCredentials(user: "alice").map(\.state)
    #expect(Set(states) == [.revoked, .active] && states.count == 2)
  }

  @Test("revoking a container with an altered row revokes the keys on its device")
  func revocationOfAnAlteredContainer() async throws {
    let key = Self.key()
    let server = try await UAFServer(key, on: .sqlite)
    try await server.activate()
    let container = try #require(try await server.storage.containers(user: "alice").first)
    #expect(
      try await Self.register(key, server, on: container.installation).integer("statusCode") == 1200)
    try server.tamper("UPDATE containers SET name = 'x'")
    _ = try await server.users.revokeContainer(container.id, by: .local)
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.state) == [.revoked])
  }

  @Test("altered rows do not prevent the revocation of a container, which ends its codes")
  func revocationPastAlteredRows() async throws {
    let server = try await UAFServer(Self.key(), on: .sqlite)
    try await server.activate()
    let container = try #require(try await server.storage.containers(user: "alice").first)
    _ = try await server.uaf(
      "/uaf/1.1/request/registration", ["op": "Reg", "context": #"{"username":"alice"}"#], isOrdered: true)
    try server.tamper("UPDATE devices SET name = 'x'")
    try server.tamper("UPDATE uaf_sessions SET context = '{}'")
    _ = try await server.users.revokeContainer(container.id, by: .local)
    #expect(try await server.storage.containers(user: "alice").map(\.state) == [.revoked])
  }
}
