import SignetCrypto
import SignetJSON

/// ECDH on P-256 (SP 800-56A section 5.7.1.2) and ECDSA with SHA-256 (FIPS 186-5) on P-256 and secp256k1.
let ellipticCurveOperations = [
  Operation(name: "ecdh") { request in
    let bytes = try request.hex("publicHex")
    let publicKey: P256.KeyAgreement.PublicKey =
      switch try request.encoding() {
      case .spki: try P256.KeyAgreement.PublicKey(der: bytes)
      case .point: try P256.KeyAgreement.PublicKey(x963: bytes)
      }
    let privateKey = try P256.KeyAgreement.PrivateKey(rawRepresentation: try request.privateScalar())
    let shared = try privateKey.sharedSecret(with: publicKey)
    return ["sharedHex": .string(Hex.encode(shared.insecureCopy()))]
  },
  Operation(name: "ecdsa-verify") { request in
    let isValid = try request.signatureVerifier()
    let message = try request.hex("messageHex")
    let bytes = try request.hex("signatureHex")
    let form = try request.choice("form", ["der": SignatureForm.der, "raw": .raw], default: .der)
    let signature: ECDSASignature
    do {
      signature =
        switch form {
        case .der: try ECDSASignature(derRepresentation: bytes)
        case .raw: try ECDSASignature(rawRepresentation: bytes)
        }
    } catch {
      return ["valid": false]  // a malformed signature is an invalid one
    }
    return ["valid": .bool(isValid(signature, message))]
  },
]

private enum KeyEncoding { case spki, point }
private enum SignatureForm { case der, raw }
private enum Curve { case p256, secp256k1 }

extension Request {
  fileprivate func encoding() throws -> KeyEncoding {
    _ = try members.string("encoding")
    return try choice("encoding", ["spki": .spki, "point": .point], default: .spki)
  }

  fileprivate func signatureVerifier() throws -> (ECDSASignature, [UInt8]) -> Bool {
    let bytes = try hex("publicHex")
    let curves: [String: Curve] = ["p-256": .p256, "secp256r1": .p256, "secp256k1": .secp256k1]
    switch (try choice("curve", curves, default: .p256), try encoding()) {
    case (.p256, .spki): return try P256.Signing.PublicKey(der: bytes).isValidSignature(_:for:)
    case (.p256, .point): return try P256.Signing.PublicKey(x963: bytes).isValidSignature(_:for:)
    case (.secp256k1, .spki): return try Secp256k1.PublicKey(der: bytes).isValidSignature(_:for:)
    case (.secp256k1, .point): return try Secp256k1.PublicKey(x963: bytes).isValidSignature(_:for:)
    }
  }

  /// Reads a private scalar as 32 bytes: vectors write numbers with and without leading zeros.
  fileprivate func privateScalar() throws -> SecretBytes {
    let bytes = try hex("privateHex").drop { $0 == 0 }
    guard bytes.count <= 32 else { throw CryptoFailure.invalidPrivateKey }
    return SecretBytes(copying: [UInt8](repeating: 0, count: 32 - bytes.count) + bytes)
  }
}
