import LibFuzzer
// Signatures in lax DER are for UAF alone.
@testable import SignetCrypto

@main struct FuzzCrypto {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkEncodings(input)
    checkSignatures(input)
    checkCurvePoints(input)
    checkRSA(input)
  }

  private static func checkEncodings(_ input: [UInt8]) {
    if let bytes = accepted({ () throws(EncodingFailure) in try Base64URL.decode(input) }) {
      require(Array(Base64URL.encode(bytes).utf8) == input, "base64url has one text for the same bytes")
      let secret = accepted { () throws(EncodingFailure) in try Base64URL.decodeSecret(input) }
      let isSame = secret?.isEqual(to: SecretBytes(copying: bytes)) == true
      require(isSame, "secrets are decoded alike")
      require(
        Base64URL.decodePadded(String(decoding: input, as: UTF8.self)) == bytes, "padding may be left out")
    }
    if let bytes = accepted({ () throws(EncodingFailure) in try Hex.decode(input) }) {
      let lowered = input.map { (0x41...0x46).contains($0) ? $0 | 0x20 : $0 }
      require(
        Array(Hex.encode(bytes).utf8) == lowered, "hex but for its case has one text for the same bytes")
    }
    if let bytes = Base64URL.decodePadded(String(decoding: input, as: UTF8.self)) {
      require(
        String(decoding: input, as: UTF8.self).hasPrefix(Base64URL.encode(bytes)), "padding comes last")
    }
    let (base64URL, hex) = (Base64URL.encode(input), Hex.encode(input))
    require(made("base64url") { () throws(EncodingFailure) in try Base64URL.decode(base64URL) } == input, "")
    require(made("hex") { () throws(EncodingFailure) in try Hex.decode(hex) } == input, "")
  }

  private static func checkSignatures(_ input: [UInt8]) {
    if let signature = accepted({ () throws(CryptoFailure) in try ECDSASignature(derRepresentation: input) })
    {
      require(signature.derRepresentation == input, "a signature has one DER form")
      require(signature.rawRepresentation.count == 64, "a signature has 64 bytes")
      _ = key.isValidSignature(signature, for: input)
      let loose = accepted { () throws(CryptoFailure) in
        try ECDSASignature(looseDERRepresentation: input)
      }
      require(loose == signature, "what is strict is read alike where less is asked")
    }
    if let signature = accepted({ () throws(CryptoFailure) in
      try ECDSASignature(looseDERRepresentation: input)
    }) {
      require(signature.rawRepresentation.count == 64, "a signature has 64 bytes")
    }
    if let signature = accepted({ () throws(CryptoFailure) in try ECDSASignature(rawRepresentation: input) })
    {
      require(signature.rawRepresentation == input, "a raw signature is kept as it is")
      let der = signature.derRepresentation
      let again = made("a DER form") { () throws(CryptoFailure) in try ECDSASignature(derRepresentation: der)
      }
      require(again == signature, "the DER form keeps the numbers")
      require(!key.isValidSignature(signature, for: Array("another message".utf8)), "nobody signed this")
    }
  }

  private static func checkCurvePoints(_ input: [UInt8]) {
    if let key = accepted({ () throws(CryptoFailure) in try P256.Signing.PublicKey(x963: input) }) {
      require(key.x963Representation == input, "a point has one form")
      let der = key.derRepresentation
      let again = made("a SubjectPublicKeyInfo") { () throws(CryptoFailure) in
        try P256.Signing.PublicKey(der: der)
      }
      require(again == key, "the SubjectPublicKeyInfo keeps the point")
    }
    if let key = accepted({ () throws(CryptoFailure) in try P256.KeyAgreement.PublicKey(der: input) }) {
      require(key.derRepresentation == input, "a SubjectPublicKeyInfo has one form")
      let secret = accepted { () throws(CryptoFailure) in try Self.agreementKey.sharedSecret(with: key) }
      let byteCount = secret?.byteCount
      require(byteCount == 32, "every point that is accepted agrees a secret")
    }
    if let key = accepted({ () throws(CryptoFailure) in try Secp256k1.PublicKey(x963: input) }) {
      require(key.x963Representation == input, "a point has one form")
    }
    if let key = accepted({ () throws(CryptoFailure) in try Secp256k1.PublicKey(der: input) }) {
      require(key.derRepresentation == input, "a SubjectPublicKeyInfo has one form")
    }
  }

  private static func checkRSA(_ input: [UInt8]) {
    if let key = accepted({ () throws(CryptoFailure) in try RSA.PublicKey(pkcs1: input) }) {
      require(key.pkcs1Representation == input, "an RSAPublicKey has one form")
      checkVerification(key, input)
    }
    if let key = accepted({ () throws(CryptoFailure) in try RSA.PublicKey(der: input) }) {
      require(key.derRepresentation == input, "a SubjectPublicKeyInfo has one form")
      checkVerification(key, input)
    }
  }

  private static func checkVerification(_ key: RSA.PublicKey, _ input: [UInt8]) {
    _ = key.isValidSignature(input, for: input, padding: .pkcs1(.sha256))
    _ = key.isValidSignature(Array(key.n.dropFirst() + [0]), for: input, padding: .pkcs1(.sha256))
  }

  private static let key = made("a key") { () throws(CryptoFailure) in
    try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](65...96)))
  }.publicKey
  private static let agreementKey = made("a key") { () throws(CryptoFailure) in
    try P256.KeyAgreement.PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](65...96)))
  }
}
