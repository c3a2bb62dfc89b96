import SignetCrypto
import SignetPolicy
import SignetVault
import SignetWire

// The device's side of an activation as values, a type for each state: what has not been received or checked can't be
// used. Nothing here waits, stores or sends; `Device` does. `docs/protocol.md` section 3 is the source.

/// The request that begins it is ready.
struct StartedActivation: Sendable {
  let code: ActivationCode
  let start: ActivationStart

  init(_ code: ActivationCode, random: some RandomSource) {
    self.code = code
    start = ActivationStart(user: code.user, random: random)
  }

  /// Takes the server's answer.
  ///
  /// - Throws: ``SignetFailure/serverNameMismatch(offered:)`` where the server calls itself something else,
  ///   ``SignetFailure/unexpectedAnswer(status:)`` for what is not of the protocol, ``SignetFailure/unsupportedProfile(_:)``
  ///   for what is of it, but not done here.
  func receive(_ body: [UInt8]) throws(SignetFailure) -> OfferedActivation {
    let answer: ActivationStartAnswer
    do { answer = try ActivationStartAnswer(parsing: body) } catch {
      // What is no such object at all came from something else than a server of ours.
      if case .json = error { throw .unexpectedAnswer(status: 200) }
      throw .unsupportedProfile(error)
    }
    guard answer.offer.server == code.server else {
      throw .serverNameMismatch(offered: answer.offer.server)
    }
    return OfferedActivation(code: code, start: start, answer: answer)
  }
}

/// The server has said what the container will hold; nothing proves yet that it is the right one.
struct OfferedActivation: Sendable {
  let code: ActivationCode
  let start: ActivationStart
  let answer: ActivationStartAnswer

  var profile: ContainerProfile { answer.offer.profile }

  /// Makes the proof of the invite, for the container's new keys.
  ///
  /// This takes as long as the costs of the invite key say.
  func prove(
    device: DeviceDescription, keys: PrivateContainerKeys
  ) throws(SignetFailure) -> ProvedActivation {
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
        inviteKey: code.invite.key(salt: offer.salt, costs: offer.costs),
        startTranscript: ActivationSecrets.startTranscript(start: start.bytes, offer: offer.bytes), core: core
      )
    } catch { throw .vault(.crypto(error)) }
    let message: String
    do {
      message = try SignedMessage.sign(
        core, key: secrets.deviceProofKey(), type: SignedMessage.activationType)
    } catch { throw .unsupportedProfile(error) }
    return ProvedActivation(
      code: code, profile: offer.profile, keys: keys,
      finish: ActivationFinish(handshake: answer.handshake, message: message).bytes,
      proofKey: SharedSecretBox(secrets.serverProofKey()), otpSecret: SharedSecretBox(secrets.otpSecret()),
      transcript: secrets.transcript)
  }
}

/// The device's proof is ready; the server's is still to come.
struct ProvedActivation: Sendable {
  let code: ActivationCode
  let profile: ContainerProfile
  let keys: PrivateContainerKeys
  let finish: [UInt8]
  let proofKey: SharedSecretBox
  let otpSecret: SharedSecretBox
  let transcript: [UInt8]

  /// Checks the server's proof and says what to store.
  ///
  /// - Throws: ``SignetFailure/serverNotAuthentic``.
  func receive(_ body: [UInt8]) throws(SignetFailure) -> ContainerFacts {
    guard let message = ActivationReceipt.message(in: body),
      let payload = proofKey.withSecret({
        SignedMessage.verify(message, key: $0, type: SignedMessage.receiptType)
      }), let receipt = ActivationReceipt(verified: payload),
      receipt.user == code.user, receipt.server == code.server,
      constantTimeEqual(receipt.transcript, transcript)
    else { throw .serverNotAuthentic }
    return ContainerFacts(serverMadeID: receipt.container, profile: profile, keys: keys)
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
