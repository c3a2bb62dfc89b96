import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetVault
import Synchronization
import Testing

import Signet

/// Records a device's requests, and changes some of them.
private final class RecordingTransport: HTTPTransport {
  private let inner: any HTTPTransport
  private let state = Mutex<(requests: [HTTPRequest], change: (@Sendable (HTTPRequest) -> HTTPRequest)?)>(
    ([], nil))

  init(_ inner: any HTTPTransport) { self.inner = inner }

  func requests(_ suffix: String) -> [HTTPRequest] {
    state.withLock { $0.requests.filter { $0.url.hasSuffix(suffix) } }
  }

  func change(_ change: (@Sendable (HTTPRequest) -> HTTPRequest)?) {
    state.withLock { $0.change = change }
  }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let changed = state.withLock { state in
      state.requests.append(request)
      return state.change?(request) ?? request
    }
    return try await inner.send(changed)
  }
}

/// Delays a server's first answer about a condition.
private final class SlowTransport: HTTPTransport {
  private let inner: any HTTPTransport
  private let isFirst = Mutex(true)
  private let held = AsyncStream<Void>.makeStream()
  private let freed = AsyncStream<Void>.makeStream()

  init(_ inner: any HTTPTransport) { self.inner = inner }

  /// Returns once the answer has arrived and is held.
  func untilHeld() async { for await _ in held.stream { break } }

  /// Releases the answer.
  func free() { freed.continuation.yield() }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let response = try await inner.send(request)
    guard request.url.hasSuffix("/device/condition") else { return response }
    let holds = isFirst.withLock { isFirst in
      defer { isFirst = false }
      return isFirst
    }
    if holds {
      held.continuation.yield()
      for await _ in freed.stream { break }
    }
    return response
  }
}

extension GuardedDevice {
  var accounts: DeviceManagement { DeviceManagement(inviting.server.context) }

  func order(_ action: DeviceCommand.Action, _ container: Container, _ reason: String = "")
    async throws
    -> DeviceCommandRecord
  {
    try await accounts.command(action, for: container.serverContainerID, reason: reason, by: .local)
  }

  func orders(_ container: Container) async throws -> [DeviceCommandRecord] {
    try await inviting.server.context.storage.deviceCommands(of: container.serverContainerID)
  }

  func state(_ container: Container) async throws -> AccountStateRecord {
    try #require(
      try await inviting.server.context.storage.accountState(of: container.serverContainerID))
  }

  func record(_ container: Container) async throws -> ContainerRecord {
    try #require(
      try await inviting.server.context.storage.container(container.serverContainerID))
  }
}

@Suite("Device reports and server commands", .timeLimit(.minutes(10)))
struct AccountReportTests {
  @Test("the server evaluates a device's report itself, and locks or unlocks accordingly")
  func reports() async throws {
    let guarded = try await GuardedDevice(["deviceTampering": ["score": 0.5]]) { $0.tamperScore = 0 }
    let (device, container) = (guarded.device, try await guarded.activate())
    guard case .reported(let status) = try await device.reportCondition(of: container) else {
      Issue.record("another case")
      return
    }
    #expect(!status.lock.isLocked && status.policies.names == ["deviceTampering"])
    #expect(try await guarded.state(container).compliance == .open)
    guarded.given.set { $0.tamperScore = 0.7 }
    guard case .reported(let locked) = try await device.reportCondition(of: container) else {
      Issue.record("another case")
      return
    }
    #expect(locked.lock.sources == [.policy, .server])
    #expect(try await guarded.record(container).compliance == .locked)
    // The server rejects codes, even if the device still makes them.
    let storage = guarded.inviting.server.context.storage
    #expect(try await storage.credential(ID(of: container.serverContainerID))?.state == .disabled)
    guarded.given.set { $0.tamperScore = 0 }
    guard case .reported(let open) = try await device.reportCondition(of: container) else {
      Issue.record("another case")
      return
    }
    #expect(!open.lock.isLocked)
    #expect(try await guarded.state(container).compliance == .open)
    #expect(try await storage.credential(ID(of: container.serverContainerID))?.state == .active)
    _ = try await device.oneTimePassword(for: container)
    await guarded.stop()
  }

  @Test("evidence that is replayed, late, or of another container is refused")
  func replays() async throws {
    let guarded = try await GuardedDevice(["deviceTampering": [:]]) { $0.tamperScore = 0 }
    let recording = RecordingTransport(guarded.transport)
    let device = GuardedDevice.device(guarded.fixture.vault, guarded.given, recording)
    let container = try await guarded.activate()
    try await device.reportCondition(of: container)
    let good = try #require(recording.requests("/device/condition").last).body
    #expect(try JSONObject(parsing: good).contains("report"))
    // An earlier good report is sent again, in a request with a new signature.
    guarded.given.set { $0.tamperScore = 1 }
    let key = try await device.sessionKey(of: container, by: nil)
    let session = try await device.session(container)
    func send(_ body: [UInt8]) async -> SignetError? {
      await signetError {
        _ = try await session.send(
          .post, "/v1/device/condition", body, signedBy: key, container: container.serverContainerID)
      }
    }
    guard case .refused(let problem)? = await send(good) else {
      Issue.record("a replayed report was taken")
      return
    }
    #expect(problem.code == .reportReplayed)
    // A report for no challenge of the server, one of another device, and one by another key.
    let report = PostureReport(
      container: container.serverContainerID, server: container.server, device: device.vault.deviceID.bytes,
      challenge: [UInt8](repeating: 1, count: 16), time: 1, revision: 0, evidence: AccountEvidence(),
      lock: AccountLock())
    let foreign = PostureReport(
      container: container.serverContainerID, server: container.server,
      device: [UInt8](repeating: 9, count: 16), challenge: report.challenge, time: 1, revision: 0,
      evidence: AccountEvidence(), lock: AccountLock())
    let other = P256.Signing.PrivateKey()
    let byKey = try await report.signed { (message) async throws(VaultFailure) in
      try await key.signature(of: message)
    }
    let ofDevice = try await foreign.signed { (message) async throws(VaultFailure) in
      try await key.signature(of: message)
    }
    let byOther = try await report.signed { try other.signature(for: $0) }
    for (jws, code) in [
      (byKey, Problem.Code.reportReplayed), (ofDevice, .unauthorized), (byOther, .unauthorized),
      ("a.b.c", .unauthorized),
    ] {
      guard
        case .refused(let problem)? = await send(
          JSONObject(dictionaryLiteral: ("report", .string(jws))).bytes)
      else {
        Issue.record("taken: \(code)")
        continue
      }
      #expect(problem.code == code)
    }
    #expect(try await guarded.state(container).verdict == .open)
    await guarded.stop()
  }

  @Test("one of fifty concurrent reports with one challenge is accepted")
  func oneWins() async throws {
    let guarded = try await GuardedDevice([:])
    let container = try await guarded.activate()
    let storage = guarded.inviting.server.context.storage
    let id = container.serverContainerID
    try await storage.setAccountChallenge([UInt8](repeating: 5, count: 16), expires: .max, of: id, at: 1)
    let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 {
        group.addTask {
          try await storage.acceptAccountReport(
            AccountReportAttempt(
              container: id, challenge: [UInt8](repeating: 5, count: 16), time: 1, report: "r", seen: 0,
              verdict: .open, reason: "")
          ) { _ in .sample() }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(taken == 1)
    await guarded.stop()
  }

  @Test("step up: codes are neither accepted nor made; decisions are accepted")
  func stepUp() async throws {
    var guarded = try await GuardedDevice(["screenLock": [:]]) { $0.screenLock = true }
    let inviting = try InvitingServer(
      folder: guarded.inviting.folder,
      server: await guarded.inviting.server.restarted { $0.accountRules.reactions = ["screenLock": .stepUp] })
    guarded = try GuardedDevice(inviting) { $0.screenLock = true }
    let container = try await guarded.activate()
    // The device's own verdict does not matter here: the server's decides.
    let lax = Device(
      vault: guarded.fixture.vault,
      accountPolicies: AccountPolicies(
        evaluator: AccountPolicyEvaluator(registry: try AccountPolicyRegistry(only: [])),
        sources: [guarded.given])
    ) { [transport = guarded.transport] _ throws(TransportFailure) in transport }
    guarded.given.set { $0.screenLock = false }
    guard case .reported(let status) = try await lax.reportCondition(of: container) else {
      Issue.record("another case")
      return
    }
    #expect(!status.lock.isLocked)
    #expect(status.stepUpReason == "screenLock: the device has no passcode; set one")
    guard
      case .codesNotAccepted? = await signetError(of: {
        _ = try await lax.oneTimePassword(for: container)
      })
    else {
      Issue.record("a code was made")
      return
    }
    let credential = try await inviting.server.context.storage.credential(ID(of: container.serverContainerID))
    #expect(credential?.state == .disabled)
    let id = try await inviting.server.createTransaction("Pay 1 EUR", for: container.user)
    let transaction = try await lax.transaction(id, for: container)
    try await lax.decide(transaction, .accepted, with: container)
    #expect(try await inviting.server.decision(on: id) == .accepted)
    await guarded.stop()
  }

  @Test("a refused flavour is locked, or its container is deleted if that is the reaction")
  func flavourAndWipe() async throws {
    var guarded = try await GuardedDevice(["deviceTampering": [:]]) { $0.tamperScore = 0 }
    let inviting = try InvitingServer(
      folder: guarded.inviting.folder,
      server: await guarded.inviting.server.restarted {
        $0.accountRules.flavours = ["release"]
        $0.accountRules.reactions = ["deviceTampering": .wipe]
      })
    guarded = try GuardedDevice(inviting) { ($0.tamperScore, $0.flavour) = (0, "debug") }
    let container = try await guarded.activate()
    guard case .reported(let status) = try await guarded.device.reportCondition(of: container) else {
      Issue.record("another case")
      return
    }
    #expect(status.lock.server?.reason == "apps of this flavour are not accepted: debug")
    guarded.given.set { ($0.tamperScore, $0.flavour) = (0, "release") }
    guard case .reported(let open) = try await guarded.device.reportCondition(of: container) else {
      Issue.record("another case")
      return
    }
    #expect(!open.lock.isLocked)
    guarded.given.set { ($0.tamperScore, $0.flavour) = (1, "release") }
    #expect(try await guarded.device.reportCondition(of: container) == .wiped)
    #expect(try await guarded.fixture.isEmpty)
    let record = try await guarded.record(container)
    #expect(record.state == .revoked && record.ended == "wiped")
    #expect(try await guarded.orders(container).map { $0.receipt != nil } == [true])
    await guarded.stop()
  }

  @Test(
    "an operator's lock, unlock and deletion take effect at the server at once and return a signed receipt"
  )
  func orders() async throws {
    let guarded = try await GuardedDevice([:])
    let (device, container) = (guarded.device, try await guarded.activate())
    let lock = try await guarded.order(.lock, container, "reported lost")
    // Before the device knows of the lock: the server rejects its approvals, but accepts a denial.
    let first = try await guarded.inviting.server.createTransaction("Pay 1 EUR", for: nil)
    let transaction = try await device.transaction(first, for: container)
    guard
      case .refused(let problem)? = await signetError(of: {
        try await device.decide(transaction, .accepted, with: container)
      })
    else {
      Issue.record("taken")
      return
    }
    #expect(problem.code == .containerLocked)
    try await device.decide(transaction, .denied, with: container)
    // The device receives the order with its list.
    _ = try await device.transactionList(for: container)
    guard
      case .accountLocked(let found)? = await signetError(of: {
        _ = try await device.oneTimePassword(for: container)
      })
    else {
      Issue.record("a code was made")
      return
    }
    #expect(found.sources == [.server] && found.server?.reason == "reported lost")
    #expect(
      await signetError { try await device.unlockAccount(container) }
        == .accountLock(.lockedBy([.server])))
    let receipt = try #require(try await guarded.orders(container).first?.receipt)
    let key = try P256.Signing.PublicKey(x963: try await guarded.record(container).sessionKey)
    let signed = try SignedCommandAcknowledgement(
      parsing: JSONObject(dictionaryLiteral: ("receipt", .string(receipt))).bytes)
    let said = try #require(signed.receipt(verifiedWith: key))
    #expect(said.order == lock.id && said.action == .lock && said.container == container.serverContainerID)
    _ = try await guarded.order(.unlock, container)
    _ = try await device.transactionList(for: container)
    _ = try await device.oneTimePassword(for: container)
    // No receipt or report is outstanding.
    _ = try await device.transactionList(for: container)
    #expect(try await guarded.record(container).reportRequested == 0)
    #expect(try await guarded.orders(container).allSatisfy { $0.receipt != nil })
    _ = try await guarded.order(.wipe, container, "stolen")
    #expect(
      await signetError {
        _ = try await device.transactionList(for: container)
      } == .containerWiped)
    #expect(try await guarded.fixture.isEmpty)
    let record = try await guarded.record(container)
    #expect(record.state == .revoked && record.ended == "wiped")
    await guarded.stop()
  }

  @Test("an order with a lost receipt is not executed twice, and the receipt is resent")
  func lostReceipt() async throws {
    let guarded = try await GuardedDevice([:])
    let (device, container) = (guarded.device, try await guarded.activate())
    for cut in [CuttingTransport.Cut.before, .after] {
      _ = try await guarded.order(.lock, container)
      guarded.transport.cut(cut, at: "/device/orders")
      try await device.reportCondition(of: container)
      #expect(try await device.accountStatus(of: container).lock.sources == [.server])
      guarded.transport.cut(nil, at: "/device/orders")
      try await device.reportCondition(of: container)
      #expect(try await guarded.orders(container).allSatisfy { $0.receipt != nil })
      _ = try await guarded.order(.unlock, container)
      try await device.reportCondition(of: container)
    }
    guarded.transport.cut(.before, at: "/device/orders")
    _ = try await guarded.order(.wipe, container)
    #expect(try await device.reportCondition(of: container) == .wiped)
    #expect(try await guarded.record(container).state == .active)
    guarded.transport.cut(nil, at: "/device/orders")
    try await device.sendAcknowledgements(to: container.server.shortForm)
    #expect(try await guarded.record(container).ended == "wiped")
    await guarded.stop()
  }

  @Test("an answer overtaken by a newer one changes nothing")
  func overtaken() async throws {
    let guarded = try await GuardedDevice([:])
    let container = try await guarded.activate()
    let transport = SlowTransport(guarded.transport)
    let slow = GuardedDevice.device(guarded.fixture.vault, guarded.given, transport)
    // It answers a challenge that is no longer open, so it is finally rejected.
    async let late = signetError { try await slow.reportCondition(of: container) }
    await transport.untilHeld()
    _ = try await guarded.order(.lock, container, "stolen")
    try await guarded.device.reportCondition(of: container)
    #expect(try await guarded.device.accountStatus(of: container).lock.sources == [.server])
    transport.free()
    #expect(await late != nil)
    #expect(try await guarded.device.accountStatus(of: container).lock.sources == [.server])
    await guarded.stop()
  }

  @Test("policies attached later reach the device and apply from then on")
  func attachedLater() async throws {
    let guarded = try await GuardedDevice([:]) { $0.tamperScore = 0.4 }
    let (device, container) = (guarded.device, try await guarded.activate())
    #expect(
      try await guarded.accounts.attach(
        ["deviceTampering": ["score": 0.3], "mine": [:]], to: container.serverContainerID, by: .local)
        == ["mine"])
    await #expect(throws: Problem.self) {
      try await guarded.accounts.attach(
        ["deviceTampering": ["score": 3]], to: container.serverContainerID, by: .local)
    }
    _ = try await device.transactionList(for: container)
    let status = try await device.accountStatus(of: container)
    #expect(status.policies.names == ["deviceTampering", "mine"] && status.unknownPolicies == ["mine"])
    // Evaluated with the next operation.
    guard
      case .accountLocked(let lock)? = await signetError(of: {
        _ = try await device.oneTimePassword(for: container)
      })
    else {
      Issue.record("a code was made")
      return
    }
    #expect(lock.lockingPolicy == "deviceTampering")
    await guarded.stop()
  }

  @Test("the period of a policy attached later begins when it is attached")
  func attachedTime() async throws {
    let guarded = try await GuardedDevice([:])
    let (device, container) = (guarded.device, try await guarded.activate())
    guarded.clock.advance(by: .seconds(100 * 86_400))
    let policies: JSONObject = ["inactivity": ["days": 1], "offlinePeriod": ["hours": 30]]
    for _ in 0..<2 {
      try await guarded.accounts.attach(policies, to: container.serverContainerID, by: .local)
      guard case .reported(let status) = try await device.reportCondition(of: container) else {
        Issue.record("another case")
        return
      }
      #expect(!status.lock.isLocked && status.policies.names == ["inactivity", "offlinePeriod"])
      _ = try await device.oneTimePassword(for: container)
      try await guarded.accounts.attach([:], to: container.serverContainerID, by: .local)
      try await device.reportCondition(of: container)
      // Nothing requests the evidence, so it is not recorded.
      guarded.clock.advance(by: .seconds(100 * 86_400))
    }
    try await guarded.accounts.attach(policies, to: container.serverContainerID, by: .local)
    try await device.reportCondition(of: container)
    guarded.clock.advance(by: .seconds(86_401))
    #expect(
      try await device.evaluateAccountPolicies(of: container).lock.broken.map(\.breach.policy)
        == ["inactivity"])
    await guarded.stop()
  }

  private struct WordyPolicy: AccountPolicy {
    let name = "wordy"
    let reason: String

    func evaluate(
      _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
    ) async throws -> AccountPolicyVerdict { .breached(reason: reason) }
  }

  @Test(
    "a device's own values give a displayable reason and a readable order",
    arguments: [
      String(repeating: "e\u{301}\u{323}", count: 300), String(repeating: "\u{115F}\u{3164}", count: 90),
      "bidi \u{202E}txt", "",
    ])
  func hostileReasons(_ reason: String) async throws {
    var guarded = try await GuardedDevice(["wordy": [:]])
    let inviting = try InvitingServer(
      folder: guarded.inviting.folder,
      server: await guarded.inviting.server.restarted {
        $0.accountRules.flavours = ["release"]
        $0.accountRules.reactions = ["wordy": .wipe]
      })
    guarded = try GuardedDevice(inviting) { $0.flavour = "\(reason)\u{1B}[31m\n\(reason)" }
    let container = try await guarded.activate()
    guard case .reported(let status) = try await guarded.device.reportCondition(of: container) else {
      Issue.record("another case")
      return
    }
    let shown = try #require(status.lock.server?.reason)
    #expect(shown.hasPrefix("apps of this flavour are not accepted: "))
    try DeviceCommand.check(reason: shown)
    guarded.given.set { $0.flavour = "release" }
    var registry = AccountPolicyRegistry()
    try registry.register(WordyPolicy(reason: reason))
    let device = Device(
      vault: guarded.fixture.vault,
      accountPolicies: AccountPolicies(
        evaluator: AccountPolicyEvaluator(registry: registry), sources: [guarded.given])
    ) { [transport = guarded.transport] _ throws(TransportFailure) in transport }
    #expect(try await device.reportCondition(of: container) == .wiped)
    let order = try #require(try await guarded.orders(container).first)
    try DeviceCommand.check(reason: order.reason)
    #expect(order.reason.hasPrefix("wordy: ") && order.receipt != nil)
    await guarded.stop()
  }

  @Test("a container to be deleted is not unlocked, and repeated reports do not accumulate orders")
  func noWayBack() async throws {
    var guarded = try await GuardedDevice(["deviceTampering": [:]]) { $0.tamperScore = 0 }
    let inviting = try InvitingServer(
      folder: guarded.inviting.folder,
      server: await guarded.inviting.server.restarted {
        $0.accountRules.reactions = ["deviceTampering": .wipe]
      })
    guarded = try GuardedDevice(inviting) { $0.tamperScore = 1 }
    guarded.given.set { $0.tamperScore = 0 }
    let (device, container) = (guarded.device, try await guarded.activate())
    guarded.given.set { $0.tamperScore = 1 }
    // A device that reports, but follows no order.
    let key = try await device.sessionKey(of: container, by: nil)
    let session = try await device.session(container)
    func ask(_ body: [UInt8]) async throws -> DeviceStatus {
      let (answer, id) = try await session.exchange(
        .post, "/v1/device/condition", body, signedBy: key, container: container.serverContainerID)
      let signed = try SignedDeviceStatus(String(decoding: answer.body, as: UTF8.self))
      return try signed.condition(
        signedBy: await device.serverKey(called: signed.signer, of: container, session),
        for: ListAddress(server: container.server, container: container.serverContainerID, request: id))
    }
    var evidence = AccountEvidence()
    evidence.tamperScore = 1
    for _ in 0..<3 {
      let report = try await PostureReport(
        container: container.serverContainerID, server: container.server, device: device.vault.deviceID.bytes,
        challenge: ask(Array("{}".utf8)).challenge, time: 1, revision: 0, evidence: evidence,
        lock: AccountLock()
      ).signed { (message) async throws(VaultFailure) in try await key.signature(of: message) }
      let condition = try await ask(JSONObject(dictionaryLiteral: ("report", .string(report))).bytes)
      #expect(condition.orders.map(\.action) == [.wipe] && condition.compliance == .locked)
    }
    #expect(try await guarded.orders(container).count == 1)
    do {
      _ = try await guarded.order(.unlock, container)
      Issue.record("unlocked")
    } catch { #expect((error as? Problem)?.code == .containerLocked) }
    #expect(try await guarded.record(container).compliance == .locked)
    #expect(try await device.reportCondition(of: container) == .wiped)
    await guarded.stop()
  }

  @Test("the live channel delivers an order at once")
  func live() async throws {
    let guarded = try await GuardedDevice([:])
    let (device, container) = (guarded.device, try await guarded.activate())
    var changes = device.accountLockChanges.makeAsyncIterator()
    try await device.evaluateAccountPolicies(of: container)
    let listening = Task {
      var failure: (any Error)?
      do { for try await _ in device.liveTransactions(for: container) {} } catch { failure = error }
      return failure as? SignetError
    }
    _ = try await guarded.order(.lock, container, "lost")
    #expect(await changes.next()?.lock.server?.reason == "lost")
    _ = try await guarded.order(.wipe, container)
    #expect(await listening.value == .containerWiped)
    #expect(try await guarded.fixture.isEmpty)
    await guarded.stop()
  }

  @Test("a receipt of another key, order or action is refused")
  func falseReceipts() async throws {
    let guarded = try await GuardedDevice([:])
    let (device, container) = (guarded.device, try await guarded.activate())
    let order = try await guarded.order(.lock, container)
    let key = try await device.sessionKey(of: container, by: nil)
    let other = P256.Signing.PrivateKey()
    func receipt(_ id: DeviceCommandID, _ action: DeviceCommand.Action) throws -> CommandAcknowledgement {
      CommandAcknowledgement(
        container: container.serverContainerID, server: container.server, device: device.vault.deviceID.bytes,
        order: id, action: action, time: 1)
    }
    let session = try await device.session(container)
    func send(_ jws: String) async -> SignetError? {
      await signetError {
        _ = try await session.post(
          "/v1/device/orders", JSONObject(dictionaryLiteral: ("receipt", .string(jws))).bytes)
      }
    }
    for (id, action) in [(order.id, DeviceCommand.Action.wipe), ("another", .lock)] {
      let jws = try await receipt(id, action).signed { (message) async throws(VaultFailure) in
        try await key.signature(of: message)
      }
      #expect(await send(jws) != nil)
    }
    let forged = try await receipt(order.id, .lock).signed { try other.signature(for: $0) }
    #expect(await send(forged) != nil)
    #expect(await send("nonsense") != nil)
    #expect(try await guarded.orders(container).map(\.receipt) == [nil])
    #expect(try await guarded.record(container).state == .active)
    await guarded.stop()
  }

  @Test("a locked container gets no new keys from its server, and a renewal removes no lock")
  func renewal() async throws {
    let guarded = try await GuardedDevice([:])
    let (device, container) = (guarded.device, try await guarded.activate())
    // Between the device's keys and their confirmation.
    guarded.transport.cut(.before, at: "/activation/confirm")
    #expect(
      await signetError {
        _ = try await device.renew(container, handler: ScriptedActivation(reply: .abort))
      } != nil)
    _ = try await guarded.order(.lock, container, "lost")
    guard
      case .refused(let problem)? = await signetError(of: {
        let session = try await device.session(container)
        _ = try await session.send(
          .post, "/v1/renewal/start",
          RenewalStart(container: container.serverContainerID, random: SystemRandomSource()).bytes,
          signedBy: device.sessionKey(of: container, by: nil), container: container.serverContainerID)
      })
    else {
      Issue.record("a renewal was begun")
      return
    }
    #expect(problem.code == .containerLocked)
    guarded.transport.cut(nil, at: "/activation/confirm")
    let renewed = try #require(try await device.finishActivations().first)
    #expect(try await guarded.record(renewed).compliance == .locked)
    _ = try await device.transactionList(for: renewed)
    #expect(try await device.accountStatus(of: renewed).lock.server?.reason == "lost")
    #expect(try await guarded.orders(renewed).map { $0.receipt != nil } == [true])
    await guarded.stop()
  }
}
