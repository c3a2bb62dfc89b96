import SignetCrypto
import Testing

@Suite struct Secp256k1Tests {
  /// The generator of the curve (SEC 2 section 2.4.1).
  static let generator =
    "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"

  @Test func decodesPoints() throws {
    let point = try bytes(Self.generator)
    let key = try Secp256k1.PublicKey(x963: point)
    #expect(key.x963Representation == point)
    #expect(key.derRepresentation.count == 88)
    #expect(try Secp256k1.PublicKey(der: key.derRepresentation) == key)
    #expect(Set([key, try Secp256k1.PublicKey(x963: point)]).count == 1)
  }

  @Test func refusesWhatIsNoPointOfThisCurve() throws {
    let point = try bytes(Self.generator)
    var offCurve = point
    offCurve[64] ^= 1
    let p256 = P256.Signing.PrivateKey().publicKey
    let refused: [[UInt8]] = [
      offCurve, p256.x963Representation, [0x02] + point[1...32], [0x06] + point[1...], [0x00], [],
      Array(point.dropLast()), point + [0],
    ]
    for encoding in refused {
      #expect(throws: CryptoFailure.invalidPoint) { try Secp256k1.PublicKey(x963: encoding) }
    }
    #expect(throws: CryptoFailure.invalidPublicKeyEncoding) {
      try Secp256k1.PublicKey(der: p256.derRepresentation)
    }
  }

  @Test("signatures of the command line", .enabled(if: OpenSSLCommand.isWanted))
  func verifiesForeignSignatures() throws {
    try OpenSSLCommand.withFolder { openssl in
      try openssl.run("ecparam", "-name", "secp256k1", "-genkey", "-noout", "-out", "key.pem")
      try openssl.run("ec", "-in", "key.pem", "-pubout", "-outform", "DER", "-out", "key.der")
      let key = try Secp256k1.PublicKey(der: openssl.read("key.der"))
      for message in [[], [1], [UInt8](repeating: 7, count: 1000)] as [[UInt8]] {
        try openssl.write("message", message)
        try openssl.run("dgst", "-sha256", "-sign", "key.pem", "-out", "signature", "message")
        let signature = try ECDSASignature(derRepresentation: openssl.read("signature"))
        #expect(key.isValidSignature(signature, for: message))
        #expect(!key.isValidSignature(signature, for: message + [0]))
        var changed = signature.rawRepresentation
        changed[0] ^= 1
        #expect(!key.isValidSignature(try ECDSASignature(rawRepresentation: changed), for: message))
      }
    }
  }
}
