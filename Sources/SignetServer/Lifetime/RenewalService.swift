import SignetCrypto
import SignetJSON
package import SignetProtocol
package import SignetStorage
import SignetSystem

/// Renewal: an active container gets a successor with new keys (`docs/protocol.md` section 3.5).
package struct RenewalService: Sendable {
  private let context: ServiceContext

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// Requests the renewal of a container; the device receives the request with its list of transactions.
  ///
  /// - Throws: ``Problem/Code/unknown`` for a container that is not in use.
  package func ask(_ id: ContainerID, by actor: AuditActor) async throws {
    let event = context.audit(by: actor)(.containerRenewalRequested(container: id))
    let exists = try await context.storage.askForRenewal(id, audit: event)
    guard exists else { throw Problem(.unknown, "There is no active container with this id.") }
  }

  /// Answers *start*: offers the profile of the current settings.
  ///
  /// - Parameters:
  ///   - body: The request body.
  ///   - container: The authenticated container that sends it.
  /// - Returns: The answer.
  /// - Throws: ``Problem``.
  package func start(_ body: [UInt8], for container: ContainerRecord) throws -> StartAnswer<
    RenewalOffer
  > {
    let start = try reading(RenewalStart(parsing: body))
    try requireSame(start.container, container)
    if let refusal = container.refusalToRenew { throw refusal }
    let settings = context.settings
    let key = P256.KeyAgreement.PrivateKey()
    let expires = context.clock.now + settings.handshakeLifetime
    let offer = RenewalOffer(
      key: key.publicKey, server: settings.serverURL, profile: settings.profile, expires: expires,
      random: context.random)
    let handshake = Handshake(
      activation: container.id.text, privateKey: key,
      startTranscript: ActivationSecrets.startTranscript(start: start.bytes, offer: offer.bytes),
      expires: expires)
    let sealed = try context.sealed(handshake, for: .renewal)
    return StartAnswer(handshake: sealed, offer: offer)
  }

  /// Answers *finish*: verifies the proofs by the present keys and creates the successor, pending.
  ///
  /// - Parameters:
  ///   - body: The request body.
  ///   - container: The authenticated container that sends it.
  /// - Returns: The answer's body.
  /// - Throws: ``Problem``.
  package func finish(_ body: [UInt8], for container: ContainerRecord) async throws -> [UInt8] {
    let finish = try reading(RenewalFinish(parsing: body))
    let coreBytes = try reading(SignedMessage.unverifiedPayload(of: finish.message))
    let core = try reading(RenewalCore(parsing: coreBytes))
    try requireSame(core.container, container)
    if let refusal = container.refusalToRenew { throw refusal }
    let handshake = try context.opened(finish.handshake, for: .renewal)
    guard handshake.activation == container.id.text else {
      throw Problem(.malformed, "The handshake belongs to another container.")
    }
    guard core.server == context.settings.serverURL, core.user == container.user,
      core.device.id == container.device
    else { throw Problem(.malformed, "The renewal names another server, user or device.") }
    // Checked before the proof. Otherwise only a right password would get this answer, and the attempt would not be counted.
    try await context.requireKeystore(
      of: core.device, by: .container(container.id), for: .container(container.id)
    ) { .renewalRefused(user: container.user, container: container.id, .keystore($0)) }
    let present = try P256.Signing.PublicKey(x963: container.signingKey)
    let credential = try await context.storage.credential(ID(of: container.id))
    guard let credential else { throw Problem(.containerUnknown, "Activate the device again.") }
    let secrets = try secrets(handshake, core, coreBytes, credential)
    guard RenewalCore.isSigned(finish.message, by: present),
      constantTimeEqual(finish.proof, secrets.renewalProof(of: finish.message)),
      KeyPossession.isShown(by: finish.possession, of: core.keys.signing, transcript: secrets.transcript)
    else {
      // Under a silent lock a wrong password gives other keys, so the storage counts each wrong proof as a guess.
      try await stage(nil, of: container)
      throw Self.notSigned
    }
    let successor = try successor(of: container, core, finish.message, secrets)
    try await stage(successor, of: container, core.device)
    let serverKey = try await SigningKeyService(context).currentPublicKey()
    let receipt = try context.receipt(for: successor.container, core.user, core.keys, secrets, serverKey)
    return try context.answer(receipt, secrets, type: RenewalCore.receiptType)
  }

  private func requireSame(_ id: ContainerID, _ container: ContainerRecord) throws(Problem) {
    guard id == container.id else {
      throw Problem(.malformed, "The renewal names another container.")
    }
  }

  private func secrets(
    _ handshake: Handshake, _ core: RenewalCore, _ coreBytes: [UInt8], _ credential: CredentialRecord
  ) throws -> ActivationSecrets {
    let otpSecret = try context.masterKey.open(
      credential.sealedSecret, for: .otpSecret(credential: credential.id))
    let key = ActivationSecrets.renewalKey(otpSecret: otpSecret, container: core.container)
    return try ActivationSecrets(
      ownKey: handshake.privateKey, peerKey: core.agreement, inviteKey: key,
      startTranscript: handshake.startTranscript, core: coreBytes)
  }

  private func successor(
    of container: ContainerRecord, _ core: RenewalCore, _ message: String,
    _ secrets: borrowing ActivationSecrets
  ) throws -> NewContainer {
    let id = ContainerID(random: context.random)
    var record = ContainerRecord(
      id: id, user: container.user, activation: container.activation, device: container.device,
      name: core.device.name.isEmpty ? container.name : core.device.name, platform: core.device.platform,
      keystore: core.device.keystore.rawValue, sessionKey: core.keys.session.x963Representation,
      encryptionKey: core.keys.encryption.x963Representation,
      signingKey: core.keys.signing.x963Representation,
      profile: JSONValue.object(context.settings.profile.json).bytes, created: context.clock.now)
    record.isSimulated = core.device.isSimulated
    record.keyOrigin = core.device.keyOrigin.rawValue
    (record.renews, record.renewals) = (container.id, container.renewals + 1)
    record.succession = message
    let credential = try context.credential(of: record, secrets.otpSecret(), context.settings.profile)
    return NewContainer(record, credential)
  }

  /// Stages a successor; `nil` counts a wrong proof.
  private func stage(
    _ successor: NewContainer?, of container: ContainerRecord, _ device: DeviceDescription? = nil
  ) async throws {
    let audit = context.audit(by: .container(container.id))
    let limit = context.settings.codeAttempts
    let outcome = try await context.storage.stageRenewal(of: container.id, by: successor, limit: limit) {
      outcome in
      audit(Self.event(outcome, of: container, successor, device))
    }
    switch outcome {
    case .staged: return
    case .notSigned, .locked: throw Self.notSigned
    case .keyTaken: throw ServiceContext.keyTaken
    case .gone: throw Problem(.containerUnknown, "Activate the device again.")
    }
  }

  private static func event(
    _ outcome: RenewalOutcome, of container: ContainerRecord, _ successor: NewContainer?,
    _ device: DeviceDescription?
  ) -> AuditEvent {
    let reason: AuditEvent.RenewalRefusal
    switch outcome {
    case .staged:
      return .renewalStaged(
        user: container.user, container: container.id, successor: successor?.container.id,
        keystore: device?.keystoreText, keys: device?.keyOrigin.rawValue)
    case .notSigned: reason = .notSigned
    case .keyTaken: reason = .keyTaken
    case .locked: reason = .locked
    case .gone: reason = .gone
    }
    return .renewalRefused(user: container.user, container: container.id, reason)
  }

  private static let notSigned = Problem(
    .unauthorized, "The renewal is not proved by this container's keys.")
}
