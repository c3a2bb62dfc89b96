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
  /// Each password so far is kept, with its age, where its new policy allows it; else the handler is asked for another.
  ///
  /// - Parameters:
  ///   - container: What to renew.
  ///   - password: The present password of the container, UTF-8 as typed; `nil` where the device alone protects.
  ///   - keyPasswords: The present passwords of the keys that have their own. Where this goes on with what was begun, that of the
  ///     session key is the new one.
  ///   - handler: Hears of progress, and gives a password where a new one is needed.
  /// - Returns: The container with its new keys; the one that was given is gone.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `unsupportedDevice`, and `renewalDropped`, after which it can be tried again.
  public func renew(
    _ container: Container, password: SharedSecretBox? = nil,
    keyPasswords: [Key.Usage: SharedSecretBox] = [:], handler: some ActivationHandler
  ) async throws(SignetFailure) -> Container {
    try await requireUnlocked(container)
    var passwords: [Key.Usage?: SharedSecretBox] = keyPasswords.reduce(into: [:]) { $0[$1.key] = $1.value }
    passwords[nil] = password
    let sessionAuthentication = keyPasswords[.sessionTransport].map { Authentication.password($0) }
    if let finished = try await finishStaged(inPlaceOf: container, sessionAuthentication) { return finished }
    let session = try await session(container)
    let sessionKey = try await sessionKey(of: container, by: sessionAuthentication)
    let own = try await unlock(container, by: password.map { .password($0) })
    clearPasswordCache()
    let present = try await presentKeys(of: container, own, passwords)

    var parties = RenewalParties(
      container: container, session: session, sessionKey: sessionKey, present: present, passwords: passwords)
    let made = try await beginningAgain { (prepared: inout NewKeys?) async throws(SignetFailure) in
      try await makeRenewal(&parties, own, &prepared, handler)
    }

    await handler.report(0.7, "Storing the new keys")
    let stored = try await vaulted(await vault.container(container.id))
    var attributes = stored.attributes
    attributes.protocolFacts = made.facts.bytes
    let draft = ContainerDraft(
      attributes: attributes, created: clock.now * 1000,
      domains: VaultLayout.domains(
        made.proved.keys, otpSecret: made.proved.otpSecret, made.proved.profile, made.chosen,
        appDataKey: made.appDataKey))
    let id = try await vaulted(await vault.addContainer(draft))

    await handler.report(0.9, "Confirming")
    let renewed = try await confirmRenewal(
      try await self.container(id), signedBy: DeviceSigningKey(key: made.proved.keys.session, vault: vault))
    await handler.report(1, "Renewed")
    return renewed
  }

  /// Who takes part in a renewal.
  private struct RenewalParties {
    let container: Container
    var session: ServerSession
    let sessionKey: DeviceSigningKey
    let present: PresentKeys
    let passwords: [Key.Usage?: SharedSecretBox]
  }

  /// What a renewal has led to, before it is stored.
  private struct MadeRenewal {
    let proved: ProvedRenewal
    let chosen: [Key.Usage?: ChosenProtection]
    let appDataKey: SharedSecretBox?
    let facts: ContainerFacts
  }

  /// From *start* to the answer to *finish*.
  private func makeRenewal(
    _ parties: inout RenewalParties, _ own: borrowing UnlockedDomain, _ prepared: inout NewKeys?,
    _ handler: some ActivationHandler
  ) async throws(SignetFailure) -> MadeRenewal {
    let container = parties.container
    await handler.report(0.1, "Contacting \(container.server.shortForm)")
    let started = StartedRenewal(container, random: random)
    let offered = try started.receive(
      await parties.session.send(
        .post, "/v1/renewal/start", started.start.bytes, signedBy: parties.sessionKey,
        container: container.serverMadeID))
    try await requireCompliance(with: offered.profile.accountPolicies)
    let appDataKey = try await appDataKey(in: own, for: offered.profile)
    let new: NewKeys
    if let prepared, prepared.profile == offered.profile {
      new = prepared
    } else {
      let chosen = try await protections(
        offered.profile, keeping: presentPasswords(of: container, parties.passwords),
        until: offered.answer.offer.expires, handler)
      await handler.report(0.3, "Making keys")
      new = NewKeys(
        profile: offered.profile, chosen: chosen, keys: try await makeKeys(for: offered.profile))
      prepared = new
    }
    if new.hasAsked {
      forgetConnections()
      parties.session = try await session(container)
    }
    let description = try await description(named: "", keyOrigin: new.keys.signing.origin)
    let proved = try await offered.prove(device: description, keys: new.keys, parties.present, in: vault)

    await handler.report(0.5, "Having the server make its part")
    let facts = try proved.receive(
      await parties.session.send(
        .post, "/v1/renewal/finish", proved.finish, signedBy: parties.sessionKey,
        container: container.serverMadeID))
    return MadeRenewal(proved: proved, chosen: new.chosen, appDataKey: appDataKey, facts: facts)
  }

  /// Goes on with what was stored and not confirmed in the place of a container.
  ///
  /// - Returns: What has taken its place now; `nil` where there is nothing, or the server dropped it.
  private func finishStaged(
    inPlaceOf container: Container, _ authentication: Authentication?
  ) async throws(SignetFailure) -> Container? {
    for staged in try await unconfirmedContainers()
    where staged.user == container.user && staged.server == container.server {
      do throws(SignetFailure) {
        return try await finishActivation(of: staged, by: authentication)
      } catch .containerUnknown { continue }
    }
    return nil
  }

  /// That the container that a renewal goes on from is locked for good, or was erased; one of its keys is enough.
  func lockOfPresentOne(of staged: Container) async throws(SignetFailure) -> SignetFailure? {
    let filter = ContainerFilter(user: staged.user, server: staged.server)
    let erased = try await vaulted(await vault.wipeReceipts()).map(\.container)
    for present in try await containers(matching: filter) {
      if erased.contains(present.id) { return .wiped }
      let domains = try await vaulted(await vault.domains(of: present.id))
      // Fingers that were not recognised lock the finger alone, until the password was right.
      if domains.contains(where: { $0.slot != .biometric && $0.status == .lockedOut }) { return .lockedOut }
    }
    return nil
  }

  private func confirmRenewal(
    _ staged: Container, signedBy key: DeviceSigningKey
  ) async throws(SignetFailure) -> Container {
    do throws(SignetFailure) { return try await confirm(staged, signedBy: key) } catch .containerUnknown {
      throw .renewalDropped
    }
  }

  /// What the keys of app data come from, for the renewed container; `nil` where the present or the new lock is silent.
  ///
  /// - Throws: ``SignetFailure/appData(_:)`` where a silent lock would leave behind what apps may have encrypted.
  private func appDataKey(
    in own: borrowing UnlockedDomain, for profile: ContainerProfile
  ) async throws(SignetFailure) -> SharedSecretBox? {
    if profile.protection.lockPolicy == .silent {
      // What is encrypted would tell a right password from a wrong one; and it can't be left behind without asking.
      guard !own.recordNames.contains(VaultLayout.appDataKey) else { throw .appData(.silentLock) }
      return nil
    }
    guard !own.isSilent else { return nil }
    // Made now where there is none, so that none can be made between here and the confirmation, and be lost with it.
    return SharedSecretBox(
      try await vaulted(
        await vault.randomRecord(VaultLayout.appDataKey, byteCount: AppDataGroupKey.rootByteCount, in: own)))
  }

  /// What the present keys have to say; those with passwords of their own are open only as long as that takes.
  private func presentKeys(
    of container: Container, _ own: borrowing UnlockedDomain, _ passwords: [Key.Usage?: SharedSecretBox]
  ) async throws(SignetFailure) -> PresentKeys {
    let signing: DeviceSigningKey
    if container.hasOwnProtection(.transactionSigning) {
      signing = try await unlock(
        container, key: .transactionSigning, by: passwords[.transactionSigning].map { .password($0) }
      ).signingKey(VaultLayout.signingKey, in: vault)
    } else {
      signing = try own.signingKey(VaultLayout.signingKey, in: vault)
    }
    let otpSecret: SharedSecretBox
    if container.hasOwnProtection(.oneTimePassword) {
      otpSecret = SharedSecretBox(
        try await unlock(
          container, key: .oneTimePassword, by: passwords[.oneTimePassword].map { .password($0) }
        ).secret(VaultLayout.otpSecret))
    } else {
      otpSecret = SharedSecretBox(try own.secret(VaultLayout.otpSecret))
    }
    return PresentKeys(signing: signing, otpSecret: otpSecret)
  }

  /// The passwords that a renewal may keep: those of the same holder that something has shown to be right, or is going to.
  private func presentPasswords(
    of container: Container, _ passwords: [Key.Usage?: SharedSecretBox]
  ) async throws(SignetFailure) -> [Key.Usage?: PresentPassword] {
    var present: [Key.Usage?: PresentPassword] = [:]
    for key in container.profile.protected {
      let protection = container.protection(of: key)
      guard protection.passwordPolicy != nil, let password = passwords[key] else { continue }
      // Under a silent lock the server tells, by what the keys prove; a domain without keys proves nothing.
      let keys: [Key.Usage] = [.transactionSigning, .oneTimePassword]
      let proves = keys.contains { container.domain(of: $0) == container.domain(of: key) }
      guard protection.lockPolicy != .silent || proves else { continue }
      present[key] = PresentPassword(
        password: password, times: try await passwordTimes(of: container, key))
    }
    return present
  }
}
