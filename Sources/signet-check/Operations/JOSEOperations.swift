import SignetCrypto
import SignetJOSE
import SignetJSON

/// JOSE (RFC 7515 to 7518 and RFC 7638).
let joseOperations = [
  Operation(name: "jwk") { request in
    let jwk = try JWK(try request.object("jwk"))
    var result: JSONObject = ["kty": .string(jwk.keyType)]
    if let curve = jwk.curve { result["crv"] = .string(curve) }
    result["thumbprintB64"] = .string(Base64URL.encode(jwk.thumbprint))
    return result
  },
  Operation(name: "jws-verify") { request in
    let jws = try JWS(compact: try request.string("jws"), maximumByteCount: LineReader.limit)
    let allowed: Set<SignatureAlgorithm>? = try request.algorithms("algorithms")
    let object = try request.object("jwk")
    let verified: VerifiedJWS
    if object.contains("keys") {
      let keys = VerificationKeySet(try JWKSet(object))
      verified = try jws.verified(with: keys, allowing: allowed ?? keys.algorithms)
    } else {
      let key = try VerificationKey(try JWK(object))
      verified = try jws.verified(with: key, allowing: allowed ?? key.algorithms)
    }
    return [
      "payloadB64": .string(Base64URL.encode(verified.payload)),
      "header": .object(verified.header.parameters),
    ]
  },
  Operation(name: "jwe-decrypt") { request in
    let jwe = try JWE(compact: try request.string("jwe"), maximumByteCount: LineReader.limit)
    let object = try request.object("jwk")
    let key = try DecryptionKey(
      object.contains("keys") ? try JWKSet(object).only(keyID: jwe.header.keyID) : try JWK(object))
    let decrypted = try jwe.decrypted(
      with: key, allowing: try request.algorithms("keyAlgorithms") ?? Set(KeyManagementAlgorithm.allCases),
      try request.algorithms("contentAlgorithms") ?? Set(ContentEncryptionAlgorithm.allCases))
    return [
      "plaintextB64": .string(Base64URL.encode(decrypted.plaintext)),
      "header": .object(decrypted.header.parameters),
    ]
  },
]

extension JWKSet {
  /// Returns the key that the header names, or the only key of the set.
  fileprivate func only(keyID: String?) throws -> JWK {
    let fitting = keyID.map { name in keys.filter { $0.keyID == name } } ?? keys
    guard let key = fitting.first, fitting.count == 1 else { throw JOSEFailure.keyNotFound }
    return key
  }
}
