import Foundation
import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import SignetVault
import Synchronization
import Testing

/// Containers that a device ends: at once on the device, and at the server as soon as it is reachable.
@Suite(.timeLimit(.minutes(10))) struct EndingTests {
  private let cutOff: SignetError = .transport(.unreachable(code: 7))

  @Test func tellsTheServerAtOnceAndWhy() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    let container = try await fixture.activate(server.invite())
    let outcome = try await fixture.device.deleteContainer(container.id, reason: "lost my laptop")
    #expect(outcome == .delivered)
    #expect(try await fixture.isEmpty)
    #expect(try await fixture.device.queuedNotices().isEmpty)
    let record = try #require(try await server.record(container))
    #expect(record.state == .revoked && record.ended == "deleted")
    let events = try await server.events("container.deleted")
    #expect(events.count == 1)
    #expect(try events[0].string("reason") == "lost my laptop")
    #expect(try events[0].string("by") == "container:\(container.serverContainerID)")
    await #expect(throws: SignetError.noSuchContainer) {
      try await fixture.device.deleteContainer(container.id)
    }
    await server.server.stop()
  }

  @Test func aReasonThatCannotBeSentDeletesNothing() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    let container = try await fixture.activate(server.invite())
    for reason in [String(repeating: "x", count: 1001), "two\nlines"] {
      let failure = await #expect(throws: SignetError.self) {
        try await fixture.device.deleteContainer(container.id, reason: reason)
      }
      guard case .reasonRefused = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
    #expect(try await fixture.device.containers() == [container])
    await server.server.stop()
  }

  @Test("offline, keys are deleted at once and the notice is retried at growing intervals")
  func queuesWhatCannotBeSent() async throws {
    let server = try await InvitingServer()
    let clock = VirtualClock()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let device = Device(vault: fixture.vault, clock: clock) { _ throws(TransportFailure) in transport }
    let container = try await fixture.activate(server.invite())
    transport.cut(.before, at: "/device/end")
    #expect(try await device.deleteContainer(container.id, reason: "sold") == .queued(cutOff))
    #expect(try await device.containers().isEmpty)
    await #expect(throws: SignetError.noSuchContainer) { try await device.container(container.id) }
    await #expect(throws: SignetError.noSuchContainer) { try await device.oneTimePassword(for: container) }
    #expect(try await server.states() == ["active"])

    // Each wait equals the total time so far, a minute at least and a day at most.
    for wait: Int64 in [60, 60, 120, 240, 480] {
      let notice = try #require(try await device.queuedNotices().first)
      #expect(notice.nextAttempt == clock.now + wait && notice.event == .deleted)
      #expect(notice.user == "alice" && notice.server == container.server.shortForm)
      clock.advance(by: wait - 1)
      let early = try await device.sendQueuedNotices().waiting
      #expect(early.map(\.notice) == [notice] && early.map(\.failure) == [nil])
      clock.advance(by: 1)
      #expect(try await device.sendQueuedNotices().waiting.map(\.failure) == [cutOff])
    }
    // A clock that is set back by years does not stop the attempts.
    clock.advance(by: -400 * 86_400)
    #expect(try await device.sendQueuedNotices().waiting.map(\.failure) == [cutOff])
    #expect(try await device.queuedNotices().first?.nextAttempt == clock.now + 60)
    clock.advance(by: 450 * 86_400)
    #expect(try await device.sendQueuedNotices().waiting.map(\.failure) == [cutOff])
    #expect(try await device.queuedNotices().first?.nextAttempt == clock.now + 86_400)

    // Another process sends it; a delivered notice is removed.
    transport.cut(nil, at: "/device/end")
    let other = try DeviceFixture(transport, folder: fixture.folder)
    #expect(try await other.device.sendQueuedNotices(evenIfEarly: true).delivered.map(\.user) == ["alice"])
    #expect(try await device.sendQueuedNotices(evenIfEarly: true).isEmpty)
    #expect(try await server.states() == ["revoked"])
    #expect(try await server.events("container.deleted").map { try $0.string("reason") } == ["sold"])
    await server.server.stop()
  }

  @Test("a queued notice is signed, contains no key, and ends its own container only")
  func queuesNoKey() async throws {
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await InvitingServer(.password(policy, .lock(limit: 5)))
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(server.invite(), password: "winter-garden")
    let other = try await fixture.activate(server.invite("bob"), password: "summer-garden")
    var keys: [[UInt8]] = []
    let typed = SecretBytes(copying: Array("winter-garden".utf8))
    let user = try await fixture.vault.open("user", of: container.id, with: .password(typed))
    for name in ["signing-key", "otp-secret"] {
      keys.append(try user.withRecord(name) { SecretBytes(copying: $0).insecureCopy() })
    }
    let own = try await fixture.vault.open("device", of: container.id, with: .device)
    for name in ["session-key", "encryption-key"] {
      keys.append(try own.withRecord(name) { SecretBytes(copying: $0).insecureCopy() })
    }
    transport.cut(.before, at: "/device/end")
    #expect(try await fixture.device.deleteContainer(container.id) == .queued(cutOff))
    let waiting = try #require(try await fixture.vault.notices().first)
    let message = try JSONObject(parsing: waiting.bytes).string("notice")
    let payload = try SignedMessage.unverifiedPayload(of: message)
    // The control of the search: the container's ID at the server is found.
    let name = Data(container.serverContainerID.text.utf8)
    #expect(Data(payload).firstRange(of: name) != nil)
    for (index, key) in keys.enumerated() {
      for needle in [key, Array(Base64URL.encode(key).utf8), Array(Hex.encode(key).utf8)] {
        for bytes in [waiting.bytes, payload] {
          #expect(Data(bytes).firstRange(of: Data(needle)) == nil, "key \(index)")
        }
      }
    }
    // With the ID of the device's other container in it, the notice ends nothing.
    let parts = message.split(separator: ".")
    let renamed = String(decoding: payload, as: UTF8.self)
      .replacing(container.serverContainerID.text, with: other.serverContainerID.text)
    let forged = "\(parts[0]).\(Base64URL.encode(Array(renamed.utf8))).\(parts[2])"
    let response = try await server.transport.send(
      HTTPRequest(
        method: .post, url: server.server.serverURL.fullForm + "/v1/device/end",
        headers: [("Content-Type", "application/json")],
        body: JSONValue.object(["notice": .string(forged)]).bytes))
    #expect(response.status == 401)
    transport.cut(nil, at: "/device/end")
    #expect(try await fixture.device.sendQueuedNotices(evenIfEarly: true).delivered.count == 1)
    #expect(try await server.states() == ["revoked"])
    #expect(try await server.states("bob") == ["active"])
    await server.server.stop()
  }

  @Test("an older notice to the same server does not determine this one's outcome")
  func tellsItsOwnOutcome() async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let refusing = RefusingTransport(transport)
    let fixture = try DeviceFixture(refusing)
    let older = try await fixture.activate(server.invite("bob"))
    let newer = try await fixture.activate(server.invite())
    let problem = Problem(.unauthorized)
    refusing.refuseNextBody(at: "/device/end", problem)
    #expect(try await fixture.device.deleteContainer(older.id) == .queued(.refused(problem)))
    #expect(try await fixture.device.deleteContainer(newer.id) == .delivered)
    #expect(try await fixture.device.queuedNotices().map(\.user) == ["bob"])
    #expect(try await server.states() == ["revoked"])
    #expect(try await server.states("bob") == ["active"])
    // The reverse: an older queued notice does not change the result of this one.
    let third = try await fixture.activate(server.invite())
    transport.cut(.before, at: "/device/end")
    #expect(try await fixture.device.deleteContainer(third.id) == .queued(cutOff))
    await server.server.stop()
  }

  @Test func sendingTwiceIsOneEvent() async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(server.invite())
    // The server receives it, and its answer is lost.
    transport.cut(.after, at: "/device/end")
    let outcome = try await fixture.device.deleteContainer(container.id)
    #expect(outcome == .queued(.transport(.incompleteResponse(code: 18))))
    #expect(try await server.states() == ["revoked"])
    transport.cut(nil, at: "/device/end")
    #expect(try await fixture.device.sendQueuedNotices(evenIfEarly: true).delivered.count == 1)
    #expect(try await server.events("container.deleted").count == 1)
    await server.server.stop()
  }

  @Test("a notice outlives a new activation, and is dropped after 90 days")
  func outlivesAndExpires() async throws {
    let server = try await InvitingServer()
    let clock = VirtualClock()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let device = Device(vault: fixture.vault, clock: clock) { _ throws(TransportFailure) in transport }
    let first = try await fixture.activate(server.invite())
    transport.cut(.before, at: "/device/end")
    try await device.deleteContainer(first.id)
    let second = try await fixture.activate(server.invite())
    #expect(try await device.queuedNotices().count == 1)
    clock.advance(by: QueuedNotice.lifetime - 1)
    #expect(try await device.sendQueuedNotices().waiting.count == 1)
    clock.advance(by: 1)
    #expect(try await device.sendQueuedNotices().expired.map(\.event) == [.deleted])
    #expect(try await device.queuedNotices().isEmpty)
    #expect(try await device.containers() == [second])
    await server.server.stop()
  }

  @Test func endsARenewalThatWasBegun() async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(server.invite())
    transport.cut(.after, at: "/confirm")
    await #expect(throws: SignetError.self) {
      try await fixture.device.renew(container, handler: ScriptedActivation(reply: .abort))
    }
    transport.cut(nil, at: "/confirm")
    // The server uses the new keys; the device, which does not know that, deletes the keys that it knows.
    #expect(try await fixture.device.deleteContainer(container.id) == .delivered)
    #expect(try await fixture.device.unconfirmedContainers().isEmpty)
    #expect(try await fixture.device.queuedNotices().isEmpty)
    #expect(try await server.states() == ["revoked", "revoked"])
    await server.server.stop()
  }

  @Test("an erasure after too many wrong passwords is reported with time and count")
  func tellsOfAWipe() async throws {
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await InvitingServer(.password(policy, .lock(limit: 2, atLimit: .wipe)))
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(server.invite(), password: "winter-garden")
    for _ in 0..<2 {
      await #expect(throws: SignetError.self) {
        try await fixture.device.oneTimePassword(
          for: container, by: .password(secret("summer-garden")))
      }
    }
    #expect(try await fixture.vault.wipeReceipts().map(\.failedCount) == [2])
    transport.cut(.before, at: "/device/end")
    let report = try await fixture.device.sendQueuedNotices()
    #expect(report.waiting.map(\.failure) == [cutOff] && report.waiting.map(\.notice.event) == [.wiped])
    #expect(try await fixture.device.containers().isEmpty)
    #expect(try await fixture.vault.wipeReceipts().isEmpty)
    #expect(try await server.states() == ["active"])
    transport.cut(nil, at: "/device/end")
    #expect(try await fixture.device.sendQueuedNotices(evenIfEarly: true).delivered.count == 1)
    #expect(try await server.record(container)?.ended == "wiped")
    let events = try await server.events("container.wiped")
    #expect(try events.map { try $0.string("reason") } == ["erased after 2 wrong passwords"])
    await server.server.stop()
  }

  @Test("a busy keystore fails the deletion without loss, and it can be repeated")
  func waitsForABusyKeystore() async throws {
    let server = try await InvitingServer()
    let hardware = SimulatedHardware()
    let folder = try TemporaryFolder()
    let vault = try Vault.forTests(folder.path + "/device", keystore: hardware)
    let transport = server.transport
    let device = Device(vault: vault) { _ throws(TransportFailure) in transport }
    let container = try await device.createContainer(
      ContainerInitialization(code: server.invite()), handler: ScriptedActivation(reply: .abort))
    hardware.fail(.unsealing, with: .busy)
    await #expect(throws: SignetError.vault(.keystore(.busy))) {
      try await device.deleteContainer(container.id)
    }
    hardware.fail(.unsealing, with: .noAnswer)
    await #expect(throws: SignetError.vault(.keystore(.noAnswer))) { try await device.reset() }
    #expect(try await device.containers() == [container])
    #expect(try await server.states() == ["active"])
    #expect(try await device.deleteContainer(container.id) == .delivered)
    #expect(try await server.states() == ["revoked"])
    await server.server.stop()
  }

  @Test(
    "a confirmed renewal dropped by a locked device ends at the server too"
  )
  func tellsOfADroppedRenewal() async throws {
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await InvitingServer(.password(policy, .lock(limit: 2)))
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(server.invite(), password: "winter-garden")
    transport.cut(.after, at: "/confirm")
    await #expect(throws: SignetError.self) {
      try await fixture.device.renew(
        container, password: secret("winter-garden"), handler: ScriptedActivation(reply: .abort))
    }
    transport.cut(nil, at: "/confirm")
    // Containers of the same second are listed in any order.
    #expect(try await server.states().sorted() == ["active", "revoked"])
    for _ in 0..<2 {
      await #expect(throws: SignetError.self) {
        try await fixture.device.oneTimePassword(for: container, by: .password(secret("summer-garden")))
      }
    }
    #expect(try await fixture.device.finishActivations().isEmpty)
    #expect(try await fixture.device.unconfirmedContainers().isEmpty)
    #expect(try await fixture.device.sendQueuedNotices().delivered.map(\.event) == [.deleted])
    #expect(try await server.states() == ["revoked", "revoked"])
    await server.server.stop()
  }

  @Test("a pending renewal gives no new attempts after the current keys are locked")
  func dropsARenewalOfWhatIsLocked() async throws {
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    for (consequence, isNamed) in [
      (LimitConsequence.lockOut, true), (.lockOut, false), (.wipe, true), (.wipe, false),
    ] {
      let server = try await InvitingServer(.password(policy, .lock(limit: 2, atLimit: consequence)))
      let transport = CuttingTransport(server.transport)
      let fixture = try DeviceFixture(transport)
      let container = try await fixture.activate(server.invite(), password: "winter-garden")
      transport.cut(.before, at: "/confirm")
      await #expect(throws: SignetError.self) {
        try await fixture.device.renew(
          container, password: secret("winter-garden"), handler: ScriptedActivation(reply: .abort))
      }
      transport.cut(nil, at: "/confirm")
      for _ in 0..<2 {
        await #expect(throws: SignetError.self) {
          try await fixture.device.oneTimePassword(for: container, by: .password(secret("summer-garden")))
        }
      }
      if isNamed {
        let staged = try #require(try await fixture.device.unconfirmedContainers().first)
        await #expect(throws: consequence == .wipe ? SignetError.wiped : .lockedOut) {
          try await fixture.device.finishActivation(of: staged)
        }
      } else {
        #expect(try await fixture.device.finishActivations().isEmpty)
      }
      #expect(try await fixture.device.unconfirmedContainers().isEmpty)
      #expect(try await fixture.device.containers() == [container])
      await server.server.stop()
    }
  }

  @Test("a pending renewal completes if only biometrics of the current container are locked")
  func finishesARenewalOfLockedFingers() async throws {
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await InvitingServer(.biometricOrPassword(policy, .lock(limit: 2)))
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(server.invite(), password: "winter-garden")
    let sensor = SimulatedBiometrics()
    let device = Device(vault: fixture.vault, clock: SystemWallClock(), biometrics: sensor) {
      _ throws(TransportFailure) in transport
    }
    try await device.enableBiometrics(for: container, password: secret("winter-garden"))
    transport.cut(.before, at: "/confirm")
    await #expect(throws: SignetError.self) {
      try await device.renew(
        container, password: secret("winter-garden"), handler: ScriptedActivation(reply: .abort))
    }
    transport.cut(nil, at: "/confirm")
    let finger = Authentication.biometrics(reason: "Sign in")
    for _ in 0..<5 {
      sensor.queue(.failure(.mismatch))
      await #expect(throws: SignetError.biometrics(.mismatch)) {
        try await device.oneTimePassword(for: container, by: finger)
      }
    }
    await #expect(throws: SignetError.biometrics(.lockedOut)) {
      try await device.oneTimePassword(for: container, by: finger)
    }
    let finished = try await device.finishActivations()
    #expect(finished.map(\.renewals) == [1])
    #expect(try await device.containers() == finished)
    await server.server.stop()
  }

  @Test func resetsEverything() async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let path = fixture.folder.path + "/device"
    _ = try await fixture.activate(server.invite())
    _ = try await fixture.activate(server.invite("bob"))
    transport.cut(.before, at: "/device/end")
    // Offline, the keys are erased, and the notices remain.
    let first = try await fixture.device.reset(reason: "sold")
    #expect(!first.isErased && first.undeliverable.isEmpty && first.notices.waiting.count == 2)
    #expect(try await fixture.device.containers().isEmpty)
    #expect(try await fixture.device.queuedNotices().map(\.user) == ["alice", "bob"])
    transport.cut(nil, at: "/device/end")
    let second = try await fixture.device.reset()
    #expect(second.isErased && second.notices.delivered.count == 2)
    for user in ["alice", "bob"] as [UserID] { #expect(try await server.states(user) == ["revoked"]) }
    #expect(try await server.events("container.reset").map { try $0.string("reason") } == ["sold", "sold"])
    #expect(!FileManager.default.fileExists(atPath: path))
    // A new device can be made there.
    let again = try DeviceFixture(transport, folder: fixture.folder)
    #expect(try await again.activate(server.invite()).isConfirmed)
    await server.server.stop()
  }

  @Test func resetsByForceWhereNoServerAnswers() async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    _ = try await fixture.activate(server.invite())
    transport.cut(.before, at: "/device/end")
    let path = fixture.folder.path + "/device"
    try Data("mine".utf8).write(to: URL(filePath: path + "/notes.txt"))
    let report = try await fixture.device.reset(force: true)
    #expect(report.isErased && report.notices.waiting.count == 1)
    // Files that are not the vault's stay.
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["notes.txt"])
    await server.server.stop()
  }

  @Test func doesNotBelieveANoticeOfSomebodyElse() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    let container = try await fixture.activate(server.invite())
    let device = try #require(try await server.record(container)).device
    func send(
      _ id: ContainerID, _ url: ServerURL, _ device: [UInt8], _ key: P256.Signing.PrivateKey
    ) async throws -> (status: Int, code: Problem.Code?) {
      let notice = try EndNotice(
        container: id, server: url, device: device, event: .deleted, reason: "", time: 1)
      let body = JSONValue.object(["notice": .string(try await notice.signed(by: key.signature(for:)))]).bytes
      let response = try await server.transport.send(
        HTTPRequest(
          method: .post, url: server.server.serverURL.fullForm + "/v1/device/end",
          headers: [("Content-Type", "application/json")], body: body))
      return (response.status, Problem(parsing: response.body)?.code)
    }
    let unlocked = try await fixture.vault.open("device", of: container.id, with: .device)
    let key = try unlocked.withRecord("session-key") {
      try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: $0))
    }
    let (id, url) = (container.serverContainerID, server.server.serverURL)
    #expect(try await send(id, url, device, P256.Signing.PrivateKey()) == (401, .unauthorized))
    #expect(try await send(id, ServerURL("other.example.org/main"), device, key) == (401, .unauthorized))
    #expect(try await send(id, url, [UInt8](repeating: 0, count: 16), key) == (401, .unauthorized))
    #expect(
      try await send(ContainerID("nothing"), url, device, key) == (401, .containerUnknown))
    #expect(try await server.states() == ["active"])
    #expect(try await send(id, url, device, key) == (200, nil))
    #expect(try await server.states() == ["revoked"])
    await server.server.stop()
  }
}

/// Forwards requests, except those with one body, which it rejects each time.
private final class RefusingTransport: HTTPTransport {
  private let inner: any HTTPTransport
  private let refusal = Mutex<(suffix: String, problem: Problem, body: [UInt8]?)?>(nil)

  init(_ inner: any HTTPTransport) { self.inner = inner }

  /// Rejects the next body sent to a path with this suffix, now and later.
  func refuseNextBody(at suffix: String, _ problem: Problem) {
    refusal.withLock { $0 = (suffix, problem, nil) }
  }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let problem = refusal.withLock { refusal -> Problem? in
      guard let known = refusal, request.url.hasSuffix(known.suffix) else { return nil }
      guard let body = known.body else {
        refusal?.body = request.body
        return known.problem
      }
      return body == request.body ? known.problem : nil
    }
    if let problem { return HTTPResponse(status: problem.code.status, body: problem.bytes) }
    return try await inner.send(request)
  }
}

extension InvitingServer {
  /// The server's record of a container.
  func record(_ container: Container) async throws -> ContainerRecord? {
    try await server.context.storage.container(container.serverContainerID)
  }

  /// The entries of the audit log of one kind.
  func events(_ name: String) async throws -> [JSONObject] {
    try await server.context.storage.auditEntries(after: 0, limit: 1000).compactMap { entry in
      let event = try JSONObject(parsing: Array(entry.text.utf8))
      return try event.string("event") == name ? event : nil
    }
  }
}
