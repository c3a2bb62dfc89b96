import Signet
import SignetCrypto
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import Testing

/// Renewal with a real server: after any interruption or rejection, both sides have the new keys, or both the old ones.
@Suite(.timeLimit(.minutes(10))) struct RenewalTests {
  private let renewal = ScriptedActivation(reply: .abort)

  @Test func makesNewKeysOfAllKindsAndKeepsTheRest() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    let code = try await server.invite()
    let first = try await fixture.device.createContainer(
      ContainerInitialization(code: code, deviceName: "Laptop", containerName: "Work"), handler: renewal)
    let session = Session(for: first, on: fixture.device)
    try await session.unlock()
    let sealed = try await session.encrypt(Array("kept".utf8), label: "notes")
    let second = try await fixture.device.renew(first, handler: renewal)
    #expect(second.isConfirmed && second.name == "Work" && second.user == first.user)
    #expect(second.renewals == 1 && second.firstCreated == first.firstCreated)
    #expect(try await fixture.device.containers() == [second])
    await #expect(throws: SignetError.noSuchContainer) { try await fixture.device.container(first.id) }
    let records = try await server.server.context.storage.containers(user: "alice")
    let old = try #require(records.first { $0.id == first.serverContainerID })
    let new = try #require(records.first { $0.id == second.serverContainerID })
    #expect(records.count == 2 && old.state == .revoked && new.state == .active)
    #expect(new.renews == old.id && new.renewals == 1 && new.name == "Laptop" && new.device == old.device)
    let parts = { (record: ContainerRecord) in [record.sessionKey, record.encryptionKey, record.signingKey] }
    #expect(Set(parts(old) + parts(new)).count == 6)
    // A verifier that trusts the old signing key can verify the new one.
    let oldKey = try P256.Signing.PublicKey(x963: old.signingKey)
    let succession = try #require(new.succession)
    #expect(RenewalCore.isSigned(succession, by: oldKey))
    let core = try RenewalCore(parsing: SignedMessage.unverifiedPayload(of: succession))
    #expect(core.keys.signing.x963Representation == new.signingKey)
    try await expectWorking(second, fixture, server)
    // Data encrypted before the renewal is readable.
    let again = Session(for: second, on: fixture.device)
    try await again.unlock()
    #expect(try await again.decrypt(sealed, label: "notes") == Array("kept".utf8))
    // And once more.
    let third = try await fixture.device.renew(second, handler: renewal)
    #expect(third.renewals == 2 && third.firstCreated == first.firstCreated)
    try await expectWorking(third, fixture, server)
    #expect(try await server.renewalsInAudit() == ["1", "2"])
    await server.server.stop()
  }

  /// Expects that the server accepts codes and decisions of the container, and that it is the active one.
  private func expectWorking(
    _ container: Container, _ fixture: DeviceFixture, _ server: InvitingServer,
    password: SharedSecretBox? = nil, makesCode: Bool = true
  ) async throws {
    let context = server.server.context
    let active = try await context.storage.containers(user: "alice").filter { $0.state == .active }
    #expect(active.map(\.id) == [container.serverContainerID])
    let user = UserID("alice")
    // A code is valid once in its time step.
    if makesCode {
      let code = try await fixture.device.oneTimePassword(
        for: container, by: password.map { .password($0) })
      #expect(
        try await CodeService(context).validate(code.code, user: user, by: .init(.local)).value == .accepted)
    }
    let transaction = try await TransactionService(context).create(
      "Pay", user: user, lifetime: nil, by: .local)
    let request = try #require(
      try await fixture.device.pendingTransactions(for: container).first { $0.id == transaction.id })
    try await fixture.device.decide(
      request, .accepted, with: container, by: password.map { .password($0) })
  }

  @Test("interrupted before or after each message", arguments: [CuttingTransport.Cut.before, .after])
  func worksAfterACut(_ cut: CuttingTransport.Cut) async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let first = try await fixture.activate(server.invite())
    let expected: SignetError = .transport(
      cut == .before ? .unreachable(code: 7) : .incompleteResponse(code: 18))
    for message in ["/renewal/start", "/renewal/finish"] {
      transport.cut(cut, at: message)
      await #expect(throws: expected) { try await fixture.device.renew(first, handler: renewal) }
      transport.cut(nil, at: message)
      #expect(try await fixture.device.containers() == [first])
      #expect(try await fixture.device.unconfirmedContainers().isEmpty)
      try await expectWorking(first, fixture, server, makesCode: message == "/renewal/start")
    }
    transport.cut(cut, at: "/confirm")
    await #expect(throws: expected) { try await fixture.device.renew(first, handler: renewal) }
    #expect(try await fixture.device.containers() == [first])
    #expect(try await fixture.device.unconfirmedContainers().map(\.renewals) == [1])
    await #expect(throws: expected) { try await fixture.device.renew(first, handler: renewal) }
    transport.cut(nil, at: "/confirm")
    // A retry continues the renewal.
    let second = try await fixture.device.renew(first, handler: renewal)
    #expect(second.renewals == 1)
    #expect(try await fixture.device.containers() == [second])
    try await expectWorking(second, fixture, server)
    #expect(try await server.renewalsInAudit() == ["1"])
    await server.server.stop()
  }

  @Test func finishesWithTheActivations() async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let first = try await fixture.activate(server.invite())
    transport.cut(.after, at: "/confirm")
    await #expect(throws: SignetError.self) { try await fixture.device.renew(first, handler: renewal) }
    transport.cut(nil, at: "/confirm")
    let finished = try await fixture.device.finishActivations()
    #expect(finished.map(\.renewals) == [1])
    try await expectWorking(#require(finished.first), fixture, server)
    await server.server.stop()
  }

  @Test("a renewal dropped by the server leaves the current keys")
  func keepsThePresentKeysWhereTheServerDropsTheNewOnes() async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let first = try await fixture.activate(server.invite())
    let storage = server.server.context.storage
    transport.cut(.before, at: "/confirm")
    await #expect(throws: SignetError.self) { try await fixture.device.renew(first, handler: renewal) }
    transport.cut(nil, at: "/confirm")
    // Another process has started anew in between, and got no answer.
    let other = try DeviceFixture(transport, folder: fixture.folder)
    let staged = try #require(try await other.device.unconfirmedContainers().first)
    try await other.vault.discardContainer(staged.id)
    transport.cut(.after, at: "/renewal/finish")
    await #expect(throws: SignetError.self) { try await other.device.renew(first, handler: renewal) }
    #expect(try await storage.container(staged.serverContainerID) == nil)
    #expect(
      try await storage.containers(user: "alice").map(\.state.rawValue).sorted() == ["active", "pending"])
    transport.cut(nil, at: "/renewal/finish")
    try await expectWorking(first, fixture, server)
    // Revoking the container revokes its unconfirmed successor too.
    transport.cut(.before, at: "/confirm")
    await #expect(throws: SignetError.self) { try await fixture.device.renew(first, handler: renewal) }
    transport.cut(nil, at: "/confirm")
    try await UserService(server.server.context).revokeContainer(first.serverContainerID, by: .local)
    #expect(try await fixture.device.finishActivations().isEmpty)
    #expect(try await fixture.device.unconfirmedContainers().isEmpty)
    await #expect(throws: SignetError.containerUnknown) {
      try await fixture.device.renew(first, handler: renewal)
    }
    #expect(!(try await server.states().contains("active")))
    await server.server.stop()
  }

  @Test func keepsAPasswordThatTheNewPolicyAllows() async throws {
    let old = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await InvitingServer(.password(old, .lock(limit: 5)))
    let new = ProtectionPolicy.password(
      try PasswordPolicy(minimumLength: 8, maximumLength: 64), .lock(limit: 3))
    let fixture = try DeviceFixture(server.transport)
    let first = try await fixture.activate(server.invite(), password: "winter-garden")
    let renewing = try await server.restarted { $0.profile.protection = new }
    let set = try await fixture.vault.domains(of: first.id).first { $0.slot == .password }?.password
    let moved = try DeviceFixture(renewing.transport, folder: fixture.folder)
    await #expect(throws: SignetError.passwordRequired) {
      try await moved.device.renew(first, handler: renewal)
    }
    await #expect(throws: SignetError.wrongPassword(remaining: 4)) {
      try await moved.device.renew(first, password: secret("summer-garden"), handler: renewal)
    }
    let handler = ScriptedActivation(reply: .abort)
    let second = try await moved.device.renew(first, password: secret("winter-garden"), handler: handler)
    #expect(handler.requests.isEmpty && handler.progress.last?.fraction == 1)
    #expect(second.profile.protection == new)
    // The password keeps its age, so that a renewal does not evade its expiry.
    let kept = try await moved.vault.domains(of: second.id).first { $0.slot == .password }?.password
    #expect(kept?.stamp == set?.stamp && set != nil)
    try await expectWorking(second, moved, renewing, password: secret("winter-garden"))
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await moved.device.oneTimePassword(for: second, by: .password(secret("summer-garden")))
    }
    await renewing.server.stop()
  }

  @Test("a password that the new policy refuses is asked for again")
  func asksForANewPassword() async throws {
    let old = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await InvitingServer(.password(old, .lock(limit: 5)))
    let policy = try PasswordPolicy(minimumLength: 15, maximumLength: 64)
    let fixture = try DeviceFixture(server.transport)
    let first = try await fixture.activate(server.invite(), password: "winter-garden")
    let renewing = try await server.restarted { $0.profile.protection = .password(policy, .lock(limit: 3)) }
    let moved = try DeviceFixture(renewing.transport, folder: fixture.folder)
    let present = secret("winter-garden")
    for (reply, expected) in [
      (PasswordReply.cancel, SignetError.activationCancelled), (.abort, .activationAborted),
      (
        .proceed(secret("too-short")), .passwordRefused(policy.violations(of: "too-short"))
      ),
    ] {
      await #expect(throws: expected) {
        try await moved.device.renew(first, password: present, handler: ScriptedActivation(reply: reply))
      }
      try await expectWorking(
        first, moved, renewing, password: present, makesCode: expected == .activationCancelled)
    }
    let handler = ScriptedActivation(password: "a longer winter garden")
    let second = try await moved.device.renew(first, password: present, handler: handler)
    #expect(handler.requests.map(\.subject) == [.renewedContainer])
    #expect(handler.requests.map(\.policy) == [policy])
    try await expectWorking(second, moved, renewing, password: secret("a longer winter garden"))
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await moved.device.oneTimePassword(for: second, by: .password(present))
    }
    await renewing.server.stop()
  }

  @Test("the server counts signatures by wrong passwords of a silent lock")
  func refusesAWrongSignature() async throws {
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await InvitingServer(.password(policy, .silent))
    let fixture = try DeviceFixture(server.transport)
    let first = try await fixture.activate(server.invite(), password: "winter-garden")
    let failure = await #expect(throws: SignetError.self) {
      try await fixture.device.renew(first, password: secret("summer-garden"), handler: renewal)
    }
    guard case .refused(let problem) = failure, problem.code == .unauthorized else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(try await fixture.device.unconfirmedContainers().isEmpty)
    #expect(try await server.states() == ["active"])
    let second = try await fixture.device.renew(first, password: secret("winter-garden"), handler: renewal)
    try await expectWorking(second, fixture, server, password: secret("winter-garden"))
    await server.server.stop()
  }

  @Test("an interrupted renewal to a silent lock can be repeated; no app data is left behind")
  func becomesSilent() async throws {
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let silent = ProtectionPolicy.password(policy, .silent)
    let password = secret("winter-garden")
    let server = try await InvitingServer(.password(policy, .lock(limit: 5)))
    let fixture = try DeviceFixture(server.transport)
    let first = try await fixture.activate(server.invite(), password: "winter-garden")
    let renewing = try await server.restarted { $0.profile.protection = silent }
    let transport = CuttingTransport(renewing.transport)
    let moved = try DeviceFixture(transport, folder: fixture.folder)
    for message in ["/renewal/start", "/renewal/finish"] {
      transport.cut(.after, at: message)
      await #expect(throws: SignetError.transport(.incompleteResponse(code: 18))) {
        try await moved.device.renew(first, password: password, handler: renewal)
      }
      transport.cut(nil, at: message)
    }
    let second = try await moved.device.renew(first, password: password, handler: renewal)
    #expect(second.profile.protection == silent && second.renewals == 1)
    try await expectWorking(second, moved, renewing, password: password)
    // Back to a lock that stores app data. Once apps can encrypt, a renewal to a silent lock is refused, since it would lose
    // their data.
    let back = try await renewing.restarted { $0.profile.protection = .password(policy, .lock(limit: 5)) }
    let third = try await DeviceFixture(back.transport, folder: fixture.folder).device.renew(
      second, password: password, handler: renewal)
    try await Session(for: third, on: moved.device).unlock(by: .password(password))
    let again = try await back.restarted { $0.profile.protection = silent }
    await #expect(throws: SignetError.appData(.silentLock)) {
      try await DeviceFixture(again.transport, folder: fixture.folder).device.renew(
        third, password: password, handler: renewal)
    }
    #expect(try await moved.device.containers() == [third])
    await again.server.stop()
  }

  @Test func tellsThatItIsWanted() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    let first = try await fixture.activate(server.invite())
    #expect(try await !fixture.device.transactionList(for: first).isRenewalRequested)
    let service = RenewalService(server.server.context)
    try await service.ask(first.serverContainerID, by: .local)
    #expect(try await fixture.device.transactionList(for: first).isRenewalRequested)
    let second = try await fixture.device.renew(first, handler: renewal)
    #expect(try await !fixture.device.transactionList(for: second).isRenewalRequested)
    // A container that is not active cannot be renewed.
    for id in [first.serverContainerID, "nothing"] {
      let problem = await #expect(throws: Problem.self) { try await service.ask(id, by: .local) }
      #expect(problem?.code == .unknown)
    }
    await server.server.stop()
  }
}

extension InvitingServer {
  /// The numbers of the renewals in the audit log.
  func renewalsInAudit() async throws -> [String] {
    try await server.context.storage.auditEntries(after: 0, limit: 1000).compactMap { entry in
      let event = try JSONObject(parsing: Array(entry.text.utf8))
      return try event.string("event") == "container.renewed" ? try event.string("renewals") : nil
    }
  }

  /// The same server, with settings that its operator has changed.
  func restarted(_ change: (inout ServicePolicy) -> Void) async throws -> InvitingServer {
    try await InvitingServer(folder: folder, server: server.restarted(change))
  }
}
