import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetStorage
import SignetWire

/// What the server states of an answer when it takes it: whose, to what, which and when, over all that was signed.
///
/// A UAF authenticator signs neither the time nor which transaction it confirms, and an app signs by a key that the server has too. Signed
/// by the server's key, the statement keeps both as they were said at the time; it proves them to whoever believes the server.
struct AnswerStatement: Sendable {
  /// The `typ` of the JWS.
  static let type = "signet-evidence"

  /// All but the digests: what the members of the same names have to be in what the server gives out later.
  let claims: JSONObject

  /// Describes an answer that is about to be taken.
  ///
  /// - Parameters:
  ///   - transaction: What is answered.
  ///   - server: The server.
  ///   - user: Who answers.
  ///   - status: What it comes to.
  ///   - means: The operation of UAF, or the mechanism of the app.
  ///   - reason: Why it is denied without the user's no; `nil` for the user's answer.
  ///   - time: When the server takes it, in seconds since 1970.
  init(
    to transaction: TransactionRecord, at server: ServerURL, by user: UserID,
    _ status: TransactionRecord.State, with means: String, reason: String? = nil, time: Int64
  ) {
    var claims: JSONObject = [
      "version": .integer(Wire.version), "server": .string(server.fullForm),
      "id": .id(transaction.id), "user": .string(user.text), "status": .string(status.rawValue),
      "created": .integer(transaction.created), "expires": .integer(transaction.expires),
      "time": .integer(time), "by": .string(means),
    ]
    claims["reason"] = reason.map { .string($0) }
    self.claims = claims
  }

  private init(claims: JSONObject) { self.claims = claims }

  /// What is kept of an answer.
  ///
  /// - Parameters:
  ///   - evidence: What was signed.
  ///   - content: What the transaction asks.
  ///   - key: The server's key.
  ///   - sealedKey: The key of an app's answer, under the master key.
  /// - Throws: ``Problem`` where the server cannot sign.
  /// - Returns: What is kept; `nil` for evidence that is longer than any that is.
  func record(
    of evidence: AnswerEvidence, about content: String, signedBy key: P256.Signing.PrivateKey,
    sealedKey: [UInt8]? = nil
  ) throws(Problem) -> EvidenceRecord? {
    var digests: JSONObject = [:]
    for (member, digest) in Self.digests(of: evidence, about: content) {
      digests[member] = .string(Base64URL.encode(digest))
    }
    var claims = claims
    claims["digests"] = .object(digests)
    let statement: String
    do throws(JOSEFailure) {
      statement = try JWS.sign(
        claims.bytes, with: SigningKey(key, keyID: key.publicKey.thumbprint), type: Self.type)
    } catch { throw Problem(.serverFailure, "Nothing was changed; try again later.") }
    var object = evidence.json
    object["statement"] = .string(statement)
    object["serverKey"] = .string(Base64URL.encode(key.publicKey.x963Representation))
    let bytes = object.bytes
    guard bytes.count <= AnswerEvidence.maximumByteCount else { return nil }
    return EvidenceRecord(bytes: bytes, sealedKey: sealedKey)
  }

  private static func digests(
    of evidence: AnswerEvidence, about content: String
  ) -> [(member: String, digest: [UInt8])] {
    [(member: "content", digest: HashFunction.sha256.digest(of: Array(content.utf8)))] + evidence.digests
  }

  // MARK: Verifying

  /// Reads a statement that this key has signed.
  ///
  /// - Throws: ``EvidenceCheck/Failure/statement``.
  init(_ text: String, signedBy key: P256.Signing.PublicKey) throws(EvidenceCheck.Failure) {
    let claims: JSONObject
    do {
      let verified = try JWS(compact: text).verified(with: VerificationKey(key), allowing: [.es256])
      guard verified.header.type == Self.type, verified.header.keyID == key.thumbprint else {
        throw EvidenceCheck.Failure.statement
      }
      claims = try JSONObject(parsing: verified.payload)
    } catch { throw .statement }
    self.init(claims: claims)
  }

  /// The first member of the evidence that is not as it was when the server stated it, or is not in the statement; `nil` for none.
  func alteredMember(of evidence: AnswerEvidence, about content: String) -> String? {
    guard case .object(let digests)? = claims["digests"] else { return "statement" }
    let present = Self.digests(of: evidence, about: content)
    for (member, digest) in present
    where digests[member] != JSONValue.string(Base64URL.encode(digest)) {
      return member
    }
    return digests.members.first { stated in !present.contains { $0.member == stated.name } }?.name
  }
}
