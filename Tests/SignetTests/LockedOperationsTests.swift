import Foundation
import SignetCrypto
import SignetHTTPClient
import SignetInterchange
import SignetOATH
import SignetPolicy
import SignetProtocol
import SignetPush
import SignetPushAuth
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import SignetUAF
import SignetUAFClient
import SignetVault
import Testing

import Signet

/// All operations with a container and with an account while it is locked.
///
/// A lock must prevent some of them and allow the others; `docs/account-policies.md` has the same list.
@Suite("Operations under a lock", .timeLimit(.minutes(10)))
struct LockedOperationsTests {
  /// An operation, which gets its prepared data.
  private struct Operation<Bench: Sendable>: Sendable {
    let names: [String]
    let call: @Sendable (Bench) async throws -> Void

    init(_ names: String..., call: @escaping @Sendable (Bench) async throws -> Void) {
      (self.names, self.call) = (names, call)
    }
  }

  private static let (password, next) = ("Signal 42 tower", "Second 42 tower")

  // MARK: Containers

  private struct ContainerBench: Sendable {
    let inviting: InvitingServer
    let fixture: DeviceFixture
    let device: Device
    let container: Container
    let recovery: RecoveryCode
    let target: PushTargetID
    let asked: [TransactionRequest]
    let offline: OfflineTransaction
    let challenge: String

    static let byPassword = Authentication.password(secret(LockedOperationsTests.password))

    init() async throws {
      let policy = try PasswordPolicy(minimumLength: 4, maximumLength: 40)
      let folder = try TemporaryFolder()
      let server = try await TestServer(
        directory: folder.path, protection: .biometricOrPassword(policy, .lock(limit: 5)),
        log: EventLog { _ in }, push: PushSetup(delivery: PushDelivery([SilentGateway()])))
      inviting = try InvitingServer(
        folder: folder, server: await server.restarted { $0.profile.isOTPExportable = true })
      fixture = try DeviceFixture(inviting.transport)
      device = Device(
        vault: fixture.vault, biometrics: SimulatedBiometrics(), passcode: SimulatedPasscode("1234")
      ) { [transport = inviting.transport] _ throws(TransportFailure) in transport }
      container = try await fixture.activate(inviting.invite(), password: LockedOperationsTests.password)
      recovery = try await device.makeRecoveryCode(
        for: container, password: secret(LockedOperationsTests.password))
      try await device.enableBiometrics(for: container, password: secret(LockedOperationsTests.password))
      target = try await device.addPushTarget(
        .webhook(address: "desk"), name: "Desk", for: container, by: Self.byPassword)
      let transactions = TransactionService(inviting.server.context)
      for index in 0..<5 {
        // By several relying parties, each of which may have four pending transactions.
        _ = try await transactions.create(
          "Pay \(index) EUR", user: container.user, lifetime: nil, by: .key("\(index % 2)"))
      }
      let typed = try await transactions.create(
        TransactionDraft(
          .text("Pay 12.50 to Bob"), from: "Example Bank", user: container.user, typedFields: []),
        by: .local
      ).record.id
      asked = try await device.pendingTransactions(for: container, by: Self.byPassword)
      offline = try await device.offlineTransaction(
        scanned: transactions.offline(asked[0].id)
      ).transaction
      challenge = try await transactions.typed(typed).challenge
    }
  }

  private static let refusedForContainers: [Operation<ContainerBench>] = [
    Operation("oneTimePassword") {
      _ = try await $0.device.oneTimePassword(for: $0.container, by: ContainerBench.byPassword)
    },
    Operation("decide") {
      try await $0.device.decide(
        $0.asked[1], .accepted, with: $0.container, by: ContainerBench.byPassword,
        session: ContainerBench.byPassword)
    },
    Operation("initiate") {
      _ = try await $0.device.initiate(
        .text("hello"), with: $0.container, by: ContainerBench.byPassword, session: ContainerBench.byPassword)
    },
    Operation("offlineAnswer") {
      _ = try await $0.device.offlineAnswer(
        to: $0.offline, with: $0.container, by: ContainerBench.byPassword)
    },
    Operation("typedAnswer") {
      _ = try await $0.device.typedAnswer(
        to: TypedApproval(challenge: $0.challenge), with: $0.container, by: ContainerBench.byPassword)
    },
    Operation("exportedAccount") {
      _ = try await $0.device.exportedAccount(of: $0.container, by: ContainerBench.byPassword)
    },
    Operation("rename") { try await $0.device.rename($0.container, to: "mine") },
    Operation("setTrust") {
      try await $0.device.setTrust(
        certificateAuthoritiesPEM: $0.inviting.server.certificateAuthorityPEM, of: $0.container)
    },
    Operation("changePassword") {
      try await $0.device.changePassword(
        of: $0.container, from: secret(password), to: secret(next))
      try await $0.device.changePassword(
        of: $0.container, from: secret(next), to: secret(password))
    },
    Operation("makeRecoveryCode") {
      _ = try await $0.device.makeRecoveryCode(for: $0.container, password: secret(password))
    },
    Operation("enableBiometrics") {
      try await $0.device.enableBiometrics(for: $0.container, password: secret(password))
    },
    Operation("enablePasscode") {
      do {
        try await $0.device.enablePasscode(for: $0.container, password: secret(password))
      } catch SignetError.unlockMethodNotOffered {}
    },
    Operation("renew") {
      _ = try await $0.device.renew(
        $0.container, password: secret(password), handler: ScriptedActivation(password: password))
    },
  ]

  private static let allowedForContainers: [Operation<ContainerBench>] = [
    Operation("decide") {
      for (index, status) in [(2, DecisionStatus.denied), (3, .reported)] {
        try await $0.device.decide(
          $0.asked[index], status, with: $0.container, by: ContainerBench.byPassword,
          session: ContainerBench.byPassword)
      }
    },
    Operation("cancel") {
      try await $0.device.cancel(
        $0.asked[4].id, Cancellation(.userCancel), with: $0.container, by: ContainerBench.byPassword)
    },
    Operation("pendingTransactions", "transactionList", "transaction", "offlineTransaction") {
      _ = try await $0.device.pendingTransactions(for: $0.container, by: ContainerBench.byPassword)
      _ = try await $0.device.transactionList(for: $0.container, by: ContainerBench.byPassword)
      _ = try await $0.device.transaction(
        $0.asked[1].id, for: $0.container, by: ContainerBench.byPassword)
      let transactions = TransactionService($0.inviting.server.context)
      _ = try await $0.device.offlineTransaction(scanned: transactions.offline($0.asked[1].id))
    },
    Operation(
      "container", "containers", "unconfirmedContainers", "finishActivations", "lostCredentials",
      "keystoreStatus", "timeSeenAhead", "enabledUnlockMethods", "lockStatus", "isPasswordExpired",
      "protectionInForce",
      "biometricStatus", "passcodeStatus", "earliestPasswordChange", "hasRecoveryCode", "hasCachedPassword",
      "weaknesses"
    ) {
      #expect(try await $0.device.containers() == [$0.container])
      _ = try await $0.device.container($0.container.id)
      _ = try await $0.device.unconfirmedContainers()
      _ = try await $0.device.finishActivations()
      _ = try await $0.device.lostCredentials()
      _ = try await $0.device.keystoreStatus()
      _ = try await $0.device.timeSeenAhead()
      #expect(try await $0.device.enabledUnlockMethods(of: $0.container) == [.biometrics])
      _ = try await $0.device.lockStatus(of: $0.container)
      _ = try await $0.device.isPasswordExpired(of: $0.container)
      _ = await $0.device.protectionInForce(for: $0.container)
      _ = try await $0.device.biometricStatus(for: $0.container)
      _ = try await $0.device.passcodeStatus(for: $0.container)
      _ = try await $0.device.earliestPasswordChange(of: $0.container)
      _ = try await $0.device.hasRecoveryCode(for: $0.container)
      _ = $0.device.hasCachedPassword(for: $0.container)
    },
    Operation("accountStatus", "accountEvidence", "evaluateAccountPolicies", "reportCondition") {
      _ = try await $0.device.accountStatus(of: $0.container)
      _ = try await $0.device.accountEvidence(for: $0.container)
      _ = try await $0.device.evaluateAccountPolicies(of: $0.container)
      _ = try await $0.device.evaluateAccountPolicies()
      _ = try await $0.device.reportCondition(of: $0.container, by: ContainerBench.byPassword)
    },
    Operation("pushTargets", "addPushTarget", "changePushTarget", "removePushTarget", "pushed") {
      _ = try await $0.device.pushTargets(of: $0.container, by: ContainerBench.byPassword)
      let second = try await $0.device.addPushTarget(
        .webhook(address: "kitchen"), for: $0.container, by: ContainerBench.byPassword)
      try await $0.device.changePushTarget(
        second, name: "Kitchen", for: $0.container, by: ContainerBench.byPassword)
      try await $0.device.removePushTarget($0.target, of: $0.container, by: ContainerBench.byPassword)
      _ = try await $0.device.pushed("nothing", by: ContainerBench.byPassword)
    },
    Operation("verify", "clearPasswordCache", "tryPresentPassword") {
      try await $0.device.verify(ContainerBench.byPassword, for: $0.container)
      $0.device.clearPasswordCache()
    },
    Operation("resetPassword") {
      try await $0.device.resetPassword(of: $0.container, with: $0.recovery, to: secret(next))
      try await $0.device.resetPassword(of: $0.container, with: $0.recovery, to: secret(password))
    },
    Operation("disableBiometrics", "disablePasscode") {
      try await $0.device.disableBiometrics(for: $0.container)
      try await $0.device.disablePasscode(for: $0.container)
    },
    Operation("queuedNotices", "sendQueuedNotices") {
      _ = try await $0.device.queuedNotices()
      _ = try await $0.device.sendQueuedNotices()
    },
  ]

  /// Operations without a container, or with tests elsewhere: enrolment, the live channel, the locks themselves, the end of a
  /// container.
  private static let others: Set<String> = [
    "createContainer", "finishActivation", "liveTransactions", "lockAccount", "unlockAccount",
    "deleteContainer",
    "reset",
  ]

  @Test("a container: each operation, locked and not")
  func containers() async throws {
    let bench = try await ContainerBench()
    try await bench.device.lockAccount(bench.container, reason: "lent")
    for operation in Self.refusedForContainers {
      let failure = await signetError { try await operation.call(bench) }
      guard case .accountLocked(let lock)? = failure else {
        Issue.record("\(operation.names): \(String(describing: failure))")
        continue
      }
      #expect(lock.manual?.reason == "lent")
    }
    for operation in Self.allowedForContainers {
      do { try await operation.call(bench) } catch { Issue.record("\(operation.names): \(error)") }
    }
    // None of them had an effect or used up an attempt.
    #expect(try await bench.inviting.server.decision(on: bench.asked[1].id) == nil)
    #expect(try await bench.device.accountStatus(of: bench.container).lock.manual != nil)
    #expect(try await bench.device.lockStatus(of: bench.container) == .unlocked)
    #expect(
      try await !bench.device.unlockAccount(bench.container, by: ContainerBench.byPassword).isLocked)
    // The lock was the only reason for each refusal.
    for operation in Self.refusedForContainers {
      do { try await operation.call(bench) } catch { Issue.record("\(operation.names): \(error)") }
    }
    let renewed = try #require(try await bench.device.containers().first)
    try await bench.device.lockAccount(renewed)
    try await bench.device.deleteContainer(renewed.id, by: ContainerBench.byPassword)
    #expect(try await bench.fixture.isEmpty)
    await bench.inviting.server.stop()
  }

  /// The names of all operations in the library's files with this prefix.
  private func operations(inFiles prefix: String) throws -> Set<String> {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/Signet")
    let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
    var found: Set<String> = []
    for case let file as URL in files
    where file.lastPathComponent.hasPrefix(prefix) && file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for line in text.split(separator: "\n") {
        guard let start = line.firstRange(of: "public func ") else { continue }
        found.insert(String(line[start.upperBound...].prefix { $0 != "(" && $0 != "<" }))
      }
    }
    return found
  }

  @Test("every operation of devices and accounts is in the tables of this suite")
  func complete() throws {
    var known = Self.others
    for operation in Self.refusedForContainers + Self.allowedForContainers {
      known.formUnion(operation.names)
    }
    let ofDevices = try operations(inFiles: "Device")
    #expect(ofDevices.count > 30)
    #expect(ofDevices.subtracting(known).isEmpty)
    known = ["lock", "unlock", "deleteAll", "delete", "removePush", "removeEnrolled"]
    for operation in Self.refusedForAccounts + Self.allowedForAccounts { known.formUnion(operation.names) }
    let ofAccounts = try operations(inFiles: "Accounts")
    #expect(ofAccounts.count > 20)
    #expect(ofAccounts.subtracting(known).isEmpty)
  }

  // MARK: Accounts

  private struct AccountBench: Sendable {
    let server = PushServerInProcess()
    let folder: TemporaryFolder
    let accounts: Accounts
    let account: EnrolledAccount
    let push: Signet.Account.ID
    let answering: Signet.Account.ID

    var codes: Signet.Account.ID { account.codes[0].id }

    init() async throws {
      folder = try TemporaryFolder()
      let path = folder.path + "/device"
      let vault = try Vault.forTests(path)
      let device = Device(
        vault: vault, passwordChecks: PasswordChecks(dictionary: AccountsTests.NoDictionary())
      ) { [server] _ throws(TransportFailure) in server }
      accounts = device.accounts
      account = try await accounts.enrol(server.uri(.mfauth), from: PushEnrolmentTests.target()).account
      push = try #require(account.push).id
      let challenged = try OTPAccount(
        issuer: "Bank", name: "alice",
        kind: .ocra(OCRASuite("OCRA-1:HOTP-SHA1-6:QN08"), lengths: nil, counter: 0), algorithm: .sha1,
        digits: 6, secret: secret("12345678901234567890"))
      answering = try await accounts.add([challenged]).added[0].id
      for (id, kind) in [
        ("M:1", PushAuthKind.default), ("M:2", .challenge), ("M:3", .default), ("M:4", .default),
      ] { _ = try await accounts.receive(server.delivery(id, kind: kind)) }
    }
  }

  private static let refusedForAccounts: [Operation<AccountBench>] = [
    Operation("code") { _ = try await $0.accounts.code(of: $0.codes) },
    Operation("response") { _ = try await $0.accounts.response(of: $0.answering, to: "11111111") },
    Operation("export") { _ = try await $0.accounts.export([$0.codes]) },
    Operation("export") { _ = try await $0.accounts.export() },
    Operation("rename") { _ = try await $0.accounts.rename($0.codes, name: "bob") },
    Operation("renameEnrolled") {
      _ = try await $0.accounts.renameEnrolled($0.account.id, name: "alice")
    },
    Operation("setPolicies") {
      try await $0.accounts.setPolicies(AccountPolicySet(["own": [:]]), of: $0.push)
    },
    Operation("enrol") {
      var uri = $0.server.uri(.otpauth, codes: [UInt8](1...20))
      uri.oath?.kind = .hotp(counter: 0)
      _ = try await $0.accounts.enrol(uri)
    },
    Operation("answer") { try await $0.accounts.answer("M:1", .approve) },
    Operation("answer") { try await $0.accounts.answer("M:2", .number("34")) },
  ]

  private static let allowedForAccounts: [Operation<AccountBench>] = [
    Operation(
      "list", "enrolled", "messages", "message", "policies", "status", "evaluatePolicies", "havePassword",
      "areStored"
    ) {
      #expect(try await $0.accounts.list().count == 2)
      #expect(try await $0.accounts.enrolled().count == 1)
      #expect(try await $0.accounts.messages().count == 4)
      #expect(try await $0.accounts.message("M:1").notification.id == "M:1")
      _ = try await $0.accounts.policies(of: $0.account.id)
      _ = try await $0.accounts.status(of: $0.account)
      _ = try await $0.accounts.evaluatePolicies(of: $0.codes)
      _ = try await $0.accounts.evaluatePolicies()
      _ = try await $0.accounts.havePassword()
    },
    Operation("add") {
      let same = try OTPAccount(
        issuer: "Acme", name: "alice", kind: .totp(period: 30, start: 0), algorithm: .sha1, digits: 8,
        secret: SharedSecretBox(SecretBytes(copying: AccountsTests.secret)))
      let added = try await $0.accounts.add([same])
      #expect(added.duplicates.map(\.id) == [$0.codes])
    },
    Operation("answer") { try await $0.accounts.answer("M:3", .deny) },
    Operation("receive", "removeMessage") {
      _ = try await $0.accounts.receive($0.server.delivery("M:5"))
      try await $0.accounts.removeMessage("M:4")
    },
    Operation("setPushDevice", "sendPushTokens") {
      let failed = try await $0.accounts.setPushDevice(PushEnrolmentTests.target("CD02"))
      let later = try await $0.accounts.sendPushTokens()
      #expect(failed.isEmpty && later.isEmpty)
    },
    Operation("setPassword") {
      let new = secret("Signal 42 tower")
      _ = try await $0.accounts.setPassword(new)
      _ = try await $0.accounts.setPassword(nil, by: new)
    },
  ]

  @Test("an account: each operation, locked and not")
  func accounts() async throws {
    let bench = try await AccountBench()
    try await bench.accounts.lock(bench.account.id, reason: "lent")
    try await bench.accounts.lock(bench.answering, reason: "lent")
    for operation in Self.refusedForAccounts {
      let failure = await signetError { try await operation.call(bench) }
      guard case .accountLocked(let lock)? = failure else {
        Issue.record("\(operation.names): \(String(describing: failure))")
        continue
      }
      #expect(lock.manual?.reason == "lent")
    }
    for operation in Self.allowedForAccounts {
      do { try await operation.call(bench) } catch { Issue.record("\(operation.names): \(error)") }
    }
    #expect(bench.server.answer(to: "M:1") == nil && bench.server.answer(to: "M:3") == "no")
    try await bench.accounts.unlock(bench.codes)
    try await bench.accounts.unlock(bench.answering)
    for operation in Self.refusedForAccounts {
      do { try await operation.call(bench) } catch { Issue.record("\(operation.names): \(error)") }
    }
    try await bench.accounts.setPolicies(AccountPolicySet(), of: bench.codes)
    try await bench.accounts.lock(bench.codes)
    try await bench.accounts.removePush(bench.push)
    try await bench.accounts.delete(bench.codes)
    try await bench.accounts.removeEnrolled(bench.account.id)
    try await bench.accounts.deleteAll()
    #expect(try await bench.accounts.list().isEmpty)
  }

  // MARK: Time that passes

  @Test("a lock during a fingerprint prompt takes effect")
  func whileAsked() async throws {
    let bench = try await ContainerBench()
    let sensor = SimulatedBiometrics()
    let locking = LockingGate(sensor) { [device = bench.device, container = bench.container] in
      try await device.lockAccount(container, reason: "meanwhile")
    }
    let device = Device(vault: bench.fixture.vault, biometrics: locking) {
      [transport = bench.inviting.transport] _ throws(TransportFailure) in transport
    }
    let finger = Authentication.biometrics(reason: "Sign in")
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await device.oneTimePassword(for: bench.container, by: finger) },
      {
        try await device.decide(
          bench.asked[1], .accepted, with: bench.container, by: finger, session: ContainerBench.byPassword)
      },
      { _ = try await device.offlineAnswer(to: bench.offline, with: bench.container, by: finger) },
    ]
    for call in calls {
      let failure = await signetError(of: call)
      guard case .accountLocked(let lock)? = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
      #expect(lock.manual?.reason == "meanwhile")
      try await bench.device.unlockAccount(bench.container, by: ContainerBench.byPassword)
    }
    #expect(try await bench.inviting.server.decision(on: bench.asked[1].id) == nil)
    await bench.inviting.server.stop()
  }

  @Test("an expired password still unlocks and can be changed in a locked container")
  func expired() async throws {
    let clock = VirtualClock(SystemWallClock().now)
    let policy = try PasswordPolicy(
      minimumLength: 4, maximumLength: 40, age: PasswordAge(maximumDays: 2))
    let inviting = try await InvitingServer(.password(policy, .lock(limit: 5)))
    let trusted = VirtualTrustedClock(wallSeconds: clock.now)
    let fixture = try DeviceFixture(inviting.transport, clock: trusted)
    let device = Device(vault: fixture.vault, clock: clock) {
      [transport = inviting.transport] _ throws(TransportFailure) in transport
    }
    let container = try await device.createContainer(
      ContainerInitialization(code: inviting.invite()), handler: ScriptedActivation(password: Self.password))
    try await device.lockAccount(container)
    guard
      case .accountLocked? = await signetError(of: {
        try await device.changePassword(of: container, from: secret(Self.password), to: secret(Self.next))
      })
    else {
      Issue.record("changed")
      return
    }
    clock.advance(by: 3 * 86_400)
    trusted.advance(by: .seconds(3 * 86_400))
    try await device.changePassword(of: container, from: secret(Self.password), to: secret(Self.next))
    #expect(try await device.accountStatus(of: container).lock.isLocked)
    clock.advance(by: 3 * 86_400)
    trusted.advance(by: .seconds(3 * 86_400))
    #expect(
      await signetError {
        try await device.unlockAccount(container, by: .password(secret(Self.password)))
      } == .wrongPassword(remaining: 4))
    #expect(try await !device.unlockAccount(container, by: .password(secret(Self.next))).isLocked)
    await #expect(throws: SignetError.passwordExpired) {
      try await device.oneTimePassword(for: container, by: .password(secret(Self.next)))
    }
    await inviting.server.stop()
  }

  // MARK: FIDO UAF

  @Test(
    "UAF keys of a locked container's user cannot be made, used or changed, only removed"
  )
  func uaf() async throws {
    let guarded = try await GuardedDevice(["deviceTampering": ["score": 0.5]]) { $0.tamperScore = 0 }
    let container = try await guarded.activate()
    let client = UAFClient(
      device: guarded.device, facetID: UAFDevice.facetID, facetTransport: FacetServer())
    let server = container.server.origin + "/nevisfido"
    let party = try UAFParty()
    func register(_ user: String, at server: String?) async throws -> UAFKey {
      let request = party.registrationRequest(user)
      guard case .registration(let registration) = try await client.open(request.text, from: server) else {
        throw UAFFailure.protocol(.unknown, "no registration")
      }
      let aaid = try #require(try await client.authenticators().first { $0.kind == .pin }).aaid
      let response = try await registration.register([
        UAFEnrolment(aaid: aaid, authentication: UAFDevice.authentication(.pin))
      ])
      try party.accept(response, to: request)
      try await registration.finish(response, isAccepted: true)
      return try #require(response.keys.first)
    }
    func authenticate(_ key: UAFKey, by pin: String = UAFDevice.pin) async throws {
      let request = party.authenticationRequest()
      guard case .authentication(let authentication) = try await client.open(request.text, from: key.server)
      else { throw UAFFailure.protocol(.unknown, "no authentication") }
      let response = try await authentication.authenticate([
        KeyUnlock(key: key, authentication: UAFDevice.pin(pin))
      ])
      try party.accept(response, to: request)
    }
    func lockingPolicy(_ body: () async throws -> Void) async -> String? {
      guard case .device(.accountLocked(let lock))? = await uafFailure(body) else { return nil }
      return lock.lockingPolicy
    }
    let own = try await register("alice", at: server)
    let elsewhere = try await register("alice", at: "https://uaf.example.org/nevisfido")
    let bobs = try await register("bob", at: server)
    let nowhere = try await register("alice", at: nil)
    for key in [own, elsewhere, bobs, nowhere] { try await authenticate(key) }
    guarded.given.set { $0.tamperScore = 0.9 }
    // A key without a named server may belong to any server.
    for key in [own, nowhere] {
      #expect(await lockingPolicy { try await authenticate(key) } == "deviceTampering")
      #expect(await lockingPolicy { try await authenticate(key, by: "000000") } == "deviceTampering")
      #expect(
        await lockingPolicy {
          try await client.changeSecret(
            of: key, from: SharedSecretBox(SecretBytes(text: UAFDevice.pin)),
            to: SharedSecretBox(SecretBytes(text: "161803")))
        } == "deviceTampering")
      #expect(try await client.protectionStatus(of: key) == .unlocked, "nothing was tried")
    }
    let count = try await client.keys().count
    #expect(await lockingPolicy { _ = try await register("alice", at: server) } == "deviceTampering")
    #expect(
      await lockingPolicy {
        _ = try await register("alice", at: server.uppercased().replacing("HTTPS", with: "https"))
      } == "deviceTampering")
    #expect(try await client.keys().count == count)
    for key in [elsewhere, bobs] { try await authenticate(key) }
    // Deregistering and deleting always work.
    let request = try party.deregistrationRequest([
      .key(KeyReference(aaid: #require(AAID(own.aaid)), keyID: #require(KeyID(text: own.keyID))))
    ])
    guard case .deregistration(let deregistration) = try await client.open(request.text, from: server) else {
      Issue.record("no deregistration")
      return
    }
    #expect(try await deregistration.deregister() == [own])
    try await client.delete(nowhere)
    guarded.given.set { $0.tamperScore = 0 }
    _ = try await register("alice", at: server)
    // Deleting a locked container does not evade the lock, so it deletes the UAF keys too; deleting an open one keeps them.
    try await guarded.device.deleteContainer(container.id)
    #expect(try await Set(client.keys().map(\.server)) == [server, elsewhere.server])
    let second = try await guarded.activate()
    try await guarded.device.lockAccount(second)
    try await guarded.device.deleteContainer(second.id)
    #expect(try await Set(client.keys()) == [elsewhere, bobs])
    // An order to wipe does the same.
    let third = try await guarded.activate()
    _ = try await register("alice", at: server)
    _ = try await guarded.order(.wipe, third)
    #expect(try await guarded.device.reportCondition(of: third) == .wiped)
    #expect(try await Set(client.keys()) == [elsewhere, bobs])
    await guarded.stop()
  }
}

/// Discards pushes.
private struct SilentGateway: PushDispatcher {
  let service = PushTarget.Service.webhook

  func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {}
}

/// A sensor that runs an action while the user presents a finger.
private final class LockingGate: BiometricGate {
  private let inner: SimulatedBiometrics
  private let during: @Sendable () async throws -> Void

  init(_ inner: SimulatedBiometrics, during: @escaping @Sendable () async throws -> Void) {
    (self.inner, self.during) = (inner, during)
  }

  func state() async throws(BiometricFailure) -> BiometricState { try await inner.state() }

  func match(
    _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
  ) async throws(BiometricFailure) -> EnrolledSet {
    do { try await during() } catch { Issue.record(error) }
    return try await inner.match(reason, hints: hints)
  }

  func endLockout() async {}
}
