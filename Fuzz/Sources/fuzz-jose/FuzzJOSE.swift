import LibFuzzer
import SignetCrypto
import SignetJOSE
import SignetJSON

@main struct FuzzJOSE {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    checkJWS(text)
    checkJWE(text)
    // Inside base64url hardly any mutation makes sense, so headers and payloads are also tried unencoded.
    let part = Base64URL.encode(input)
    checkJWS("\(part).e30.\(part)")
    checkJWE("\(part)..AAAAAAAAAAAAAAAA.\(part).AAAAAAAAAAAAAAAAAAAAAA")
    checkClaims(input)
    checkKeys(input)
    checkEncryption(input)
  }

  private static func checkJWS(_ text: String) {
    guard let jws = accepted({ () throws(JOSEFailure) in try JWS(compact: text) }) else { return }
    requireCanonical(text, partCount: 3)
    let algorithms = Set(SignatureAlgorithm.allCases)
    for key in verificationKeys {
      guard
        let verified = accepted({ () throws(JOSEFailure) in try jws.verified(with: key, allowing: algorithms)
        })
      else { continue }
      require(verified.payload == jws.unverifiedPayload, "what was verified is what is given out")
    }
    _ = accepted { () throws(JOSEFailure) in try jws.verified(with: keySet, allowing: algorithms) }
  }

  private static func checkJWE(_ text: String) {
    guard let jwe = accepted({ () throws(JOSEFailure) in try JWE(compact: text) }) else { return }
    requireCanonical(text, partCount: 5)
    for key in decryptionKeys {
      _ = accepted { () throws(JOSEFailure) in
        try jwe.decrypted(
          with: key, allowing: Set(KeyManagementAlgorithm.allCases), Set(ContentEncryptionAlgorithm.allCases))
      }
    }
    checkAgreedSecret(jwe)
  }

  /// A shared secret from elsewhere opens exactly the messages that its key opens.
  private static func checkAgreedSecret(_ jwe: JWE) {
    guard
      let ephemeral = accepted({ () throws(JOSEFailure) in try jwe.ephemeralPublicKey() }),
      let shared = accepted({ () throws(CryptoFailure) in
        SharedSecretBox(try agreementKey.sharedSecret(with: ephemeral))
      })
    else { return }
    let (agreements, contents) = (
      Set(KeyManagementAlgorithm.allCases), Set(ContentEncryptionAlgorithm.allCases)
    )
    let opened = accepted { () throws(JOSEFailure) in
      try shared.withSecret { (secret) throws(JOSEFailure) in
        try jwe.decrypted(withSharedSecret: secret, allowing: agreements, contents).plaintext
      }
    }
    let own = accepted { () throws(JOSEFailure) in
      try jwe.decrypted(with: decryptionKeys[0], allowing: agreements, contents).plaintext
    }
    require(opened == own, "a secret opens what its key opens")
  }

  /// With two texts for the same parts, a copy of a message would pass as another message.
  private static func requireCanonical(_ text: String, partCount: Int) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    require(parts.count == partCount, "the compact serialization has so many parts")
    for part in parts {
      let bytes = accepted { () throws(EncodingFailure) in try Base64URL.decode(String(part)) }
      require(bytes.map(Base64URL.encode) == String(part), "a part has one text")
    }
  }

  private static func checkClaims(_ payload: [UInt8]) {
    let text = made("a JWS") { () throws(JOSEFailure) in try JWS.sign(payload, with: hmac) }
    let jws = made("a JWS is read") { () throws(JOSEFailure) in try JWS(compact: text) }
    let verified = made("a JWS is verified") { () throws(JOSEFailure) in
      try jws.verified(with: verificationKeys[1], allowing: [.hs256])
    }
    require(verified.payload == payload, "signing keeps the payload")
    for now in [0, 1_700_000_000, Int64.max, Int64.min] {
      let claims = accepted { () throws(JOSEFailure) in
        try verified.claims(JWTValidation(issuer: "us", audiences: ["you"], maximumAgeSeconds: 60), now: now)
      }
      require(claims == nil || claims?.issuer == "us", "another issuer is refused")
      _ = accepted { () throws(JOSEFailure) in
        try verified.claims(JWTValidation(requiresExpiry: false), now: now)
      }
    }
  }

  private static func checkKeys(_ input: [UInt8]) {
    if let jwk = accepted({ () throws(JOSEFailure) in try JWK(parsing: input) }) { checkKey(jwk) }
    guard let set = accepted({ () throws(JOSEFailure) in try JWKSet(parsing: input) }) else { return }
    for key in set.keys {
      checkKey(key)
      if let keyID = key.keyID {
        require(set.key(withID: keyID)?.keyID == keyID, "a key is found by its name")
      }
    }
    _ = VerificationKeySet(set).algorithms
  }

  private static func checkKey(_ jwk: JWK) {
    require(jwk.thumbprint.count == 32, "a thumbprint has 32 bytes")
    if let object = accepted({ () throws(JOSEFailure) in try jwk.publicObject() }) {
      require(object["d"] == nil && object["k"] == nil, "nothing private is shown")
      let again = made("a printed key") { () throws(JOSEFailure) in try JWK(object) }
      require(again.thumbprint == jwk.thumbprint, "a printed key is the same key")
    }
    if let key = accepted({ () throws(JOSEFailure) in try SigningKey(jwk) }) {
      _ = accepted { () throws(JOSEFailure) in try JWS.sign([1, 2, 3], with: key) }
    }
    _ = accepted { () throws(JOSEFailure) in try VerificationKey(jwk) }
    _ = accepted { () throws(JOSEFailure) in try DecryptionKey(jwk) }
    _ = accepted { () throws(JOSEFailure) in try EncryptionKey(jwk) }
  }

  /// Encrypts the input; its length selects the algorithms.
  private static func checkEncryption(_ input: [UInt8]) {
    let encryption = ContentEncryptionAlgorithm.allCases[
      input.count % ContentEncryptionAlgorithm.allCases.count]
    let text = made("a JWE") { () throws(JOSEFailure) in
      try JWE.encrypt(input, for: EncryptionKey(agreementKey.publicKey), .ecdhESA256KW, encryption)
    }
    let decrypted = made("a JWE is decrypted") { () throws(JOSEFailure) in
      try JWE(compact: text, maximumByteCount: text.utf8.count).decrypted(
        with: decryptionKeys[0], allowing: [.ecdhESA256KW], [encryption])
    }
    require(decrypted.plaintext == input, "encryption keeps the content")
  }

  // The keys of the seeds, so that accepted inputs can be found again.
  private static func secret(_ count: Int) -> SecretBytes {
    SecretBytes(copying: (1...count).map(UInt8.init))
  }
  private static let signingKey = made("a key") { () throws(CryptoFailure) in
    try P256.Signing.PrivateKey(rawRepresentation: secret(32))
  }
  private static let agreementKey = made("a key") { () throws(CryptoFailure) in
    try P256.KeyAgreement.PrivateKey(rawRepresentation: secret(32))
  }
  private static let hmac = made("a key") { () throws(JOSEFailure) in try SigningKey(hmac: secret(32)) }
  private static let verificationKeys = made("keys") { () throws(JOSEFailure) in
    [VerificationKey(signingKey.publicKey, keyID: "k"), try VerificationKey(hmac: secret(32))]
  }
  private static let keySet = made("keys") { () throws(JOSEFailure) in
    VerificationKeySet(try JWKSet([JWK(signingKey.publicKey, keyID: "k")]))
  }
  private static let decryptionKeys = made("keys") { () throws(JOSEFailure) in
    var keys = [DecryptionKey(agreementKey)]
    for count in [16, 24, 32, 64] { keys.append(try DecryptionKey(SharedSecretBox(secret(count)))) }
    return keys
  }
}
