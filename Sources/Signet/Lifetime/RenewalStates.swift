import SignetCrypto
import SignetProtocol
import SignetVault

// The device's side of a renewal as values with one type for each state, like that of an activation. These types do not
// wait, store or send; `Device` does. The source is `docs/protocol.md` section 3.5.

/// The current keys that prove a renewal.
struct PresentKeys: Sendable {
  let signing: ContainerSigningKey
  let otpSecret: SharedSecretBox
}

/// The state with the request that starts a renewal.
struct StartedRenewal: Sendable {
  let container: Container
  let start: RenewalStart

  init(_ container: Container, random: some RandomSource) {
    self.container = container
    start = RenewalStart(container: container.serverContainerID, random: random)
  }

  /// Parses the server's answer.
  ///
  /// - Throws: ``SignetError``, from ``StartAnswer/received(_:from:)``.
  func receive(_ body: [UInt8]) throws(SignetError) -> OfferedRenewal {
    OfferedRenewal(
      container: container, start: start, answer: try .received(body, from: container.server))
  }
}

/// The state with the server's offer; the server is not authenticated yet.
struct OfferedRenewal: Sendable {
  let container: Container
  let start: RenewalStart
  let answer: StartAnswer<RenewalOffer>

  var profile: ContainerProfile { answer.offer.profile }

  /// Signs the new keys with the current signing key.
  func prove(
    device: DeviceDescription, keys: PrivateContainerKeys, _ present: PresentKeys
  ) async throws(SignetError) -> ProvedRenewal {
    let offer = answer.offer
    let ephemeral = P256.KeyAgreement.PrivateKey()
    let core = RenewalCore(
      container: container.serverContainerID, user: container.user, server: container.server,
      agreement: ephemeral.publicKey, keys: keys.publicKeys, device: device)
    let secrets: ActivationSecrets
    do throws(CryptoFailure) {
      let key = present.otpSecret.withSecret {
        SharedSecretBox(ActivationSecrets.renewalKey(otpSecret: $0, container: container.serverContainerID))
      }
      secrets = try ActivationSecrets(
        ownKey: ephemeral, peerKey: offer.key, inviteKey: key.withSecret { $0.copy() },
        startTranscript: ActivationSecrets.startTranscript(start: start.bytes, offer: offer.bytes),
        core: core.bytes)
    } catch { throw .vault(.crypto(error)) }
    let message = try await core.signed(for: present.signing.publicKey) {
      (message) async throws(SignetError) in try await vaulted(await present.signing.signature(of: message))
    }
    let possession = try await keys.signing.possession(of: secrets.transcript)
    return ProvedRenewal(
      container: container, profile: offer.profile, keys: keys,
      finish: RenewalFinish(
        handshake: answer.handshake, message: message, proof: secrets.renewalProof(of: message),
        possession: possession
      ).bytes,
      otpSecret: SharedSecretBox(secrets.otpSecret()),
      expected: ExpectedReceipt(
        type: RenewalCore.receiptType, proofKey: SharedSecretBox(secrets.serverProofKey()),
        user: container.user, server: container.server, transcript: secrets.transcript))
  }
}

/// The state with the device's proof; the server's proof is still missing.
struct ProvedRenewal: Sendable {
  let container: Container
  let profile: ContainerProfile
  let keys: PrivateContainerKeys
  let finish: [UInt8]
  let otpSecret: SharedSecretBox
  let expected: ExpectedReceipt

  /// Verifies the server's proof and returns the binding to store.
  ///
  /// - Throws: ``SignetError/serverNotAuthentic``.
  func receive(_ body: [UInt8]) throws(SignetError) -> ContainerBinding {
    let (receipt, confirmation) = try expected.receive(body, for: keys)
    guard receipt.container != container.serverContainerID else { throw .serverNotAuthentic }
    var binding = ContainerBinding(receipt, confirmation: confirmation, profile: profile, keys: keys)
    binding.renewals = container.renewals + 1
    binding.firstCreated = container.firstCreated
    return binding
  }
}
