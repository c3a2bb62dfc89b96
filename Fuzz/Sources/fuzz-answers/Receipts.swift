import LibFuzzer
import SignetCrypto
import SignetJSON
import SignetProtocol

// The handling of a receipt on a device, and its keys, are behind the device's operations.
@testable import Signet
@testable import SignetVault

/// Answers to *finish*.
enum Receipts {
  private static let transcript = [UInt8](1...32)
  /// No other message is signed with it.
  private static let proofKey = [UInt8](101...132)
  private static let url = made("a URL") { () throws(ServerURLFailure) in try ServerURL("a.example/main") }
  private static let signer = made("a key") { () throws(CryptoFailure) in
    try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](1...32)))
  }

  static func check(_ body: [UInt8]) {
    let keys = PrivateContainerKeys(
      session: ContainerSigningKey(signer), signing: ContainerSigningKey(signer))
    guard let receipt = accepted({ () throws(WireFailure) in try ActivationReceipt(parsing: body) }) else {
      // It has no valid proof.
      let user = made("a user") { () throws(WireFailure) in try UserID("a") }
      return require(confirmation(in: body, for: user, keys) == nil, "nothing is taken without a proof")
    }
    let sealed = made("a confirmation") { () throws(WireFailure) in
      try SealedConfirmation.seal(transcript, transcript: transcript, to: keys.encryption.publicKey)
    }
    // The answer of a server that knows the invite: the content is the input's, and the seal is for the new key.
    let whole = ActivationReceipt(
      container: receipt.container, user: receipt.user, server: receipt.server, created: receipt.created,
      transcript: transcript, sealed: sealed, serverKey: receipt.serverKey)
    let proved = answer(whole)
    let opened = confirmation(in: proved, for: receipt.user, keys)
    if proved.count <= Wire.maximumByteCount {
      require((opened != nil) == (receipt.server == url), "what is proved is taken, of this server alone")
    }
    require(opened == nil || opened == transcript, "what is sealed is opened")
    // The input's own transcript and seal are for another handshake, unless they match this one's.
    let other = confirmation(in: answer(receipt), for: receipt.user, keys)
    require(other == nil || receipt.transcript == transcript, "a receipt is for one handshake")
  }

  private static func answer(_ receipt: ActivationReceipt) -> [UInt8] {
    let message = made("a receipt") { () throws(WireFailure) in
      try SignedMessage.sign(
        receipt.bytes, key: SecretBytes(copying: proofKey), type: SignedMessage.receiptType)
    }
    let body: JSONObject = ["message": .string(message)]
    return body.bytes
  }

  /// Returns the value for *confirm*, if the device accepts the answer.
  private static func confirmation(
    in answer: [UInt8], for user: UserID, _ keys: PrivateContainerKeys
  ) -> [UInt8]? {
    let expected = ExpectedReceipt(
      type: SignedMessage.receiptType, proofKey: SharedSecretBox(SecretBytes(copying: proofKey)),
      user: user, server: url, transcript: transcript)
    return accepted { () throws(SignetError) in try expected.receive(answer, for: keys).confirmation }
  }
}
