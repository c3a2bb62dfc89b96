import SignetCrypto
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// A device can register only keys that it has (`docs/protocol.md` sections 3.3 and 3.5).
@Suite(.timeLimit(.minutes(10))) struct PossessionTests {
  /// An impostor's ways to claim a signing key without having it.
  enum Pretence: CaseIterable {
    case ownSignature, otherTranscript, otherKindOfMessage, nothing
  }

  @Test(
    "another device's public signing key cannot be registered, and the attempt counts",
    arguments: Pretence.allCases)
  func refusesAnothersSigningKey(_ pretence: Pretence) async throws {
    let server = try ServerFixture()
    let victim = try await server.activate("alice")
    var impostor = ProtocolDevice(code: try await server.invite("mallory"), id: 2)
    let answer = try await server.activations.start(impostor.start.bytes)
    let own = impostor.signing
    // The impostor claims the victim's key, but can sign only with another one.
    impostor.signing = victim.signing
    impostor.possessionKey = own
    let made = try await impostor.finish(answer)
    let finish = try ActivationFinish(parsing: made.body)
    let possession: String
    switch pretence {
    case .ownSignature: possession = finish.possession
    case .otherTranscript:
      // A signature by the victim from another activation.
      possession = try await KeyPossession.signed(
        [UInt8](repeating: 7, count: 32), for: victim.signing.publicKey, by: victim.signing.signature(for:))
    case .otherKindOfMessage:
      let core = try RenewalCore(
        container: ContainerID("c"), user: victim.user, server: victim.server,
        agreement: victim.ephemeral.publicKey, keys: victim.publicKeys,
        device: DeviceDescription(id: victim.id, name: "", platform: "linux", keystore: .software))
      possession = try await core.signed(
        for: victim.signing.publicKey, by: victim.signing.signature(for:))
    case .nothing: possession = ""
    }
    let body = ActivationFinish(
      handshake: finish.handshake, message: finish.message, possession: possession
    ).bytes
    #expect(try await problem { try await server.activations.finish(body) } == .activationRefused)
    #expect(try await server.storage.openActivation(user: "mallory")?.failedAttempts == 1)
    #expect(try await server.storage.containers(user: "mallory").isEmpty)
    #expect(try await server.lastReason() == "wrong proof")
  }

  @Test("an impostor with another device's encryption key cannot open the receipt or confirm")
  func refusesAnothersEncryptionKey() async throws {
    let server = try ServerFixture()
    let victim = P256.KeyAgreement.PrivateKey()
    var impostor = ProtocolDevice(code: try await server.invite())
    let answer = try await server.activations.start(impostor.start.bytes)
    impostor.encryption = victim
    let made = try await impostor.finish(answer)
    let received = try await server.activations.finish(made.body)
    // The impostor has the receipt, but not the key that opens its confirmation.
    let message = try #require(ActivationReceipt.message(in: received))
    let payload = made.proofKey.withSecret {
      SignedMessage.verify(message, key: $0, type: SignedMessage.receiptType)
    }
    let receipt = try ActivationReceipt(parsing: #require(payload))
    #expect(throws: WireFailure.self) {
      try SealedConfirmation.open(
        receipt.sealed, with: P256.KeyAgreement.PrivateKey(), transcript: made.transcript)
    }
    let record = try #require(try await server.storage.container(receipt.container))
    for guess in [nil, [UInt8](repeating: 0, count: 32), made.transcript] {
      let body = ActivationConfirm(confirmation: guess).bytes
      #expect(try await problem { try await server.activations.confirm(record, body) } == .unauthorized)
    }
    #expect(try await server.storage.container(record.id)?.state == .pending)
    #expect(
      try await problem {
        try await server.activations.confirm(record, Array("{\"confirmation\":\"AA\"}".utf8))
      }
        == .malformed)
    // The owner of the key confirms, and confirms again after a lost answer, even without the confirmation value.
    let right = try SealedConfirmation.open(receipt.sealed, with: victim, transcript: made.transcript)
    try await server.activations.confirm(record, ActivationConfirm(confirmation: right).bytes)
    let active = try #require(try await server.storage.container(record.id))
    #expect(active.state == .active)
    try await server.activations.confirm(active, Array("{}".utf8))
  }

  @Test("one container's receipt confirms no other container")
  func bindsTheConfirmation() async throws {
    let server = try ServerFixture()
    var (alice, bob) = (
      ProtocolDevice(code: try await server.invite("alice")),
      ProtocolDevice(code: try await server.invite("bob"))
    )
    try await alice.prove(server)
    try await bob.prove(server)
    let bobs = try #require(bob.container)
    let record = try #require(try await server.storage.container(bobs))
    #expect(
      try await problem { try await server.activations.confirm(record, alice.confirmation.bytes) }
        == .unauthorized)
    try await bob.confirm(server)
  }

  @Test("a key of another container in any state and of any kind is refused without counting")
  func refusesTakenKeys() async throws {
    let server = try ServerFixture()
    let (active, ended) = (try await server.activate("alice"), try await server.activate("bob"))
    let id = try #require(ended.container)
    _ = try await server.storage.revokeContainer(id, audit: .sample(), lost: { _ in .sample() })
    for owner in [active, ended] {
      for kind in 0..<4 {
        var device = ProtocolDevice(code: try await server.invite("carol"), id: 3)
        switch kind {
        case 0: device.session = owner.session
        case 1: device.encryption = owner.encryption
        case 2: device.signing = owner.signing
        default:
          // One key has one use, too.
          device.signing = try P256.Signing.PrivateKey(rawRepresentation: owner.session.rawRepresentation)
        }
        #expect(try await problem { try await device.prove(server) } == .exists)
        #expect(try await server.storage.openActivation(user: "carol")?.failedAttempts == 0)
        #expect(try await server.storage.containers(user: "carol").isEmpty)
        #expect(try await server.lastReason() == "a key belongs to another authenticator")
      }
    }
    // With new keys the activation succeeds.
    _ = try await server.activate("carol")
  }

  @Test("a renewal proves possession like an activation, with keys not registered before")
  func renewal() async throws {
    let server = try ServerFixture()
    let victim = try await server.activate("bob")
    var device = try await server.activate("alice")
    let record = try await device.send(to: server)

    // Another device's signing key.
    var keys = Successor()
    keys.signing = victim.signing
    keys.possessionKey = P256.Signing.PrivateKey()
    #expect(
      try await problem { try await renew(device, record, with: keys, server) } == .unauthorized)
    // Keys that belong to a container, the current one included.
    for taken in [victim, device] {
      keys = Successor()
      keys.signing = taken.signing
      #expect(try await problem { try await renew(device, record, with: keys, server) } == .exists)
      keys = Successor()
      keys.encryption = taken.encryption
      #expect(try await problem { try await renew(device, record, with: keys, server) } == .exists)
    }
    #expect(try await server.storage.containers(user: "alice").map(\.state) == [.active])

    // Another device's encryption key that is not registered: the renewal is never confirmed.
    keys = Successor()
    let (receipt, transcript) = try await renew(device, record, with: keys, server)
    let successor = try #require(try await server.storage.container(receipt.container))
    #expect(
      try await problem { try await server.activations.confirm(successor, Array("{}".utf8)) } == .unauthorized
    )
    #expect(try await server.storage.container(successor.id)?.state == .pending)
    let right = try SealedConfirmation.open(receipt.sealed, with: keys.encryption, transcript: transcript)
    try await server.activations.confirm(successor, ActivationConfirm(confirmation: right).bytes)
    #expect(try await server.storage.container(successor.id)?.state == .active)
    // The keys from before the renewal stay reserved.
    device = ProtocolDevice(code: try await server.invite("carol"))
    device.session = victim.session
    #expect(try await problem { try await device.prove(server) } == .exists)
  }

  /// The keys of a renewal.
  private struct Successor {
    let ephemeral = P256.KeyAgreement.PrivateKey()
    let session = P256.Signing.PrivateKey()
    var encryption = P256.KeyAgreement.PrivateKey()
    var signing = P256.Signing.PrivateKey()
    var possessionKey: P256.Signing.PrivateKey?

    var publicKeys: ContainerKeys {
      ContainerKeys(session: session.publicKey, encryption: encryption.publicKey, signing: signing.publicKey)
    }
  }

  /// *start* and *finish* of a renewal, signed with the current keys of a device.
  private func renew(
    _ device: ProtocolDevice, _ record: ContainerRecord, with keys: Successor, _ server: ServerFixture
  ) async throws -> (ActivationReceipt, transcript: [UInt8]) {
    let renewals = RenewalService(server.context)
    let id = try #require(device.container)
    let start = RenewalStart(container: id, random: SystemRandomSource())
    let answer = try renewals.start(start.bytes, for: record)
    let core = RenewalCore(
      container: id, user: device.user, server: device.server, agreement: keys.ephemeral.publicKey,
      keys: keys.publicKeys,
      device: try DeviceDescription(id: device.id, name: "", platform: "linux", keystore: .software))
    let message = try await core.signed(
      for: device.signing.publicKey, by: device.signing.signature(for:))
    let otpSecret = try #require(device.otpSecret)
    let renewalKey = otpSecret.withSecret {
      SharedSecretBox(ActivationSecrets.renewalKey(otpSecret: $0, container: id))
    }
    let secrets = try ActivationSecrets(
      ownKey: keys.ephemeral, peerKey: answer.offer.key, inviteKey: renewalKey.withSecret { $0.copy() },
      startTranscript: ActivationSecrets.startTranscript(start: start.bytes, offer: answer.offer.bytes),
      core: core.bytes)
    let (transcript, proof) = (secrets.transcript, secrets.renewalProof(of: message))
    let proofKey = SharedSecretBox(secrets.serverProofKey())
    let signer = keys.possessionKey ?? keys.signing
    let possession = try await KeyPossession.signed(
      transcript, for: signer.publicKey, by: signer.signature(for:))
    let body = RenewalFinish(
      handshake: answer.handshake, message: message, proof: proof, possession: possession
    ).bytes
    let received = try await renewals.finish(body, for: record)
    let receipt = try #require(ActivationReceipt.message(in: received))
    let payload = proofKey.withSecret {
      SignedMessage.verify(receipt, key: $0, type: RenewalCore.receiptType)
    }
    return (try ActivationReceipt(parsing: #require(payload)), transcript)
  }
}
