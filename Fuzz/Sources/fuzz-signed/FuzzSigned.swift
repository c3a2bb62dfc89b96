import LibFuzzer
import SignetCrypto
import SignetJOSE
import SignetJSON

@testable import SignetProtocol

/// Signed or encrypted messages: the input is the content behind the signature, so that mutations reach the parser.
@main struct FuzzSigned {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkAsItComes(String(decoding: input, as: UTF8.self))
    let limits = JSONLimits(maximumByteCount: 1 << 16)
    guard
      let object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input, limits: limits) })
    else { return }
    // Each kind has a distinct member, so only possible kinds are signed.
    if object.contains("event") { checkEnd(input) }
    if object.contains("evidence") { checkEvidence(input) }
    if object.contains("order") { checkReceipt(input) }
    if object.contains("standing") { checkCondition(input) }
    if object.contains("transactions") { checkList(input) }
    if object.contains("status") { checkDecision(input) }
    if object.contains("method") { checkRequest(input) }
    if object.contains("agreement") { checkRenewal(input) }
    if object.contains("transcript") { checkActivationReceipt(input) }
    if object.contains("confirmation") { checkConfirmation(input) }
    if object.contains("key") { checkSuccession(input) }
    if object.contains("transaction") {
      checkOffline(input)
      checkPush(input)
    }
  }

  /// No message is signed with the stranger's key.
  private static func checkAsItComes(_ text: String) {
    let key = Keys.stranger.publicKey
    let body = JSONValue.object(["notice": .string(text), "receipt": .string(text)]).bytes
    require(end(in: body, key) == nil && receipt(in: body, key) == nil, "nobody signed this")
    require(PostureReport.verified(text, with: key) == nil, "nobody signed this")
    require(condition(text, key) == nil && offline(text, key) == nil, "nobody signed this")
    require(Decision(verifying: text, signedBy: key) == nil, "nobody signed this")
    require(KeySuccession(verifying: text, signedBy: key) == nil, "nobody signed this")
    require(check(text, key) == nil, "nobody signed this")
    require(!RenewalCore.isSigned(text, by: key), "nobody signed this")
    require(!KeyPossession.isShown(by: text, of: key, transcript: transcript), "nobody signed this")
    _ = PushPayload.unverifiedContainer(of: text)
    _ = push(text, Keys.device)
    // A message that any sender encrypted for the device.
    let sealed = made("a JWE") { () throws(JOSEFailure) in
      try JWE.encrypt(Array(text.utf8), for: EncryptionKey(Keys.device.publicKey), .ecdhES, .a256GCM)
    }
    require(list(sealed, key) == nil, "nobody signed this")
  }

  // MARK: What a device signs for a container

  private static func checkEnd(_ payload: [UInt8]) {
    let notice = accepted { () throws(WireFailure) in try EndNotice(parsing: payload) }
    let message = Message(payload, EndNotice.type, keyID: notice?.container.text ?? "c")
    message.check(is: notice) { jws, key in end(in: body("notice", jws), key) }
    guard let notice else { return }
    let again = made("a printed notice") { () throws(WireFailure) in try EndNotice(parsing: notice.bytes) }
    require(again == notice, "printing a notice loses nothing")
    require(!notice.reason.unicodeScalars.contains { $0.value < 0x20 }, "a reason is plain")
  }

  private static func end(in body: [UInt8], _ key: P256.Signing.PublicKey) -> EndNotice? {
    accepted { () throws(WireFailure) in try SignedEndNotice(parsing: body) }?.notice(verifiedWith: key)
  }

  private static func checkEvidence(_ payload: [UInt8]) {
    let report = accepted { () throws(WireFailure) in try PostureReport(parsing: payload) }
    let message = Message(payload, PostureReport.type, keyID: report?.container.text ?? "c")
    message.check(is: report) { jws, key in PostureReport.verified(jws, with: key) }
    guard let report else { return }
    let again = made("a printed report") { () throws(WireFailure) in try PostureReport(parsing: report.bytes)
    }
    require(again == report, "printing a report loses nothing")
  }

  private static func checkReceipt(_ payload: [UInt8]) {
    let receipt = accepted { () throws(WireFailure) in try CommandAcknowledgement(parsing: payload) }
    let message = Message(payload, CommandAcknowledgement.type, keyID: receipt?.container.text ?? "c")
    message.check(is: receipt) { jws, key in self.receipt(in: body("receipt", jws), key) }
    guard let receipt else { return }
    let again = made("a printed receipt") { () throws(WireFailure) in
      try CommandAcknowledgement(parsing: receipt.bytes)
    }
    require(again == receipt, "printing a receipt loses nothing")
  }

  private static func receipt(in body: [UInt8], _ key: P256.Signing.PublicKey) -> CommandAcknowledgement? {
    accepted { () throws(WireFailure) in try SignedCommandAcknowledgement(parsing: body) }?.receipt(
      verifiedWith: key)
  }

  private static func body(_ name: String, _ jws: String) -> [UInt8] {
    JSONValue.object([name: .string(jws)]).bytes
  }

  private static func checkRequest(_ payload: [UInt8]) {
    let proof = accepted { () throws(WireFailure) in try RequestProof(parsing: payload) }
    let message = Message(payload, RequestProof.type, keyID: "c")
    let fits = message.jws.utf8.count + RequestProof.scheme.utf8.count < 4096
    message.check(is: fits ? proof : nil) { jws, key in
      let request = SignedRequest(authorization: "\(RequestProof.scheme) \(jws)")
      // The header alone names the container.
      return request?.container.text == "c" ? request?.proof(verifiedWith: key) : nil
    }
  }

  private static func checkDecision(_ payload: [UInt8]) {
    let decision = accepted { () throws(WireFailure) in try Decision(parsing: payload) }
    let message = Message(payload, Decision.type, keyID: Keys.signer.publicKey.thumbprint)
    message.check(is: decision) { jws, key in Decision(verifying: jws, signedBy: key) }
    // A relying party's check demands more: the content has to be valid too.
    if let checked = check(message.jws, Keys.signer.publicKey) {
      require(
        checked.decision == decision && decision?.isAbout(checked.content.json) == true, "it is the same")
    }
    require(check(message.jws, Keys.stranger.publicKey) == nil, "another key did not sign it")
  }

  private static func check(_ text: String, _ key: P256.Signing.PublicKey) -> DecisionCheck? {
    accepted { () throws(DecisionCheck.Failure) in try DecisionCheck(text, key: key) }
  }

  private static func checkRenewal(_ payload: [UInt8]) {
    let message = Message(payload, RenewalCore.type, keyID: Keys.signer.publicKey.thumbprint)
    message.check(is: true) { jws, key in RenewalCore.isSigned(jws, by: key) ? true : nil }
  }

  // MARK: What a server signs

  private static func checkActivationReceipt(_ payload: [UInt8]) {
    let receipt = ActivationReceipt(verified: payload)
    let parsed = accepted { () throws(WireFailure) in try ActivationReceipt(parsing: payload) }
    require(receipt?.bytes == parsed?.bytes, "a verified payload is read as any other")
    let signed = made("a receipt") { () throws(WireFailure) in
      try SignedMessage.sign(payload, key: Keys.secret(1), type: SignedMessage.receiptType)
    }
    func verified(_ text: String, _ key: borrowing SecretBytes, _ type: String) -> [UInt8]? {
      SignedMessage.verify(text, key: key, type: type)
    }
    let type = SignedMessage.receiptType
    require(verified(signed, Keys.secret(1), type) == payload, "what is signed is read")
    require(verified(signed, Keys.secret(2), type) == nil, "not under another key")
    require(verified(signed, Keys.secret(1), RenewalCore.receiptType) == nil, "not as another kind")
    require(verified(Message.changed(signed, by: payload), Keys.secret(1), type) == nil, "not changed")
  }

  /// The transcript of sealed messages.
  private static let transcript = [UInt8](1...32)

  /// Contents that only the device reads, from any sender.
  private static func checkConfirmation(_ payload: [UInt8]) {
    func opened(
      _ jwe: String, _ key: P256.KeyAgreement.PrivateKey, _ transcript: [UInt8]
    ) -> [UInt8]? {
      accepted { () throws(WireFailure) in
        try SealedConfirmation.open(jwe, with: key, transcript: transcript)
      }
    }
    let sealed = made("a JWE") { () throws(JOSEFailure) in
      try JWE.encrypt(payload, for: EncryptionKey(Keys.device.publicKey), .ecdhES, .a256GCM)
    }
    guard let confirmation = opened(sealed, Keys.device, transcript) else { return }
    require(confirmation.count == SealedConfirmation.byteCount, "a confirmation has 32 bytes")
    require(opened(sealed, Keys.otherDevice, transcript) == nil, "another key does not open it")
    require(opened(sealed, Keys.device, [UInt8](2...33)) == nil, "it is for one transcript")
    let again = made("a confirmation") { () throws(WireFailure) in
      try SealedConfirmation.seal(confirmation, transcript: transcript, to: Keys.device.publicKey)
    }
    require(opened(again, Keys.device, transcript) == confirmation, "what is sealed is opened")
  }

  private static func checkSuccession(_ payload: [UInt8]) {
    let message = Message(payload, KeySuccession.type, keyID: Keys.signer.publicKey.thumbprint)
    let word = KeySuccession(verifying: message.jws, signedBy: Keys.signer.publicKey)
    message.check(is: word.map(Succession.init)) { jws, key in
      KeySuccession(verifying: jws, signedBy: key).map(Succession.init)
    }
    guard let word else { return }
    let again = made("a word") { () throws(WireFailure) in
      try KeySuccession(server: word.server, next: word.next, time: word.time).signed(by: Keys.signer)
    }
    let read = KeySuccession(verifying: again, signedBy: Keys.signer.publicKey)
    require(read.map(Succession.init) == Succession(word), "signing a succession loses nothing")
    let set = ServerKeySet(keys: [Keys.signer.publicKey, word.next], successions: ["a.b.c", message.jws])
    let next = set.successor(
      of: Keys.signer.publicKey, called: word.next.thumbprint, at: Keys.address.server)
    require(next == (word.server == Keys.address.server ? word.next : nil), "a word leads to the next key")
    require(
      set.successor(of: Keys.stranger.publicKey, called: word.next.thumbprint, at: word.server) == nil,
      "nobody else's word leads anywhere")
  }

  private struct Succession: Equatable {
    let server: String
    let next: P256.Signing.PublicKey
    let time: Int64
    init(_ word: KeySuccession) { (server, next, time) = (word.server.fullForm, word.next, word.time) }
  }

  private static func checkOffline(_ payload: [UInt8]) {
    let message = Message(payload, OfflineTransaction.type, keyID: Keys.signer.publicKey.thumbprint)
    let transaction = offline(message.jws, Keys.signer.publicKey)
    message.check(is: transaction, offline)
    guard let transaction else { return }
    require(transaction.bytes == payload, "what is answered is what came")
    let claimed = made("a claim") { () throws(WireFailure) in try OfflineTransaction.claimed(by: message.jws)
    }
    require(claimed.server == transaction.server && claimed.user == transaction.user, "it is found by both")
    let printed = OfflineTransaction(
      id: transaction.id, content: transaction.content, expires: transaction.expires,
      server: transaction.server, user: transaction.user)
    let again = made("a text") { () throws(WireFailure) in try printed.signed(by: Keys.signer) }
    if again.utf8.count <= OfflineTransaction.maximumByteCount {
      require(offline(again, Keys.signer.publicKey) == printed, "signing a transaction loses nothing")
    }
    let container = made("an id") { () throws(WireFailure) in try ContainerID("c1") }
    let answer = transaction.answer(otpSecret: Keys.secret(1), container: container)
    require(
      answer.utf8.count == 8 && answer.utf8.allSatisfy { (0x30...0x39).contains($0) },
      "an answer has 8 digits")
  }

  private static func offline(_ text: String, _ key: P256.Signing.PublicKey) -> OfflineTransaction? {
    accepted { () throws(WireFailure) in try OfflineTransaction(verifying: text, signedBy: key) }
  }

  private static func checkCondition(_ payload: [UInt8]) {
    let message = Message(payload, DeviceStatus.type, keyID: Keys.signer.publicKey.thumbprint)
    let read = condition(message.jws, Keys.signer.publicKey)
    message.check(is: read, condition)
    guard let read else { return }
    require(condition(message.jws, Keys.signer.publicKey, Keys.otherAddress) == nil, "it answers one request")
    require(read.challenge.count == DeviceStatus.challengeByteCount, "a challenge has its length")
    require(!read.reason.unicodeScalars.contains { $0.value < 0x20 }, "a reason is plain")
    let again = made("a condition") { () throws(WireFailure) in
      try read.signed(for: Keys.address, by: Keys.signer)
    }
    if again.utf8.count <= Wire.maximumByteCount {
      require(condition(again, Keys.signer.publicKey) == read, "signing a condition loses nothing")
    }
  }

  private static func condition(_ jws: String, _ key: P256.Signing.PublicKey) -> DeviceStatus? {
    condition(jws, key, Keys.address)
  }

  private static func condition(
    _ jws: String, _ key: P256.Signing.PublicKey, _ address: ListAddress
  ) -> DeviceStatus? {
    accepted { () throws(WireFailure) in
      try SignedDeviceStatus(jws).condition(signedBy: key, for: address)
    }
  }

  // MARK: What a server encrypts

  private static func checkList(_ payload: [UInt8]) {
    let message = Message(payload, TransactionList.type, keyID: Keys.signer.publicKey.thumbprint)
    let seal = { (jws: String) in
      made("a JWE") { () throws(JOSEFailure) in
        try JWE.encrypt(Array(jws.utf8), for: EncryptionKey(Keys.device.publicKey), .ecdhES, .a256GCM)
      }
    }
    let read = list(seal(message.jws), Keys.signer.publicKey)
    message.check(is: read) { jws, key in list(seal(jws), key) }
    guard let read else { return }
    require(
      list(seal(message.jws), Keys.signer.publicKey, Keys.otherAddress) == nil, "it answers one request")
    let again = made("a list") { () throws(WireFailure) in
      try read.sealed(for: Keys.address, by: Keys.signer, to: Keys.device.publicKey)
    }
    require(list(again, Keys.signer.publicKey) == read, "sealing a list loses nothing")
    require(
      list(Message.changed(again, by: payload), Keys.signer.publicKey) == nil, "a changed character is found")
  }

  private static func list(
    _ jwe: String, _ key: P256.Signing.PublicKey, _ address: ListAddress = Keys.address
  ) -> TransactionList? {
    accepted { () throws(WireFailure) in
      try SealedTransactionList(decrypting: jwe, with: Keys.device).list(signedBy: key, for: address)
    }
  }

  private static func checkPush(_ payload: [UInt8]) {
    func encrypted(_ keyID: String) -> String {
      made("a JWE") { () throws(JOSEFailure) in
        try JWE.encrypt(
          payload, for: EncryptionKey(Keys.device.publicKey, keyID: keyID), .ecdhES, .a256GCM,
          type: PushPayload.type)
      }
    }
    guard let read = push(encrypted("c"), Keys.device) else { return }
    require(read.container.text == "c", "it is about the container that it is encrypted to")
    require(PushPayload.unverifiedContainer(of: encrypted("c")) == read.container, "its key is found")
    require(push(encrypted("d"), Keys.device) == nil, "and about no other")
    let again = made("a push") { () throws(WireFailure) in try read.encrypted(to: Keys.device.publicKey) }
    require(push(again, Keys.device) == read, "encrypting a push loses nothing")
    require(push(again, Keys.otherDevice) == nil, "only its device opens it")
    require(push(Message.changed(again, by: payload), Keys.device) == nil, "a changed character is found")
  }

  private static func push(_ text: String, _ key: P256.KeyAgreement.PrivateKey) -> PushPayload? {
    accepted { () throws(WireFailure) in try PushPayload(decrypting: text, with: key) }
  }
}
