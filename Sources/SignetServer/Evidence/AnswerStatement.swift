import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetStorage

/// The server's signed statement about an answer: user, transaction, result and time, with digests of all signed data.
///
/// A UAF authenticator signs neither the time nor the transaction's id, and an app signs with a key that the server also
/// has. The server signs the statement when it accepts the answer, so later changes are detected. It proves these facts to
/// anyone who trusts the server.
struct AnswerStatement: Sendable {
  /// The `typ` of the JWS.
  static let type = "signet-evidence"

  /// All claims except the digests; the members of the same names in later answers must match them.
  let claims: JSONObject

  /// Creates the statement of an answer that is about to be accepted.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - server: The server.
  ///   - user: The user who answers.
  ///   - status: The state of the transaction after the answer.
  ///   - authenticator: The UAF operation, or the mechanism of the app.
  ///   - reason: The reason for a denial by the server; `nil` if the user decided.
  ///   - time: The time when the server accepts it, in seconds since 1970.
  init(
    to transaction: TransactionRecord, at server: ServerURL, by user: UserID,
    _ status: TransactionRecord.State, with authenticator: String, reason: String? = nil, time: Int64
  ) {
    var claims: JSONObject = [
      "version": .integer(Wire.version), "server": .string(server.fullForm),
      "id": .id(transaction.id), "user": .string(user.text), "status": .string(status.rawValue),
      "created": .integer(transaction.created), "expires": .integer(transaction.expires),
      "time": .integer(time), "by": .string(authenticator),
    ]
    claims["reason"] = reason.map { .string($0) }
    self.claims = claims
  }

  private init(claims: JSONObject) { self.claims = claims }

  /// Signs the statement and returns the record to store.
  ///
  /// - Parameters:
  ///   - evidence: The signed data.
  ///   - content: The content of the transaction.
  ///   - key: The server's signing key.
  ///   - sealedKey: The key of an app's answer, encrypted under the master key.
  /// - Throws: ``Problem`` if the server cannot sign.
  /// - Returns: The record; `nil` if the evidence is longer than ``AnswerEvidence/maximumByteCount``.
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
    } catch { throw Problem(.serverFailure, "See the server's log.") }
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

  /// Verifies a statement with the server's key.
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

  /// Returns the first member of the evidence that differs from the statement, or that only one of both has; `nil` for none.
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
