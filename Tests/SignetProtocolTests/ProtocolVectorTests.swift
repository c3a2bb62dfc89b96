import SignetCrypto
import SignetOATH
import SignetProtocol
import Testing

/// Values that independent code computed from the protocol's text, which ours must compute and accept.
@Suite struct ProtocolVectorTests {
  @Test("key schedule, section 3.2", arguments: try ProtocolVector.load())
  func derivesTheKeys(_ vector: ProtocolVector) throws {
    let invite = try InviteCode(vector.text("invite"))
    #expect(try invite.inviteText == vector.text("inviteText"))
    #expect(try invite.typedForm == vector.text("invite"))
    let offer = try ActivationOffer(parsing: vector.utf8("offer"))
    let core = try ActivationCore(parsing: vector.utf8("core"))
    let (device, server) = (
      try vector.agreementKey("devicePrivateKey"), try vector.agreementKey("serverPrivateKey")
    )
    #expect(server.publicKey == offer.key)
    #expect(device.publicKey == core.agreement)
    let shared = try device.sharedSecret(with: offer.key)
    let sharedBytes = shared.published()
    #expect(try sharedBytes == vector.hex("Z"))
    let inviteKey = try invite.key(salt: offer.salt, costs: offer.costs)
    let inviteBytes = inviteKey.published()
    #expect(try inviteBytes == vector.hex("inviteKey"))
    let transcript = ActivationSecrets.startTranscript(start: try vector.utf8("start"), offer: offer.bytes)
    #expect(try transcript == vector.hex("T1"))

    for (own, peer) in [(device, offer.key), (server, core.agreement)] {
      let secrets = try ActivationSecrets(
        ownKey: own, peerKey: peer, inviteKey: inviteKey, startTranscript: transcript,
        core: vector.utf8("core"))
      let transcriptHash = secrets.transcript
      #expect(try transcriptHash == vector.hex("T2"))
      let deviceKey = secrets.deviceProofKey()
      let serverKey = secrets.serverProofKey()
      let otp = secrets.otpSecret()
      let deviceBytes = deviceKey.published()
      #expect(try deviceBytes == vector.hex("Kd"))
      let serverBytes = serverKey.published()
      #expect(try serverBytes == vector.hex("Ks"))
      let otpBytes = otp.published()
      #expect(try otpBytes == vector.hex("otpSecret"))
    }
    let code = try offer.profile.totp.generator(secret: vector.secret("otpSecret"))
      .code(at: vector.integer("otpTime"))
    #expect(try code.code == vector.text("otpCode"))
  }

  @Test("proofs, section 3.3", arguments: try ProtocolVector.load())
  func acceptsTheProofs(_ vector: ProtocolVector) throws {
    let deviceKey = try vector.secret("Kd")
    let serverKey = try vector.secret("Ks")
    let (core, receipt) = (try vector.utf8("core"), try vector.utf8("receipt"))
    // HS256 has no random part, so ours are equal byte by byte.
    let signedCore = try SignedMessage.sign(core, key: deviceKey, type: SignedMessage.activationType)
    let signedReceipt = try SignedMessage.sign(receipt, key: serverKey, type: SignedMessage.receiptType)
    #expect(try signedCore == vector.text("deviceMessage"))
    #expect(try signedReceipt == vector.text("serverMessage"))
    let message = try vector.text("deviceMessage")
    #expect(try SignedMessage.unverifiedPayload(of: message) == core)
    let verified = SignedMessage.verify(message, key: deviceKey, type: SignedMessage.activationType)
    let otherType = SignedMessage.verify(message, key: deviceKey, type: SignedMessage.receiptType)
    let otherKey = SignedMessage.verify(message, key: serverKey, type: SignedMessage.activationType)
    #expect(verified == core)
    #expect(otherType == nil)
    #expect(otherKey == nil)
    let parsed = try #require(ActivationReceipt(verified: receipt))
    #expect(try parsed.transcript == vector.hex("T2"))
    #expect(parsed.bytes == receipt)
    #expect(try ActivationCore(parsing: core).bytes == core)
    #expect(try ActivationStart(parsing: vector.utf8("start")).bytes == vector.utf8("start"))
  }

  @Test("possession of the new keys, section 3.3", arguments: try ProtocolVector.load())
  func acceptsThePossession(_ vector: ProtocolVector) async throws {
    let (signing, transcript) = (try vector.signingKey("signingPrivateKey"), try vector.hex("T2"))
    let shown = try vector.text("possession")
    #expect(KeyPossession.isShown(by: shown, of: signing.publicKey, transcript: transcript))
    let ours = try await KeyPossession.signed(transcript, for: signing.publicKey, by: signing.signature(for:))
    #expect(try SignedMessage.unverifiedPayload(of: ours) == SignedMessage.unverifiedPayload(of: shown))
    let session = try vector.signingKey("sessionPrivateKey")
    #expect(!KeyPossession.isShown(by: shown, of: session.publicKey, transcript: transcript))
    #expect(try !KeyPossession.isShown(by: shown, of: signing.publicKey, transcript: vector.hex("T1")))
    // Another type of message by the same key with the same content proves nothing.
    let other = try await KeyPossession.signed(
      transcript, for: session.publicKey, by: signing.signature(for:))
    #expect(!KeyPossession.isShown(by: other, of: signing.publicKey, transcript: transcript))

    let encryption = try vector.agreementKey("encryptionPrivateKey")
    let receipt = try ActivationReceipt(parsing: vector.utf8("receipt"))
    let confirmation = try SealedConfirmation.open(receipt.sealed, with: encryption, transcript: transcript)
    #expect(try ActivationConfirm(confirmation: confirmation).bytes == vector.utf8("confirm"))
    #expect(throws: WireFailure.self) {
      try SealedConfirmation.open(
        receipt.sealed, with: P256.KeyAgreement.PrivateKey(), transcript: transcript)
    }
    #expect(throws: WireFailure.self) {
      try SealedConfirmation.open(receipt.sealed, with: encryption, transcript: vector.hex("T1"))
    }
    let again = try SealedConfirmation.seal(confirmation, transcript: transcript, to: encryption.publicKey)
    #expect(
      try SealedConfirmation.open(again, with: encryption, transcript: transcript) == confirmation)
  }

  @Test("request, decision and transactions, sections 4 and 5", arguments: try ProtocolVector.load())
  func acceptsWhatIsSigned(_ vector: ProtocolVector) throws {
    let session = try vector.signingKey("sessionPrivateKey").publicKey
    let request = try #require(SignedRequest(authorization: vector.text("authorization")))
    let proof = try #require(request.proof(verifiedWith: session))
    #expect(try proof.bytes == vector.utf8("request"))
    #expect(try proof.covers(method: "POST", path: proof.path, body: vector.utf8("confirm"), now: proof.time))

    let signing = try vector.signingKey("signingPrivateKey").publicKey
    #expect(try signing.thumbprint == vector.text("signingThumbprint"))
    #expect(request.proof(verifiedWith: signing) == nil)
    let decision = try #require(Decision(verifying: vector.text("decision"), signedBy: signing))
    #expect(try decision.bytes == vector.utf8("decisionPayload"))
    #expect(try Decision(verifying: vector.text("decision"), signedBy: session) == nil)

    let sealed = try SealedTransactionList(
      decrypting: vector.text("transactionsJWE"), with: vector.agreementKey("encryptionPrivateKey"))
    let server = try vector.signingKey("serverSigningPrivateKey").publicKey
    #expect(sealed.signer == server.thumbprint)
    let list = try sealed.list(
      signedBy: server,
      for: ListAddress(server: decision.server, container: decision.container, request: proof.id))
    #expect(try list.bytes == vector.utf8("transactions"))
    #expect(list.transactions.map(\.id) == [decision.transaction])
    #expect(list.transactions.map(\.content.json) == [decision.content])
  }

  @Test("another byte anywhere gives other keys", arguments: try ProtocolVector.load())
  func bindsEveryByte(_ vector: ProtocolVector) throws {
    let (start, offer, core) = (
      try vector.utf8("start"), try vector.utf8("offer"), try vector.utf8("core")
    )
    let key = try vector.agreementKey("devicePrivateKey")
    let peer = try ActivationOffer(parsing: offer).key
    func proofKey(_ start: [UInt8], _ offer: [UInt8], _ core: [UInt8]) throws -> [UInt8] {
      try ActivationSecrets(
        ownKey: key, peerKey: peer, inviteKey: vector.secret("inviteKey"),
        startTranscript: ActivationSecrets.startTranscript(start: start, offer: offer), core: core
      ).deviceProofKey().published()
    }
    let expected = try vector.hex("Kd")
    #expect(try proofKey(start, offer, core) == expected)
    for index in stride(from: 0, to: offer.count, by: 7) {
      var changed = offer
      changed[index] ^= 1
      #expect(try proofKey(start, changed, core) != expected)
    }
    // A byte moved across the border between start and offer is a change too.
    #expect(try proofKey(start + [offer[0]], Array(offer.dropFirst()), core) != expected)
    #expect(try proofKey(start, offer, core + [0x20]) != expected)
  }
}
