import SignetCrypto
import SignetJSON
package import SignetProtocol
package import SignetStorage
import SignetSystem

/// Activation of devices: an invite becomes a container (`docs/protocol.md` sections 2 and 3).
package struct ActivationService: Sendable {
  private let context: ServiceContext

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// An invite for the user.
  ///
  /// It is shown once; the server stores only a derived key.
  package struct Invitation: Sendable {
    /// The activation code, which contains the invite.
    package let code: ActivationCode
    /// The time when the invite expires, in seconds since 1970.
    package let expires: Int64
  }

  /// Creates an invite for a user; an earlier open one is revoked.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - lifetime: The lifetime in seconds; `nil` for the configured one.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The invite, which the server cannot show again.
  /// - Throws: ``Problem``.
  package func invite(_ user: UserID, lifetime: Int64?, by actor: AuditActor) async throws
    -> Invitation
  {
    let settings = context.settings
    let lifetime = lifetime ?? settings.inviteLifetime
    guard (60...2_592_000).contains(lifetime) else {
      throw Problem(.malformed, "\"lifetime\" must be 60 to 2592000 seconds")
    }
    let invite = InviteCode(random: context.random)
    let salt = context.masterKey.inviteSalt(for: user)
    let id = ID<ActivationRecord>(random: context.random)
    let sealed = try await derivingInviteKey { () throws(CryptoFailure) -> [UInt8] in
      let key = try invite.key(salt: salt, costs: settings.inviteCosts, by: context.derivation)
      return try context.masterKey.seal(key, for: .inviteKey(activation: id))
    }
    let now = context.clock.now
    let activation = ActivationRecord(
      id: id, user: user, sealedInviteKey: sealed, salt: salt,
      memoryKiB: settings.inviteCosts.memoryKiB, passes: settings.inviteCosts.passes,
      lanes: settings.inviteCosts.lanes, profile: JSONValue.object(settings.profile.json).bytes,
      created: now, expires: now + lifetime)
    let event = context.audit(by: actor)(.activationAdded(user: user, activation: id))
    do throws(StorageFailure) { try await context.storage.addActivation(activation, audit: event) } catch {
      guard error == .unknown else { throw error }
      throw Problem(noUser: user)
    }
    let code = ActivationCode(
      server: settings.serverURL, user: user, invite: invite, pins: settings.pins)
    return Invitation(code: code, expires: activation.expires)
  }

  /// Runs the derivation on a thread of its own: Argon2id blocks a thread for tens of milliseconds.
  private func derivingInviteKey<Value: Sendable>(
    _ body: @escaping @Sendable () throws(CryptoFailure) -> Value
  ) async throws -> Value {
    try await context.blocking.run { Result(catching: body) }.get()
  }

  /// Answers *start*.
  ///
  /// The answer for a user without an open invite has the same form, down to the length of each part.
  package func start(_ body: [UInt8]) async throws -> StartAnswer<ActivationOffer> {
    let start = try reading(ActivationStart(parsing: body))
    let found = try await context.storage.openActivation(user: start.user)
    let settings = context.settings
    let key = P256.KeyAgreement.PrivateKey()
    let expires = context.clock.now + settings.handshakeLifetime
    let costs = found.map { Argon2id(memoryKiB: $0.memoryKiB, passes: $0.passes, lanes: $0.lanes) }
    let offer = ActivationOffer(
      key: key.publicKey, salt: found?.salt ?? context.masterKey.inviteSalt(for: start.user),
      costs: costs ?? settings.inviteCosts, server: settings.serverURL,
      profile: try profile(of: found), expires: expires, random: context.random)
    // Without an activation, a random id keeps the length of the handshake.
    let handshake = Handshake(
      activation: (found?.id ?? ID(random: context.random)).text, privateKey: key,
      startTranscript: ActivationSecrets.startTranscript(start: start.bytes, offer: offer.bytes),
      expires: expires)
    let sealed = try context.sealed(handshake, for: .activation)
    return StartAnswer(handshake: sealed, offer: offer)
  }

  private func profile(of activation: ActivationRecord?) throws -> ContainerProfile {
    guard let activation else { return context.settings.profile }
    return try ContainerProfile(stored: activation.profile)
  }

  /// Answers *finish*: verifies the proof and creates the container, pending.
  ///
  /// - Returns: The answer's body.
  package func finish(_ body: [UInt8]) async throws -> [UInt8] {
    let finish = try reading(ActivationFinish(parsing: body))
    let coreBytes = try reading(SignedMessage.unverifiedPayload(of: finish.message))
    let core = try reading(ActivationCore(parsing: coreBytes))
    let handshake = try context.opened(finish.handshake, for: .activation)
    let found = try await context.storage.openActivation(user: core.user)
    let activation = found?.id.text == handshake.activation ? found : nil
    // Without an activation, a random key replaces the invite key, so that the work and the answer are the same.
    let inviteKey = try inviteKey(of: activation)
    let secrets = try ActivationSecrets(
      ownKey: handshake.privateKey, peerKey: core.agreement, inviteKey: inviteKey,
      startTranscript: handshake.startTranscript, core: coreBytes)
    let proofKey = secrets.deviceProofKey()
    // An attacker who knows the invite cannot register another device's key: that counts as a wrong proof.
    let isProved =
      SignedMessage.verify(finish.message, key: proofKey, type: SignedMessage.activationType) != nil
      && core.server == context.settings.serverURL
      && KeyPossession.isShown(by: finish.possession, of: core.keys.signing, transcript: secrets.transcript)
    guard let activation else {
      try await refuseLikeAWrongProof("no open invite")
      throw Self.refused
    }
    // An exhausted or expired invite is rejected even if the proof verifies.
    if isProved, activation.expires > context.clock.now,
      activation.failedAttempts < context.settings.inviteAttempts
    {
      // Only a device that proved the invite gets this answer; the invite stays open for another device.
      try await context.requireKeystore(of: core.device, by: .anyone, for: .activation(activation.id)) {
        .activationRefused(user: activation.user, activation: activation.id, .keystore($0))
      }
    }
    let new = isProved ? try pendingContainer(core, activation, secrets) : nil
    try await stage(new, activation, core.device)
    guard let new else { throw Self.refused }
    let serverKey = try await SigningKeyService(context).currentPublicKey()
    return try receipt(for: new.container, core, secrets, serverKey)
  }

  private func inviteKey(of activation: ActivationRecord?) throws -> SecretBytes {
    guard let activation else { return .random(byteCount: 32) }
    return try context.masterKey.open(activation.sealedInviteKey, for: .inviteKey(activation: activation.id))
  }

  private func pendingContainer(
    _ core: ActivationCore, _ activation: ActivationRecord, _ secrets: borrowing ActivationSecrets
  ) throws -> NewContainer {
    let id = ContainerID(random: context.random)
    var record = ContainerRecord(
      id: id, user: core.user, activation: activation.id, device: core.device.id, name: core.device.name,
      platform: core.device.platform, keystore: core.device.keystore.rawValue,
      sessionKey: core.keys.session.x963Representation,
      encryptionKey: core.keys.encryption.x963Representation,
      signingKey: core.keys.signing.x963Representation, profile: activation.profile,
      created: context.clock.now)
    record.isSimulated = core.device.isSimulated
    record.keyOrigin = core.device.keyOrigin.rawValue
    let credential = try context.credential(
      of: record, secrets.otpSecret(), try ContainerProfile(stored: activation.profile))
    return NewContainer(record, credential)
  }

  private func stage(
    _ new: NewContainer?, _ activation: ActivationRecord, _ device: DeviceDescription
  ) async throws {
    let audit = context.audit(by: .anyone)
    let (user, id) = (activation.user, activation.id)
    let limit = context.settings.inviteAttempts
    let now = context.clock.now
    let outcome = try await context.storage.finishActivation(
      activation.id, container: new, limit: limit, at: now
    ) {
      switch $0 {
      case .staged:
        audit(
          .activationStaged(
            user: user, activation: id, container: new?.container.id, keystore: device.keystoreText,
            keys: device.keyOrigin.rawValue))
      case .wrongProof(let remaining):
        audit(.activationRefused(user: user, activation: id, .wrongProof(remaining: remaining)))
      case .keyTaken: audit(.activationRefused(user: user, activation: id, .keyTaken))
      case .closed: nil  // not audited: anyone can repeat this without limit; the log records it
      }
    }
    if outcome == .closed { try await refuseLikeAWrongProof("expired or exhausted") }
    if outcome == .keyTaken { throw ServiceContext.keyTaken }
    guard outcome == .staged else { throw Self.refused }
  }

  private func receipt(
    for container: ContainerRecord, _ core: ActivationCore, _ secrets: borrowing ActivationSecrets,
    _ serverKey: P256.Signing.PublicKey
  ) throws -> [UInt8] {
    let receipt = try context.receipt(for: container, core.user, core.keys, secrets, serverKey)
    return try context.answer(receipt, secrets, type: SignedMessage.receiptType)
  }

  /// Answers *confirm*: activates the container.
  ///
  /// - Parameters:
  ///   - container: The container, authenticated with its session key.
  ///   - body: The request body, which proves that the device has the encryption key. An active container needs no proof, so
  ///     that a device can repeat the request if the answer was lost.
  /// - Throws: ``Problem/Code/unauthorized`` if the proof is wrong.
  package func confirm(_ container: ContainerRecord, _ body: [UInt8]) async throws {
    let confirm = try reading(ActivationConfirm(parsing: body))
    let expected = context.masterKey.confirmation(of: container.id)
    guard container.state == .active || confirm.confirmation.map({ constantTimeEqual($0, expected) }) ?? false
    else {
      throw Problem(
        .unauthorized, "Send the confirmation from the receipt, which is encrypted for the encryption key.")
    }
    let audit = context.audit(by: .container(container.id))
    let (user, id) = (container.user, container.id)
    let now = context.clock.now
    let outcome = try await context.storage.confirmContainer(
      container.id, at: now,
      audit: {
        switch $0 {
        case .activated:
          audit(
            container.renews.map {
              .containerRenewed(user: user, container: id, renews: $0, renewals: container.renewals)
            } ?? .containerActivated(user: user, container: id))
        default: audit(.containerRefused(user: user, container: id))
        }
      }, lost: context.losses(by: .container(container.id)))
    guard outcome != .gone else { throw Problem(.containerUnknown, "Activate the device again.") }
  }

  /// Makes a durable write, as counting a wrong proof does.
  ///
  /// Otherwise the milliseconds of the disk would reveal which users have an open invite. The rest of the work still
  /// differs. An attacker who averages hundreds of refusals on a quiet network can distinguish both cases (723 and 692
  /// microseconds on loopback, means of 600). The attacker then learns which users have an open invite, but nothing of the
  /// invite. The sweep deletes the written rows like the ids of requests.
  private func refuseLikeAWrongProof(_ reason: String) async throws {
    context.log.sampled("activation.refused", ["reason": reason])
    let (id, now) = (context.random.bytes(16), context.clock.now)
    _ = try await context.storage.claimID(id, of: "", expires: now)
  }

  private static let refused = Problem(
    .activationRefused,
    "Check the user id and the invite code. An invite can be used once, for a limited time and with few attempts."
  )
}
