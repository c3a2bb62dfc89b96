import SignetCrypto
import SignetJOSE
import SignetJSON
import Testing

@Suite struct JWKTests {
  private let point: JSONObject = [
    "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
  ]
  private let otherScalar: JSONValue = "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"

  private func vectors() throws -> JSONObject { try #require(try Vector.file("jwk").object) }

  @Test("RFC 7517 appendix A: sets of keys")
  func readsTheStandardsSets() throws {
    let publicKeys = try JWKSet(vectors().object("publicKeys"))
    #expect(publicKeys.keys.map(\.keyType) == ["EC", "RSA"])
    #expect(publicKeys.keys.map(\.keyID) == ["1", "2011-04-29"])
    #expect(publicKeys.keys.map(\.curve) == ["P-256", nil])
    #expect(publicKeys.keys.first?.use == .encryption)
    #expect(publicKeys.keys.last?.algorithm == "RS256")
    let privateKeys = try JWKSet(vectors().object("privateKeys"))
    guard case .p256(let key, let scalar?) = try #require(privateKeys.keys.first).material else {
      Issue.record("the private EC key was read without its private part")
      return
    }
    let own = try scalar.withSecret { try P256.Signing.PrivateKey(rawRepresentation: $0) }
    #expect(own.publicKey == key)
    let symmetricKeys = try JWKSet(vectors().object("symmetricKeys"))
    #expect(symmetricKeys.keys.map(\.keyID) == [nil, "HMAC key used in JWS A.1 example"])
    #expect(symmetricKeys.key(withID: "HMAC key used in JWS A.1 example")?.keyType == "oct")
    #expect(symmetricKeys.key(withID: "x") == nil)
  }

  @Test("RFC 7638 section 3.1: thumbprint")
  func thumbprint() throws {
    let example = try vectors().object("rfc7638")
    let jwk = try JWK(example.object("key"))
    #expect(try jwk.thumbprint == example.bytes("thumbprint"))
    // The thumbprint ignores the order of members and optional ones.
    let turned = try JWK([
      "y": point.value("y"), "use": "sig", "x": point.value("x"), "crv": "P-256", "kty": "EC",
    ])
    #expect(try turned.thumbprint == JWK(point).thumbprint)
    #expect(try Base64URL.encode(JWK(point).thumbprint) == "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s")
    let secret = try JWK(["kty": "oct", "k": "AyM1SysPpbyDfgZld3umjw"])
    let expected = HashFunction.sha256.digest(of: Array(#"{"k":"AyM1SysPpbyDfgZld3umjw","kty":"oct"}"#.utf8))
    #expect(secret.thumbprint == expected)
  }

  @Test("our own keys are written as public JWKs and read back")
  func roundTrip() throws {
    let key = P256.Signing.PrivateKey().publicKey
    let written = try JWK(key, keyID: "k1").publicObject()
    #expect(written.members.map(\.name) == ["kty", "crv", "x", "y", "use", "alg", "kid"])
    let read = try JWK(parsing: written.bytes)
    guard case .p256(let back, nil) = read.material else { throw JOSEFailure.invalidKey }
    #expect(back == key)
    #expect(read.use == .signature && read.algorithm == "ES256" && read.keyID == "k1")
    let agreement = try JWK(P256.KeyAgreement.PrivateKey().publicKey, algorithm: .ecdhES)
    #expect(agreement.use == .encryption && agreement.algorithm == "ECDH-ES")
    #expect(throws: JOSEFailure.keyNotPermitted) { try VerificationKey(agreement) }
    let secret = try JWK(["kty": "oct", "k": "AyM1SysPpbyDfgZld3umjw"])
    #expect(throws: JOSEFailure.keyNotPermitted) { try secret.publicObject() }
    var withPrivatePart = point
    withPrivatePart["d"] = "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"
    #expect(try !JWK(withPrivatePart).publicObject().contains("d"))
  }

  @Test(
    "invalid members are refused",
    arguments: [
      ("kty", nil, JOSEFailure.malformedKey(.missingMember("kty"))), ("kty", "OKP", .unsupportedKeyType),
      ("kty", "ec", .unsupportedKeyType),
      ("kty", 1, .malformedKey(.wrongType(member: "kty", expected: .string))),
      ("crv", nil, .malformedKey(.missingMember("crv"))), ("crv", "P-384", .unsupportedCurve),
      ("crv", "p-256", .unsupportedCurve), ("crv", "secp256k1", .invalidKey),
      ("x", nil, .malformedKey(.missingMember("x"))), ("y", nil, .malformedKey(.missingMember("y"))),
      ("x", "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D5", .malformedKey(.notBase64URL(member: "x"))),
      ("x", "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D5=", .malformedKey(.notBase64URL(member: "x"))),
      ("x", "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7DA", .invalidKey), ("x", "AA", .invalidKey),
      ("y", "", .invalidKey),
      ("x", "ADCgQkzSHClEg4otdckrN-duog2fAIk6O07uijwKr-w-", .invalidKey),
      ("x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", .invalidKey),
      ("d", "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI", .invalidKey), ("d", "AA", .invalidKey),
      ("d", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", .invalidKey),
      ("d", 1, .malformedKey(.wrongType(member: "d", expected: .string))),
      ("use", "verify", .keyNotPermitted),
      ("use", 1, .malformedKey(.wrongType(member: "use", expected: .string))),
      ("key_ops", "verify", .malformedKey(.wrongType(member: "key_ops", expected: .array))),
      ("key_ops", ["verify", 1], .malformedKey(.wrongType(member: "key_ops", expected: .strings))),
      ("key_ops", ["verify", "verify"], .keyNotPermitted),
      ("kid", 1, .malformedKey(.wrongType(member: "kid", expected: .string))),
      ("alg", 1, .malformedKey(.wrongType(member: "alg", expected: .string))),
    ] as [(String, JSONValue?, JOSEFailure)])
  func refuses(_ name: String, _ value: JSONValue?, _ failure: JOSEFailure) {
    var object = point
    object[name] = value
    #expect(throws: failure) { try JWK(object) }
  }

  @Test("JSON that is not a key is refused")
  func refusesJSON() throws {
    #expect(throws: JOSEFailure.malformedKey(.duplicateMember(offset: 13))) {
      try JWK(parsing: Array(#"{"kty":"oct","kty":"oct","k":"AA"}"#.utf8))
    }
    #expect(throws: JOSEFailure.malformedKey(.notAnObject)) { try JWK(parsing: Array("[]".utf8)) }
    #expect(throws: JOSEFailure.malformedKey(.missingMember("keys"))) {
      try JWKSet(parsing: Array("{}".utf8))
    }
    #expect(throws: JOSEFailure.malformedKey(.wrongType(member: "keys", expected: .object))) {
      try JWKSet(parsing: Array(#"{"keys":[1]}"#.utf8))
    }
    #expect(throws: JOSEFailure.weakKey) { try JWK(["kty": "oct", "k": ""]) }
  }

  @Test("RSA keys that are weak or not written as they should be")
  func refusesRSA() throws {
    let good = try vectors().object("rfc7638").object("key")
    let modulus = try good.bytes("n")
    func changed(n: [UInt8]? = nil, e: String = "AQAB") -> JSONObject {
      ["kty": "RSA", "n": .string(Base64URL.encode(n ?? modulus)), "e": .string(e)]
    }
    _ = try JWK(changed())
    #expect(throws: JOSEFailure.weakKey) { try JWK(changed(n: Array(modulus.dropLast(128)))) }
    #expect(throws: JOSEFailure.weakKey) { try JWK(changed(n: modulus.dropLast() + [0])) }
    #expect(throws: JOSEFailure.weakKey) { try JWK(changed(n: [UInt8](repeating: 0xFF, count: 1025))) }
    #expect(throws: JOSEFailure.invalidKey) { try JWK(changed(n: [0] + modulus)) }
    #expect(throws: JOSEFailure.invalidKey) { try JWK(changed(n: [])) }
    #expect(throws: JOSEFailure.invalidKey) { try JWK(changed(e: "AAEAAQ")) }
    #expect(throws: JOSEFailure.weakKey) { try JWK(changed(e: "AQ")) }
    #expect(throws: JOSEFailure.weakKey) { try JWK(changed(e: "Ag")) }
    // Powers of 65537 modulo every small prime: 65537 to the 130th, a number of 2081 bits.
    #expect(throws: JOSEFailure.weakKey) { try JWK(changed(n: Self.power(of: [1, 0, 1], exponent: 130))) }
  }

  /// A product of big-endian numbers, by long multiplication.
  private static func power(of base: [UInt8], exponent: Int) -> [UInt8] {
    var digits: [Int] = [1]  // little-endian
    for _ in 0..<exponent {
      var product = [Int](repeating: 0, count: digits.count + base.count)
      for (i, digit) in digits.enumerated() {
        for (j, factor) in base.reversed().enumerated() { product[i + j] += digit * Int(factor) }
      }
      for index in product.indices.dropLast() {
        product[index + 1] += product[index] >> 8
        product[index] &= 0xFF
      }
      while product.last == 0 { product.removeLast() }
      digits = product
    }
    return digits.reversed().map(UInt8.init)
  }

  @Test("use, key_ops and alg are honoured")
  func permissions() throws {
    func ec(_ name: String, _ value: JSONValue, private isPrivate: Bool = true) throws -> JWK {
      var object = point
      if isPrivate { object["d"] = "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE" }
      object[name] = value
      return try JWK(object)
    }
    for (name, value) in [
      ("use", "enc"), ("key_ops", ["sign"]), ("alg", "ES512"), ("alg", "ECDH-ES"), ("key_ops", []),
    ]
      as [(String, JSONValue)]
    {
      let jwk = try ec(name, value)
      #expect(throws: JOSEFailure.keyNotPermitted) { try VerificationKey(jwk) }
    }
    for (name, value) in [("use", "sig"), ("alg", "ES256"), ("alg", "A256KW"), ("key_ops", ["verify"])]
      as [(String, JSONValue)]
    {
      let jwk = try ec(name, value)
      #expect(throws: JOSEFailure.keyNotPermitted) { try DecryptionKey(jwk) }
      #expect(throws: JOSEFailure.keyNotPermitted) { try EncryptionKey(jwk) }
    }
    #expect(throws: JOSEFailure.keyNotPermitted) { try SigningKey(ec("key_ops", ["verify"])) }
    #expect(throws: JOSEFailure.privateKeyMissing) { try SigningKey(JWK(point)) }
    #expect(throws: JOSEFailure.privateKeyMissing) { try DecryptionKey(JWK(point)) }
    #expect(try VerificationKey(ec("key_ops", ["sign", "verify"])).algorithms == [.es256])
    #expect(try DecryptionKey(ec("key_ops", ["deriveBits"])).keyAlgorithms.count == 4)
    #expect(try EncryptionKey(ec("key_ops", [])).keyAlgorithms.count == 4)
    #expect(try DecryptionKey(ec("alg", "ECDH-ES")).keyAlgorithms == [.ecdhES])
    let rsa = try JWK(vectors().object("rfc7638").object("key"))
    #expect(try VerificationKey(rsa).algorithms == [.rs256])
    #expect(throws: JOSEFailure.keyNotPermitted) { try EncryptionKey(rsa) }
    #expect(throws: JOSEFailure.keyNotPermitted) { try DecryptionKey(rsa) }
    #expect(throws: JOSEFailure.keyNotPermitted) { try SigningKey(rsa) }
  }

  @Test("a shared key permits what its length and alg permit")
  func symmetricPermissions() throws {
    func oct(_ byteCount: Int, _ algorithm: String?) throws -> JWK {
      var object: JSONObject = [
        "kty": "oct", "k": .string(Base64URL.encode([UInt8](repeating: 5, count: byteCount))),
      ]
      if let algorithm { object["alg"] = .string(algorithm) }
      return try JWK(object)
    }
    #expect(try VerificationKey(oct(32, nil)).algorithms == [.hs256])
    #expect(try VerificationKey(oct(64, nil)).algorithms == [.hs256, .hs384, .hs512])
    #expect(try VerificationKey(oct(64, "HS384")).algorithms == [.hs384])
    #expect(try SigningKey(oct(64, nil)).algorithm == .hs256)
    #expect(try SigningKey(oct(64, "HS512")).algorithm == .hs512)
    #expect(throws: JOSEFailure.weakKey) { try VerificationKey(oct(31, nil)) }
    #expect(throws: JOSEFailure.weakKey) { try VerificationKey(oct(32, "HS512")) }
    #expect(throws: JOSEFailure.keyNotPermitted) { try VerificationKey(oct(32, "A256GCM")) }
    #expect(try DecryptionKey(oct(16, nil)).keyAlgorithms == [.a128KW, .direct])
    #expect(try DecryptionKey(oct(16, nil)).contentAlgorithms == [.a128GCM])
    #expect(try DecryptionKey(oct(32, nil)).contentAlgorithms == [.a256GCM, .a128CBCHS256])
    #expect(try DecryptionKey(oct(24, nil)).keyAlgorithms == [.a192KW])
    #expect(try DecryptionKey(oct(64, nil)).keyAlgorithms == [.direct])
    #expect(try DecryptionKey(oct(32, "dir")).keyAlgorithms == [.direct])
    #expect(try DecryptionKey(oct(32, "A256GCM")).contentAlgorithms == [.a256GCM])
    #expect(try EncryptionKey(oct(32, "A256KW")).keyAlgorithms == [.a256KW])
    for (count, algorithm) in [
      (15, nil), (16, "A256KW"), (32, "HS256"), (16, "A256GCM"), (17, "dir"), (32, "ECDH-ES"),
    ] {
      #expect(throws: JOSEFailure.keyNotPermitted) { try DecryptionKey(oct(count, algorithm)) }
    }
  }

  @Test("sets refuse repeated names and mixed kinds, and skip unknown keys")
  func sets() throws {
    let one = JWK(P256.Signing.PrivateKey().publicKey, keyID: "a")
    #expect(throws: JOSEFailure.duplicateKeyID) { try JWKSet([one, one]) }
    let secret = try JWK(["kty": "oct", "k": "AyM1SysPpbyDfgZld3umjw"])
    #expect(throws: JOSEFailure.mixedKeySet) { try JWKSet([one, secret]) }
    let good = JSONValue.object(try one.publicObject())
    let unknown: JSONValue = ["kty": "OKP", "crv": "Ed25519", "kid": "z", "x": "AA"]
    let broken: JSONValue = ["kty": "EC", "crv": "P-256", "kid": "y", "x": "AA", "y": "AA"]
    let set = try JWKSet(["keys": .array([unknown, good, broken])])
    #expect(set.keys.map(\.keyID) == ["a"])
    let repeated: JSONValue = ["kty": "OKP", "kid": "a"]
    #expect(throws: JOSEFailure.duplicateKeyID) { try JWKSet(["keys": .array([good, repeated])]) }
    let empty = VerificationKeySet(try JWKSet(["keys": []]))
    #expect(empty.algorithms.isEmpty)
  }
}
