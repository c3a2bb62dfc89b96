import Foundation
import SignetCrypto
import SignetHTTPClient
import SignetIntegrity
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetTestKit
import SignetVault
import Synchronization
import Testing

import Signet

/// Evidence that a test sets.
final class GivenEvidence: AccountEvidenceSource {
  let name = "given"
  private let known = Mutex(AccountEvidence())

  init(_ change: (inout AccountEvidence) -> Void = { _ in }) { set(change) }

  func set(_ change: (inout AccountEvidence) -> Void) {
    known.withLock {
      $0 = AccountEvidence()
      change(&$0)
    }
  }

  func evidence() async throws -> AccountEvidence { known.withLock { $0 } }
}

/// A device with evidence that a test sets, and a server whose containers have policies.
struct GuardedDevice {
  let inviting: InvitingServer
  let fixture: DeviceFixture
  let clock: VirtualTrustedClock
  let given: GivenEvidence
  let device: Device
  let transport: CuttingTransport

  init(_ policies: JSONObject, _ change: (inout AccountEvidence) -> Void = { _ in }) async throws {
    var inviting = try await InvitingServer()
    let set = try AccountPolicySet(policies)
    inviting = try InvitingServer(
      folder: inviting.folder,
      server: await inviting.server.restarted { $0.profile.accountPolicies = set })
    try self.init(inviting, change)
  }

  init(_ inviting: InvitingServer, _ change: (inout AccountEvidence) -> Void = { _ in }) throws {
    self.inviting = inviting
    clock = VirtualTrustedClock(wallSeconds: Int64(Date().timeIntervalSince1970))
    transport = CuttingTransport(inviting.transport)
    fixture = try DeviceFixture(transport, clock: clock)
    given = GivenEvidence(change)
    device = Self.device(fixture.vault, given, transport)
  }

  /// Another device object on a vault.
  static func device(
    _ vault: Vault, _ given: GivenEvidence, _ transport: any HTTPTransport
  ) -> Device {
    Device(
      vault: vault,
      accountPolicies: AccountPolicies(
        evaluator: AccountPolicyEvaluator(clock: VirtualTimer()), appVersion: "1.5", sources: [given])
    ) { _ throws(TransportFailure) in transport }
  }

  func activate(_ user: String = "alice") async throws -> Container {
    try await device.createContainer(
      ContainerInitialization(code: inviting.invite(user)), handler: ScriptedActivation(reply: .abort))
  }

  func stop() async { await inviting.server.stop() }
}

/// Returns the failure of a call.
func signetError(of call: () async throws -> Void) async -> SignetError? {
  do { try await call() } catch { return error as? SignetError }
  return nil
}

@Suite("Locks of containers and accounts", .timeLimit(.minutes(10)))
struct DeviceAccountLockTests {
  private func lockingPolicy(_ call: () async throws -> Void) async -> String? {
    guard case .accountLocked(let lock)? = await signetError(of: call) else { return nil }
    return lock.lockingPolicy
  }

  @Test(
    "a broken policy refuses enrolment and lists all breaches; nothing is stored and the invite stays valid")
  func enrolment() async throws {
    let guarded = try await GuardedDevice([
      "deviceTampering": ["score": 0.5], "appIsUpToDate": ["minimumVersion": "2"],
    ]) { $0.tamperScore = 0.5 }
    let code = try await guarded.inviting.invite()
    let found = await signetError {
      _ = try await guarded.device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    }
    guard case .accountPolicyBroken(let breaches)? = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(breaches.map(\.policy) == ["deviceTampering", "appIsUpToDate"])
    #expect(try await guarded.fixture.isEmpty)
    guarded.given.set {
      $0.tamperScore = 0
      $0.appVersion = "2.1"
    }
    _ = try await guarded.device.createContainer(
      ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    await guarded.stop()
  }

  @Test("at enrolment a malformed policy is an error, an unknown one is reported")
  func malformed() async throws {
    let guarded = try await GuardedDevice(["inactivity": ["days": 900], "geofence": [:]])
    let code = try await guarded.inviting.invite()
    let found = await signetError {
      _ = try await guarded.device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    }
    guard case .accountPolicy(.invalidParameter("inactivity", "days", _))? = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    await guarded.stop()
    let other = try await GuardedDevice(["geofence": [:]])
    let container = try await other.activate()
    #expect(try await other.device.accountStatus(of: container).unknownPolicies == ["geofence"])
    await other.stop()
  }

  @Test(
    "a locked container refuses codes, approvals and changes, and names the policy; denying, reading and removing go on"
  )
  func refuses() async throws {
    let guarded = try await GuardedDevice(["deviceTampering": ["score": 0.5]]) { $0.tamperScore = 0 }
    let (device, server) = (guarded.device, guarded.inviting.server)
    let container = try await guarded.activate()
    _ = try await device.oneTimePassword(for: container)
    var ids: [TransactionID] = []
    for _ in 0..<3 { ids.append(try await server.createTransaction("Pay 1 EUR", for: container.user)) }
    guarded.given.set { $0.tamperScore = 0.9 }
    let waiting = try await device.pendingTransactions(for: container)
    #expect(waiting.count == 3)
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await device.oneTimePassword(for: container) },
      {
        try await device.decide(waiting[0], .accepted, with: container)
      },
      {
        _ = try await device.initiate(.text("hello"), with: container)
      },
      { try await device.rename(container, to: "mine") },
      {
        _ = try await device.renew(container, handler: ScriptedActivation(reply: .abort))
      },
    ]
    for call in calls { #expect(await lockingPolicy(call) == "deviceTampering") }
    try await device.decide(waiting[0], .denied, with: container)
    try await device.decide(waiting[1], .reported, with: container)
    try await device.cancel(ids[2], Cancellation(.userCancel), with: container)
    #expect(try await device.containers() == [container])
    let status = try await device.accountStatus(of: container)
    #expect(status.lock.sources == [.policy])
    #expect(status.lock.broken[0].breach.evidence["tamperScore"] == 0.9)
    // The policy's lock ends once the evidence is good again.
    guarded.given.set { $0.tamperScore = 0 }
    _ = try await device.oneTimePassword(for: container)
    #expect(try await !device.accountStatus(of: container).lock.isLocked)
    guarded.given.set { $0.tamperScore = 0.9 }
    try await device.evaluateAccountPolicies()
    try await device.deleteContainer(container.id)
    await guarded.stop()
  }

  @Test("a manual lock outlasts compliance, other processes and restarts until removed manually")
  func byHand() async throws {
    let guarded = try await GuardedDevice(["deviceTampering": [:]]) { $0.tamperScore = 0 }
    let device = guarded.device
    let container = try await guarded.activate()
    #expect(
      await signetError { try await device.unlockAccount(container) }
        == .accountLock(.notLocked))
    #expect(
      await signetError {
        try await device.lockAccount(container, naming: "screenLock")
      } == .accountLock(.notAttached("screenLock")))
    try await device.lockAccount(container, naming: "deviceTampering", reason: "lent")
    try await device.evaluateAccountPolicies(of: container)
    let other = GuardedDevice.device(
      try guarded.fixture.openVault(), guarded.given, guarded.transport)
    #expect(
      await lockingPolicy {
        _ = try await other.oneTimePassword(for: container)
      } == "deviceTampering")
    #expect(
      await signetError { try await other.lockAccount(container) }
        == .accountLock(.alreadyLocked))
    #expect(try await !other.unlockAccount(container).isLocked)
    _ = try await device.oneTimePassword(for: container)
    await guarded.stop()
  }

  @Test("a manual lock wipes the cached password")
  func password() async throws {
    let inviting = try await InvitingServer(try ProtectionPolicy.password(.pin(6...6), .lock(limit: 5)))
    let guarded = try GuardedDevice(inviting)
    let container = try await guarded.device.createContainer(
      ContainerInitialization(code: inviting.invite()), handler: ScriptedActivation(password: "482915"))
    try await guarded.device.lockAccount(container)
    for (authentication, expected) in [
      (nil, SignetError.passwordRequired),
      (Authentication.password(secret("482916")), .wrongPassword(remaining: 4)),
    ] {
      #expect(
        await signetError {
          try await guarded.device.unlockAccount(container, by: authentication)
        } == expected)
    }
    let lock = try await guarded.device.unlockAccount(container, by: .password(secret("482915")))
    #expect(!lock.isLocked)
    await guarded.stop()
  }

  @Test("changes are events, also those by another process")
  func events() async throws {
    let guarded = try await GuardedDevice(["deviceTampering": [:]]) { $0.tamperScore = 0 }
    let device = guarded.device
    let container = try await guarded.activate()
    try await device.evaluateAccountPolicies()
    var changes = device.accountLockChanges.makeAsyncIterator()
    guarded.given.set { $0.tamperScore = 1 }
    try await device.evaluateAccountPolicies()
    try await device.evaluateAccountPolicies()
    let first = try #require(await changes.next())
    #expect(first.subject == .container(container.id) && first.lock.lockingPolicy == "deviceTampering")
    guarded.given.set { $0.tamperScore = 0 }
    try await device.evaluateAccountPolicies()
    #expect(await changes.next()?.lock.isLocked == false)
    let other = GuardedDevice.device(
      try guarded.fixture.openVault(), guarded.given, guarded.transport)
    try await other.lockAccount(container)
    try await device.evaluateAccountPolicies()
    #expect(await changes.next()?.lock.sources == [.manual])
    await guarded.stop()
  }

  @Test("inactivity locks; a refusal is no use, an unlock is; setting the clock back does not help")
  func inactivity() async throws {
    let guarded = try await GuardedDevice(["inactivity": ["days": 1]])
    let (device, clock) = (guarded.device, guarded.clock)
    let container = try await guarded.activate()
    _ = try await device.oneTimePassword(for: container)
    clock.advance(by: .seconds(86_400))
    _ = try await device.oneTimePassword(for: container)
    clock.advance(by: .seconds(86_401))
    // The time since boot counts as well.
    clock.adjustWallClock(by: -86_401)
    for _ in 0..<2 {
      #expect(
        await lockingPolicy {
          _ = try await device.oneTimePassword(for: container)
        } == "inactivity")
    }
    #expect(try await !device.unlockAccount(container).isLocked)
    _ = try await device.oneTimePassword(for: container)
    await guarded.stop()
  }

  @Test("too long without the server locks, as does setting the clock back; reaching the server unlocks")
  func offline() async throws {
    let guarded = try await GuardedDevice(["offlinePeriod": ["hours": 2]])
    let (device, clock) = (guarded.device, guarded.clock)
    let container = try await guarded.activate()
    _ = try await device.transactionList(for: container)
    for turn in [.seconds(7_201), Duration.zero] {
      if turn > .zero { clock.advance(by: turn) } else { clock.adjustWallClock(by: -600) }
      #expect(
        await lockingPolicy {
          _ = try await device.oneTimePassword(for: container)
        } == "offlinePeriod")
      _ = try await device.transactionList(for: container)
      _ = try await device.oneTimePassword(for: container)
    }
    await guarded.stop()
  }

  @Test("a renewal keeps policies and locks; another activation keeps manual locks")
  func renewal() async throws {
    let guarded = try await GuardedDevice(["deviceTampering": [:]]) { $0.tamperScore = 0 }
    let device = guarded.device
    let container = try await guarded.activate()
    try await device.lockAccount(container, reason: "lent")
    let second = try await guarded.activate()
    #expect(second.id != container.id)
    #expect(try await device.accountStatus(of: second).lock.manual?.reason == "lent")
    try await device.unlockAccount(second)
    let renewed = try await device.renew(second, handler: ScriptedActivation(reply: .abort))
    #expect(try await device.accountStatus(of: renewed).policies.names == ["deviceTampering"])
    // Interrupted after the new keys were stored, then locked, then continued: the lock remains.
    guarded.transport.cut(.before, at: "/activation/confirm")
    #expect(
      await signetError {
        _ = try await device.renew(renewed, handler: ScriptedActivation(reply: .abort))
      } != nil)
    try await device.lockAccount(renewed, reason: "stolen")
    guarded.transport.cut(nil, at: "/activation/confirm")
    try await device.finishActivations()
    let last = try #require(try await device.containers().first)
    #expect(last.renewals == 2)
    #expect(try await device.accountStatus(of: last).lock.manual?.reason == "stolen")
    await guarded.stop()
  }

  @Test("imported accounts have their own policies and locks; adding one again weakens nothing")
  func accounts() async throws {
    let guarded = try GuardedDevice(try await InvitingServer()) { $0.tamperScore = 0 }
    let accounts = guarded.device.accounts
    let account = try OTPAccount(
      issuer: "Example", name: "alice", kind: .totp(period: 30, start: 0), algorithm: .sha1, digits: 6,
      secret: secret("12345678901234567890"))
    let policies = try AccountPolicySet(["deviceTampering": [:]])
    guarded.given.set { $0.tamperScore = 1 }
    guard
      case .accountPolicyBroken? = await signetError(of: {
        _ = try await accounts.add([account], policies: policies)
      })
    else {
      Issue.record("added")
      return
    }
    #expect(try await accounts.list().isEmpty)
    guarded.given.set { $0.tamperScore = 0 }
    let id = try await accounts.add([account], policies: policies).added[0].id
    _ = try await accounts.code(of: id)
    guarded.given.set { $0.tamperScore = 1 }
    for call: @Sendable () async throws -> Void in [
      { _ = try await accounts.code(of: id) },
      { _ = try await accounts.rename(id, name: "bob") },
      { _ = try await accounts.export([id]) },
    ] {
      #expect(await lockingPolicy(call) == "deviceTampering")
    }
    #expect(try await accounts.list().count == 1)
    guarded.given.set { $0.tamperScore = 0 }
    let again = try AccountPolicySet(["deviceTampering": ["score": 1], "biometricAvailable": [:]])
    let noBiometrics = await signetError {
      _ = try await accounts.add([account], policies: again)
    }
    guard case .accountPolicyBroken? = noBiometrics else {
      Issue.record("\(String(describing: noBiometrics))")
      return
    }
    guarded.given.set { ($0.tamperScore, $0.biometricAvailable) = (0, true) }
    #expect(try await accounts.add([account], policies: again).duplicates.map(\.id) == [id])
    #expect(
      try await accounts.status(of: id).policies.json == [
        "deviceTampering": [:], "biometricAvailable": [:],
      ])
    try await accounts.lock(id, reason: "mine")
    #expect(
      await signetError { _ = try await accounts.code(of: id) } != nil)
    #expect(try await !accounts.unlock(id).isLocked)
    try await accounts.delete(id)
    #expect(try await accounts.status(of: id).policies.isEmpty)
    await guarded.stop()
  }

  @Test("an older copy of the vault, from before a lock, is refused where hardware counts")
  func olderCopy() async throws {
    let inviting = try await InvitingServer()
    let (hardware, folder) = (SimulatedHardware(), try TemporaryFolder())
    let fixture = try DeviceFixture(inviting.transport, folder: folder, keystore: hardware)
    let (device, accounts) = (fixture.device, fixture.device.accounts)
    let container = try await fixture.activate(inviting.invite())
    let account = try OTPAccount(
      issuer: "Example", name: "alice", kind: .totp(period: 30, start: 0), algorithm: .sha1, digits: 6,
      secret: secret("12345678901234567890"))
    let id = try await accounts.add([account]).added[0].id
    let locks: [@Sendable () async throws -> Void] = [
      { try await device.lockAccount(container, reason: "stolen") },
      { try await accounts.lock(id, reason: "stolen") },
      {
        _ = try await DeviceManagement(inviting.server.context).command(
          .lock, for: container.serverContainerID, reason: "stolen", by: .local)
        try await device.reportCondition(of: container)
      },
    ]
    for (index, lock) in locks.enumerated() {
      let copy = folder.path + "/copy\(index)"
      try FileManager.default.copyItem(atPath: folder.path + "/device", toPath: copy)
      try await lock()
      let failure = #expect(throws: VaultFailure.self) {
        try Vault.forTests(copy, keystore: hardware)
      }
      guard case .rolledBack? = failure else {
        Issue.record("\(index): \(String(describing: failure))")
        continue
      }
    }
    #expect(try await device.accountStatus(of: container).lock.sources == [.manual, .server])
    await inviting.server.stop()
  }

  @Test(
    "an unused account is locked for inactivity; one without a server is not locked for being offline"
  )
  func neverUsed() async throws {
    let guarded = try GuardedDevice(try await InvitingServer())
    let accounts = guarded.device.accounts
    let account = try OTPAccount(
      issuer: "Example", name: "alice", kind: .totp(period: 30, start: 0), algorithm: .sha1, digits: 6,
      secret: secret("12345678901234567890"))
    let policies = try AccountPolicySet(["inactivity": ["days": 1], "offlinePeriod": ["hours": 1]])
    let id = try await accounts.add([account], policies: policies).added[0].id
    #expect(try await accounts.status(of: id).unknownPolicies == ["offlinePeriod"])
    guarded.clock.advance(by: .seconds(40_000))
    try await accounts.evaluatePolicies()
    guarded.clock.advance(by: .seconds(46_401))
    #expect(await lockingPolicy { _ = try await accounts.code(of: id) } == "inactivity")
    #expect(try await !accounts.unlock(id).isLocked)
    _ = try await accounts.code(of: id)
    await guarded.stop()
  }

  @Test("more policies than an account may have are refused, and change nothing")
  func tooMany() async throws {
    let guarded = try GuardedDevice(try await InvitingServer())
    let accounts = guarded.device.accounts
    let account = try OTPAccount(
      issuer: "Example", name: "alice", kind: .totp(period: 30, start: 0), algorithm: .sha1, digits: 6,
      secret: secret("12345678901234567890"))
    func policies(_ numbers: Range<Int>) throws -> AccountPolicySet {
      var object = JSONObject()
      for number in numbers { object["own\(number)"] = [:] }
      return try AccountPolicySet(object)
    }
    let id = try await accounts.add([account], policies: policies(0..<30)).added[0].id
    #expect(
      await signetError { _ = try await accounts.add([account], policies: policies(28..<33)) }
        == .accountPolicy(.tooMany(count: 33, limit: 32)))
    #expect(try await accounts.status(of: id).policies == policies(0..<30))
    #expect(try await accounts.list().map(\.id) == [id])
    await guarded.stop()
  }

  @Test("evidence that the device collects itself")
  func ownEvidence() async throws {
    let inviting = try await InvitingServer()
    let folder = try TemporaryFolder()
    let path = folder.path + "/device"
    let vault = try Vault.forTests(path)
    let biometrics = SimulatedBiometrics()
    let device = Device(
      vault: vault, biometrics: biometrics, passcode: SimulatedPasscode("1234"),
      accountPolicies: AccountPolicies(appVersion: "3.1")
    ) { _ throws(TransportFailure) in inviting.transport }
    let container = try await device.createContainer(
      ContainerInitialization(code: inviting.invite()), handler: ScriptedActivation(reply: .abort))
    let evidence = try await device.accountEvidence(for: container)
    #expect(evidence.biometricAvailable == true && evidence.screenLock == true)
    #expect(evidence.hardwareKeystore == false && evidence.isKeystoreSimulated == false)
    #expect(evidence.appVersion == "3.1" && evidence.osName == "linux")
    #expect(evidence.osVersion.flatMap(SoftwareVersion.init) != nil)
    #expect(evidence.secondsSinceContact != nil && evidence.clockSetBack == false)
    #expect(evidence.tamperScore == nil && evidence.flavour == nil)
    await inviting.server.stop()
  }

  private struct FindingGuard: Guard {
    let name = "test"
    let weight: Double

    func examine() -> [Evidence] {
      [Evidence(Finding("test.finding", .debugger, weight: weight), "something was found")]
    }
  }

  @Test("the guards' score, their findings and the flavour are evidence", arguments: [0.2, 0.9])
  func guards(_ weight: Double) async throws {
    let integrity = try Integrity(guards: [FindingGuard(weight: weight)], flavour: .release)
    let source = IntegrityEvidence(integrity)
    let evidence = await AccountEvidenceCollector([source]).evidence()
    #expect(evidence.tamperScore == weight && evidence.flavour == "release")
    #expect(evidence.tamperFindings.map(\.explanation) == ["something was found"])
    let policies = try AccountPolicySet(["deviceTampering": ["score": 0.8]])
    let report = await AccountPolicyEvaluator().evaluate(policies, evidence)
    #expect(report.isCompliant == (weight < 0.8))
  }
}
