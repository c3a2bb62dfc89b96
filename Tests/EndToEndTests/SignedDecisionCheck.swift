import SignetCrypto
import SignetJSON
import Testing

/// Verifies a relying party's answer by `docs/protocol.md` section 7, without the SDK.
enum SignedDecisionCheck {
  /// Returns the payload of a decision after verifying its signature.
  static func payload(of transaction: JSONObject) throws -> JSONObject {
    let decision = try transaction.object("decision")
    let parts = try decision.string("jws").split(separator: ".", omittingEmptySubsequences: false)
    try #require(parts.count == 3)
    let jwk = try decision.object("publicKey")
    let point = [0x04] + (try Base64URL.decode(jwk.string("x"))) + (try Base64URL.decode(jwk.string("y")))
    let key = try P256.Signing.PublicKey(x963: point)
    let signature = try ECDSASignature(rawRepresentation: Base64URL.decode(String(parts[2])))
    try #require(key.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
    return try JSONObject(parsing: Base64URL.decode(String(parts[1])))
  }

  /// Expects that the user of a transaction accepted its text, with a valid signature.
  static func expectAccepted(_ transaction: JSONObject, _ comment: Comment = "") throws {
    #expect(try transaction.string("status") == "accepted", comment)
    let payload = try payload(of: transaction)
    #expect(try payload.string("status") == "accepted", comment)
    #expect(try payload.string("transaction") == transaction.string("id"), comment)
    #expect(try payload.string("content") == transaction.string("content"), comment)
    #expect(try payload.string("user") == transaction.string("user"), comment)
    #expect(try payload.integer("expires") == transaction.integer("expires"), comment)
  }
}
