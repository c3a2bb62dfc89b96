import SignetCrypto
import SignetPolicy
import SignetProtocol
import SignetVault

// The device's side of an activation as values with one type for each state, so that unreceived or unverified data cannot
// be used. These types do not wait, store or send; `Device` does. The source is `docs/protocol.md` section 3.

/// The state with the request that starts an activation.
struct StartedActivation: Sendable {
  let code: ActivationCode
  let start: ActivationStart

  init(_ code: ActivationCode, random: some RandomSource) {
    self.code = code
    start = ActivationStart(user: code.user, random: random)
  }

  /// Parses the server's answer.
  ///
  /// - Throws: ``SignetError``, from ``StartAnswer/received(_:from:)``.
  func receive(_ body: [UInt8]) throws(SignetError) -> OfferedActivation {
    OfferedActivation(code: code, start: start, answer: try .received(body, from: code.server))
  }
}

/// The state with the server's offer; the server is not authenticated yet.
struct OfferedActivation: Sendable {
  let code: ActivationCode
  let start: ActivationStart
  let answer: StartAnswer<ActivationOffer>

  var profile: ContainerProfile { answer.offer.profile }

  /// Computes the proof of the invite for the container's new keys.
  ///
  /// The key derivation takes the time that its costs in the offer determine, unless a test injects another `derivation`.
  func prove(
    device: DeviceDescription, keys: PrivateContainerKeys, by derivation: PasswordDerivation
  ) throws(SignetError) -> ProvedActivation {
    let offer = answer.offer
    do throws(VaultFailure) { try PasswordCost.requireAffordable(offer.costs) } catch { throw .vault(error) }
    let ephemeral = P256.KeyAgreement.PrivateKey()
    let core = ActivationCore(
      user: code.user, server: code.server, agreement: ephemeral.publicKey, keys: keys.publicKeys,
      device: device
    ).bytes
    let secrets: ActivationSecrets
    do throws(CryptoFailure) {
      secrets = try ActivationSecrets(
        ownKey: ephemeral, peerKey: offer.key,
        inviteKey: code.invite.key(salt: offer.salt, costs: offer.costs, by: derivation),
        startTranscript: ActivationSecrets.startTranscript(start: start.bytes, offer: offer.bytes), core: core
      )
    } catch { throw .vault(.crypto(error)) }
    let message: String
    do {
      message = try SignedMessage.sign(
        core, key: secrets.deviceProofKey(), type: SignedMessage.activationType)
    } catch { throw .unsupportedProfile(error) }
    return ProvedActivation(
      profile: offer.profile, keys: keys, handshake: answer.handshake, message: message,
      otpSecret: SharedSecretBox(secrets.otpSecret()),
      expected: ExpectedReceipt(
        type: SignedMessage.receiptType, proofKey: SharedSecretBox(secrets.serverProofKey()), user: code.user,
        server: code.server, transcript: secrets.transcript))
  }
}

/// The state with the device's proof; the server's proof is still missing.
struct ProvedActivation: Sendable {
  let profile: ContainerProfile
  let keys: PrivateContainerKeys
  let handshake: String
  let message: String
  let otpSecret: SharedSecretBox
  let expected: ExpectedReceipt

  /// The body of the *finish* request, with the new signing key's signature over the transcript.
  func finish() async throws(SignetError) -> [UInt8] {
    ActivationFinish(
      handshake: handshake, message: message,
      possession: try await keys.signing.possession(of: expected.transcript)
    ).bytes
  }

  /// Verifies the server's proof and returns the binding to store.
  ///
  /// - Throws: ``SignetError/serverNotAuthentic``.
  func receive(_ body: [UInt8]) throws(SignetError) -> ContainerBinding {
    let (receipt, confirmation) = try expected.receive(body, for: keys)
    return ContainerBinding(receipt, confirmation: confirmation, profile: profile, keys: keys)
  }
}

/// The private keys of a new container, made on this device.
struct PrivateContainerKeys: Sendable {
  let session: ContainerSigningKey
  let encryption = P256.KeyAgreement.PrivateKey()
  let signing: ContainerSigningKey

  var publicKeys: ContainerKeys {
    ContainerKeys(session: session.publicKey, encryption: encryption.publicKey, signing: signing.publicKey)
  }
}

extension ContainerSigningKey {
  /// Signs the transcript of an activation or a renewal, as proof of possession of this key.
  func possession(of transcript: [UInt8]) async throws(SignetError) -> String {
    try await KeyPossession.signed(transcript, for: publicKey) {
      (message) async throws(SignetError) in try await vaulted(await signature(of: message))
    }
  }
}
