public import SignetCrypto
import SignetPolicy
import SignetProtocol
import SignetSystem
import SignetVault

extension Device {
  /// Renews all keys of a container under its server's current policies: all keys or none.
  ///
  /// The new keys replace the current ones after the server has confirmed them; until then the current ones stay valid. If
  /// the connection breaks in between, this throws, and a later call or ``finishActivations()`` continues. Data that apps
  /// have encrypted stays readable. Biometrics and recovery codes belong to the old keys: enable and print them again.
  ///
  /// A current password is kept, with its age, if the new policy allows it; otherwise the handler is asked for a new one.
  ///
  /// - Parameters:
  ///   - container: The container to renew.
  ///   - password: The current password of the container, UTF-8 as typed; `nil` if the device protects it alone.
  ///   - keyPasswords: The current passwords of the keys with a separate protection. If this call continues an
  ///     unconfirmed renewal, that of the session key is the new one.
  ///   - handler: Receives the progress and provides new passwords.
  /// - Returns: The container with its new keys; the given one no longer exists.
  /// - Throws: ``SignetError``, in particular `wrongPassword`, `unsupportedDevice`, and `renewalDropped`, after which a
  ///   new renewal can be tried.
  public func renew(
    _ container: Container, password: SharedSecretBox? = nil,
    keyPasswords: [Key.Usage: SharedSecretBox] = [:], handler: some ActivationHandler
  ) async throws(SignetError) -> Container {
    try await requireUnlocked(container)
    var passwords: [Key.Usage?: SharedSecretBox] = keyPasswords.reduce(into: [:]) { $0[$1.key] = $1.value }
    passwords[nil] = password
    let sessionAuthentication = keyPasswords[.sessionTransport].map { Authentication.password($0) }
    if let finished = try await finishStaged(inPlaceOf: container, sessionAuthentication) { return finished }
    let session = try await session(container)
    let sessionKey = try await sessionKey(of: container, by: sessionAuthentication)
    let unlocked = try await unlock(container, by: password.map { .password($0) })
    clearPasswordCache()
    let present = try await presentKeys(of: container, unlocked, passwords)

    var parties = RenewalParties(
      container: container, session: session, sessionKey: sessionKey, present: present, passwords: passwords)
    let made = try await retryingVoidHandshake { (prepared: inout NewKeys?) async throws(SignetError) in
      try await makeRenewal(&parties, unlocked, &prepared, handler)
    }

    await handler.report(0.7, "Storing the new keys")
    let stored = try await vaulted(await vault.container(container.id))
    var attributes = stored.attributes
    attributes.protocolParameters = made.binding.bytes
    let draft = ContainerDraft(
      attributes: attributes, created: clock.now * 1000,
      domains: VaultLayout.domains(
        made.proved.keys, otpSecret: made.proved.otpSecret, made.proved.profile, made.chosen,
        appDataKey: made.appDataKey))
    let id = try await vaulted(await vault.addContainer(draft))

    await handler.report(0.9, "Confirming")
    let renewed = try await confirmRenewal(try await self.container(id), signedBy: made.proved.keys.session)
    await handler.report(1, "Renewed")
    return renewed
  }

  /// The inputs of a renewal.
  private struct RenewalParties {
    let container: Container
    var session: ServerSession
    let sessionKey: ContainerSigningKey
    let present: PresentKeys
    let passwords: [Key.Usage?: SharedSecretBox]
  }

  /// The result of a renewal before it is stored.
  private struct MadeRenewal {
    let proved: ProvedRenewal
    let chosen: [Key.Usage?: ChosenProtection]
    let appDataKey: SharedSecretBox?
    let binding: ContainerBinding
  }

  /// Runs the protocol from the *start* request to the answer to *finish*.
  private func makeRenewal(
    _ parties: inout RenewalParties, _ unlocked: borrowing UnlockedDomain, _ prepared: inout NewKeys?,
    _ handler: some ActivationHandler
  ) async throws(SignetError) -> MadeRenewal {
    let container = parties.container
    await handler.report(0.1, "Contacting \(container.server.shortForm)")
    let started = StartedRenewal(container, random: random)
    let offered = try started.receive(
      await parties.session.send(
        .post, "/v1/renewal/start", started.start.bytes, signedBy: parties.sessionKey,
        container: container.serverContainerID))
    try await requireCompliance(with: offered.profile.accountPolicies)
    let appDataKey = try await appDataKey(in: unlocked, for: offered.profile)
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
    if new.hasPrompted {
      forgetConnections()
      parties.session = try await session(container)
    }
    let description = try await description(named: "", keyOrigin: new.keys.signing.origin)
    let proved = try await offered.prove(device: description, keys: new.keys, parties.present)

    await handler.report(0.5, "Waiting for the keys of the server")
    let binding = try proved.receive(
      await parties.session.send(
        .post, "/v1/renewal/finish", proved.finish, signedBy: parties.sessionKey,
        container: container.serverContainerID))
    return MadeRenewal(proved: proved, chosen: new.chosen, appDataKey: appDataKey, binding: binding)
  }

  /// Continues a stored, unconfirmed replacement of a container.
  ///
  /// - Returns: The container that has replaced it; `nil` if there is none, or the server has dropped it.
  private func finishStaged(
    inPlaceOf container: Container, _ authentication: Authentication?
  ) async throws(SignetError) -> Container? {
    for staged in try await unconfirmedContainers()
    where staged.user == container.user && staged.server == container.server {
      do throws(SignetError) {
        return try await finishActivation(of: staged, by: authentication)
      } catch .containerUnknown { continue }
    }
    return nil
  }

  /// Returns the failure of the container that a renewal replaces if it is wiped or locked permanently; one locked key is enough.
  func lockOfActiveContainer(of staged: Container) async throws(SignetError) -> SignetError? {
    let filter = ContainerFilter(user: staged.user, server: staged.server)
    let erased = try await vaulted(await vault.wipeReceipts()).map(\.container)
    for present in try await containers(matching: filter) {
      if erased.contains(present.id) { return .wiped }
      let domains = try await vaulted(await vault.domains(of: present.id))
      // Failed fingerprint matches lock only the fingerprint, until the next right password.
      if domains.contains(where: { $0.slot != .biometric && $0.status == .lockedOut }) { return .lockedOut }
    }
    return nil
  }

  private func confirmRenewal(
    _ staged: Container, signedBy key: ContainerSigningKey
  ) async throws(SignetError) -> Container {
    do throws(SignetError) { return try await confirm(staged, signedBy: key) } catch .containerUnknown {
      throw .renewalDropped
    }
  }

  /// Returns the root key of the app data for the renewed container; `nil` if the current or the new lock policy is silent.
  ///
  /// - Throws: ``SignetError/appData(_:)`` if a new silent lock policy would make existing app data unreadable.
  private func appDataKey(
    in unlocked: borrowing UnlockedDomain, for profile: ContainerProfile
  ) async throws(SignetError) -> SharedSecretBox? {
    if profile.protection.lockPolicy == .silent {
      // Encrypted data would distinguish a right password from a wrong one, and existing data must not become unreadable unasked.
      guard !unlocked.recordNames.contains(VaultLayout.appDataKey) else { throw .appData(.silentLock) }
      return nil
    }
    guard !unlocked.isSilent else { return nil }
    // Created now if it is missing. A key created between here and the confirmation would be lost with the old container.
    return SharedSecretBox(
      try await vaulted(
        await vault.randomRecord(
          VaultLayout.appDataKey, byteCount: AppDataGroupKey.rootByteCount, in: unlocked)))
  }

  /// Opens the current keys that prove the renewal; keys with a separate password are open only during this call.
  private func presentKeys(
    of container: Container, _ unlocked: borrowing UnlockedDomain, _ passwords: [Key.Usage?: SharedSecretBox]
  ) async throws(SignetError) -> PresentKeys {
    let signing: ContainerSigningKey
    if container.hasOwnProtection(.transactionSigning) {
      signing = try await unlock(
        container, key: .transactionSigning, by: passwords[.transactionSigning].map { .password($0) }
      ).signingKey(VaultLayout.signingKey, in: vault)
    } else {
      signing = try unlocked.signingKey(VaultLayout.signingKey, in: vault)
    }
    let otpSecret: SharedSecretBox
    if container.hasOwnProtection(.oneTimePassword) {
      otpSecret = SharedSecretBox(
        try await unlock(
          container, key: .oneTimePassword, by: passwords[.oneTimePassword].map { .password($0) }
        ).secret(VaultLayout.otpSecret))
    } else {
      otpSecret = SharedSecretBox(try unlocked.secret(VaultLayout.otpSecret))
    }
    return PresentKeys(signing: signing, otpSecret: otpSecret)
  }

  /// Returns the passwords that a renewal may keep: those of the same subject that were verified, or will be by the proof.
  private func presentPasswords(
    of container: Container, _ passwords: [Key.Usage?: SharedSecretBox]
  ) async throws(SignetError) -> [Key.Usage?: PresentPassword] {
    var present: [Key.Usage?: PresentPassword] = [:]
    for key in container.profile.protected {
      let protection = container.protection(of: key)
      guard protection.passwordPolicy != nil, let password = passwords[key] else { continue }
      // Under a silent lock policy only the server can verify a password, through the proof of the keys; a domain without
      // keys has no proof.
      let keys: [Key.Usage] = [.transactionSigning, .oneTimePassword]
      let proves = keys.contains { container.domain(of: $0) == container.domain(of: key) }
      guard protection.lockPolicy != .silent || proves else { continue }
      present[key] = PresentPassword(
        password: password, times: try await passwordTimes(of: container, key))
    }
    return present
  }
}
