import Foundation
import SignetCrypto
import SignetOATH
import SignetProtocol
import Testing

/// Values that independent code computed from section 3.5, which ours must compute and accept.
@Suite struct RenewalVectorTests {
  @Test("key schedule and secrets", arguments: try ProtocolVector.load("renewal"))
  func derivesTheKeys(_ vector: ProtocolVector) throws {
    let start = try RenewalStart(parsing: vector.utf8("start"))
    let offer = try RenewalOffer(parsing: vector.utf8("offer"))
    let core = try RenewalCore(parsing: vector.utf8("core"))
    #expect(try start.bytes == vector.utf8("start"))
    #expect(try core.bytes == vector.utf8("core"))
    #expect(try start.container.text == vector.text("container") && core.container == start.container)
    #expect(try core.keys.signing == vector.signingKey("signingPrivateKey").publicKey)
    let (device, server) = (
      try vector.agreementKey("devicePrivateKey"), try vector.agreementKey("serverPrivateKey")
    )
    #expect(server.publicKey == offer.key && device.publicKey == core.agreement)
    let inviteKey = ActivationSecrets.renewalKey(
      otpSecret: try vector.secret("presentOTPSecret"), container: start.container)
    let inviteBytes = inviteKey.published()
    #expect(try inviteBytes == vector.hex("inviteKey"))
    let transcript = ActivationSecrets.startTranscript(start: start.bytes, offer: offer.bytes)
    #expect(try transcript == vector.hex("T1"))
    for (own, peer) in [(device, offer.key), (server, core.agreement)] {
      let secrets = try ActivationSecrets(
        ownKey: own, peerKey: peer, inviteKey: inviteKey, startTranscript: transcript,
        core: vector.utf8("core"))
      let hash = secrets.transcript
      #expect(try hash == vector.hex("T2"))
      let deviceBytes = secrets.deviceProofKey().published()
      #expect(try deviceBytes == vector.hex("Kd"))
      let serverBytes = secrets.serverProofKey().published()
      #expect(try serverBytes == vector.hex("Ks"))
      let otpBytes = secrets.otpSecret().published()
      #expect(try otpBytes == vector.hex("otpSecret"))
      // The proof of *finish* covers the characters of the message, whose signature has a random part.
      let finish = try RenewalFinish(parsing: vector.utf8("finish"))
      let proof = secrets.renewalProof(of: finish.message)
      #expect(proof == finish.proof)
      #expect(try finish.message == vector.text("message") && finish.bytes == vector.utf8("finish"))
      #expect(KeyPossession.isShown(by: finish.possession, of: core.keys.signing, transcript: hash))
    }
    let code = try offer.profile.totp.generator(secret: vector.secret("otpSecret"))
      .code(at: vector.integer("otpTime"))
    #expect(try code.code == vector.text("otpCode"))
  }

  @Test("messages of both sides", arguments: try ProtocolVector.load("renewal"))
  func acceptsTheProofs(_ vector: ProtocolVector) throws {
    let message = try vector.text("message")
    let present = try vector.signingKey("presentSigningPrivateKey").publicKey
    #expect(RenewalCore.isSigned(message, by: present))
    #expect(try !RenewalCore.isSigned(message, by: vector.signingKey("signingPrivateKey").publicKey))
    #expect(try SignedMessage.unverifiedPayload(of: message) == vector.utf8("core"))
    let serverKey = try vector.secret("Ks")
    let receipt = try vector.utf8("receipt")
    let signed = try SignedMessage.sign(receipt, key: serverKey, type: RenewalCore.receiptType)
    #expect(try signed == vector.text("serverMessage"))
    let verified = SignedMessage.verify(signed, key: serverKey, type: RenewalCore.receiptType)
    let otherType = SignedMessage.verify(signed, key: serverKey, type: SignedMessage.receiptType)
    #expect(verified == receipt)
    #expect(otherType == nil)
    let parsed = try #require(ActivationReceipt(verified: receipt))
    #expect(try parsed.transcript == vector.hex("T2"))
    #expect(try parsed.container.text != vector.text("container"), "the successor has an id of its own")
    let confirmation = try SealedConfirmation.open(
      parsed.sealed, with: vector.agreementKey("encryptionPrivateKey"), transcript: vector.hex("T2"))
    #expect(try ActivationConfirm(confirmation: confirmation).bytes == vector.utf8("confirm"))
  }
}

/// The tables of section 9 must agree with the files next to these tests.
@Suite struct ProtocolPageTests {
  /// The rows of the document whose second cell is a value, by table.
  private static func tables() throws -> [[(name: String, value: String)]] {
    let page = try String(
      contentsOf: URL(filePath: #filePath).appending(path: "../../../docs/protocol.md").standardized,
      encoding: .utf8)
    let rest = try #require(page.components(separatedBy: "\n## 9. Test vectors\n").last)
    let section = try #require(rest.components(separatedBy: "\n## ").first)
    var tables: [[(name: String, value: String)]] = []
    for line in section.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("| ") else { continue }
      if line.hasPrefix("| value |") {
        tables.append([])
        continue
      }
      let cells = line.components(separatedBy: " | ")
      guard cells.count == 2, !tables.isEmpty else { continue }
      tables[tables.count - 1].append(
        (String(cells[0].dropFirst(2)), cells[1].trimmingCharacters(in: CharacterSet(charactersIn: " |`"))))
    }
    return tables
  }

  /// The file's member for a row.
  private static let members = [
    "invite code": "invite", "invite text": "inviteText", "private key of `e`": "devicePrivateKey",
    "private key of `E`": "serverPrivateKey", "private key of the encryption key": "encryptionPrivateKey",
    "private key of the signing key": "signingPrivateKey",
    "start body": "start", "present container": "container",
    "private key of the present signing key": "presentSigningPrivateKey",
    "present otpSecret": "presentOTPSecret",
    "finish body": "finish", "confirm body": "confirm", "JWS under Ks": "serverMessage",
    "request id": "request",
    "private key of the server's signing key": "serverSigningPrivateKey",
    "private key of the session key": "sessionPrivateKey",
  ]

  /// The file's member whose first text a row has.
  private static let lists = ["receipt for the lock": "receipts", "its JWS": "receiptJWS"]

  @Test func pageAndFilesAgree() throws {
    let tables = try Self.tables()
    let files = ["activation", "renewal", "account"]
    try #require(tables.count == files.count)
    for (table, file) in zip(tables, files) {
      let vector = try #require(ProtocolVector.load(file).first)
      #expect(table.count >= (file == "account" ? 8 : 15))
      for (name, value) in table {
        if name.hasPrefix("code at ") {
          #expect(try "code at \(vector.integer("otpTime"))" == name && vector.text("otpCode") == value)
        } else if let list = Self.lists[name] {
          #expect(try vector.texts(list).first == value, "\(name)")
        } else {
          let member = Self.members[name] ?? name
          #expect(try vector.contains(member) && vector.text(member) == value, "\(name)")
        }
      }
    }
  }
}
