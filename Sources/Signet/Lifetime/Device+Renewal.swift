import SignetConcurrency
public import SignetCrypto
import SignetPolicy
import SignetVault
import SignetWire

extension Device {
  /// Renews all keys of a container, under the policies that its server has now: all of it or nothing.
  ///
  /// The new keys take the place of the present ones once the server has confirmed them; until then the present ones stay good.
  /// If the connection breaks in between, the failure is thrown, and this, or ``finishActivations()``, goes on later. What
  /// apps have encrypted stays readable. Biometrics and recovery codes belong to the present keys: enable and print them anew.
  ///
  /// The password so far is kept, with its age, where the new policy allows it; else the handler is asked for another.
  ///
  /// - Parameters:
  ///   - container: What to renew.
  ///   - password: The present password, UTF-8 as typed; `nil` where the device alone protects.
  ///   - handler: Hears of progress, and gives a password where a new one is needed.
  /// - Returns: The container with its new keys; the one that was given is gone.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `unsupportedDevice`, and `renewalDropped`, after which it can be tried again.
  public func renew(
    _ container: Container, password: SharedSecretBox? = nil, handler: some ActivationHandler
  ) async throws(SignetFailure) -> Container {
    if let finished = try await finishStaged(inPlaceOf: container) { return finished }
    let present = try await presentKeys(of: container, password)
    let session = try await session(container)
    let sessionKey = try await sessionKey(of: container)

    await handler.report(0.1, "Contacting \(container.server.shortForm)")
    let started = StartedRenewal(container, random: random)
    let offered = try started.receive(
      await session.send(
        .post, "/v1/renewal/start", started.start.bytes, signedBy: sessionKey,
        container: container.serverMadeID))
    let isSilent = offered.profile.protection.lockPolicy == .silent
    // What is encrypted would tell a right password from a wrong one; and it can't be left behind without asking.
    if isSilent && present.hasAppData { throw .appData(.silentLock) }
    let domains = try await newDomains(offered, password, handler)

    await handler.report(0.3, "Making keys")
    let keys = try await makeKeys(protectedBy: offered.profile.protection)
    let description = try await description(named: "", keyOrigin: keys.signing.origin)
    let proved = try await offered.prove(device: description, keys: keys, present)

    await handler.report(0.5, "Having the server make its part")
    let facts = try proved.receive(
      await session.send(
        .post, "/v1/renewal/finish", proved.finish, signedBy: sessionKey, container: container.serverMadeID))

    await handler.report(0.7, "Storing the new keys")
    let stored = try await vaulted(await vault.container(container.id))
    var attributes = stored.attributes
    attributes.protocolFacts = facts.bytes
    let draft = ContainerDraft(
      attributes: attributes, created: clock.now * 1000,
      domains: VaultLayout.domains(
        proved.keys, otpSecret: proved.otpSecret, protection: domains.protection,
        appDataKey: isSilent ? nil : present.appDataKey, passwordTimes: domains.passwordTimes))
    let id = try await vaulted(await vault.addContainer(draft))

    await handler.report(0.9, "Confirming")
    let renewed = try await confirmRenewal(try await self.container(id))
    await handler.report(1, "Renewed")
    return renewed
  }

  /// Goes on with what was stored and not confirmed in the place of a container.
  ///
  /// - Returns: What has taken its place now; `nil` where there is nothing, or the server dropped it.
  private func finishStaged(inPlaceOf container: Container) async throws(SignetFailure) -> Container? {
    for staged in try await unconfirmedContainers()
    where staged.user == container.user && staged.server == container.server {
      do throws(SignetFailure) { return try await confirm(staged) } catch .containerUnknown { continue }
    }
    return nil
  }

  /// Whether the container that a renewal goes on from is locked for good, or was erased.
  func isPresentOneLocked(of staged: Container) async throws(SignetFailure) -> Bool {
    let filter = ContainerFilter(user: staged.user, server: staged.server)
    let erased = try await vaulted(await vault.wipeReceipts()).map(\.container)
    for present in try await containers(matching: filter) {
      let domains = try await vaulted(await vault.domains(of: present.id))
      if erased.contains(present.id) || domains.contains(where: { $0.status == .lockedOut }) { return true }
    }
    return false
  }

  private func confirmRenewal(_ staged: Container) async throws(SignetFailure) -> Container {
    do throws(SignetFailure) { return try await confirm(staged) } catch .containerUnknown {
      throw .renewalDropped
    }
  }

  /// What the present keys have to say; the container is open only as long as that takes.
  private func presentKeys(
    of container: Container, _ password: SharedSecretBox?
  ) async throws(SignetFailure) -> PresentKeys {
    let unlocked = try await unlock(container, by: password.map { .password($0) })
    clearPasswordCache()
    var appDataKey: SharedSecretBox?
    let hasAppData = unlocked.recordNames.contains(VaultLayout.appDataKey)
    // Made now where there is none, so that none can be made between here and the confirmation, and be lost with it.
    if !unlocked.isSilent {
      appDataKey = SharedSecretBox(
        try await vaulted(
          await vault.randomRecord(
            VaultLayout.appDataKey, byteCount: AppDataGroupKey.rootByteCount, in: unlocked)))
    }
    return PresentKeys(
      signing: try unlocked.signingKey(VaultLayout.signingKey, in: vault),
      otpSecret: SharedSecretBox(try unlocked.secret(VaultLayout.otpSecret)), appDataKey: appDataKey,
      hasAppData: hasAppData)
  }

  /// What protects the renewed container; the age of a password that is kept goes on.
  private func newDomains(
    _ offered: OfferedRenewal, _ password: SharedSecretBox?, _ handler: some ActivationHandler
  ) async throws(SignetFailure) -> (protection: DomainDraft.Protection, passwordTimes: PasswordTimes?) {
    let container = offered.container
    let present = container.profile.protection.passwordPolicy == nil ? nil : password
    let protection = try await protection(
      offered.profile, keeping: present, subject: .renewedContainer, until: offered.answer.offer.expires,
      handler)
    guard case .password(let chosen, _) = protection, let present, chosen === present else {
      return (protection, nil)
    }
    let domains = try await vaulted(await vault.domains(of: container.id))
    return (
      protection, domains.first { $0.name == VaultLayout.user && $0.slot == .password }?.password
    )
  }
}
