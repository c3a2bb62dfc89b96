import SignetCrypto
import Testing

@Suite(.timeLimit(.minutes(10))) struct P256SigningTests {
  @Test(
    "RFC 6979 appendix A.2.5: the signatures of the standard's key",
    arguments: [
      (
        "sample",
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
      ),
      (
        "test",
        "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"
      ),
    ])
  func matchesTheStandard(_ message: String, _ raw: String) throws {
    let privateKey = try P256.Signing.PrivateKey(
      rawRepresentation: secret("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"))
    let publicKey = try P256.Signing.PublicKey(
      x: bytes("60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"),
      y: bytes("7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"))
    #expect(privateKey.publicKey == publicKey)
    let signature = try ECDSASignature(rawRepresentation: bytes(raw))
    #expect(publicKey.isValidSignature(signature, for: ascii(message)))
    #expect(!publicKey.isValidSignature(signature, for: ascii(message + ".")))
  }

  @Test func signsWhatItVerifies() throws {
    let key = P256.Signing.PrivateKey()
    let signature = try key.signature(for: [1, 2, 3])
    #expect(key.publicKey.isValidSignature(signature, for: [1, 2, 3]))
    #expect(!key.publicKey.isValidSignature(signature, for: []))
    #expect(!P256.Signing.PrivateKey().publicKey.isValidSignature(signature, for: [1, 2, 3]))
    var changed = signature.rawRepresentation
    changed[40] ^= 1
    #expect(!key.publicKey.isValidSignature(try ECDSASignature(rawRepresentation: changed), for: [1, 2, 3]))
    let empty = try key.signature(for: [])
    #expect(key.publicKey.isValidSignature(empty, for: []))
  }

  @Test("numbers that are zero, the order or more are never valid")
  func refusesNumbersOutOfRange() throws {
    let key = P256.Signing.PrivateKey().publicKey
    let order = try bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    let (zero, one) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 31) + [1])
    for (r, s) in [(zero, zero), (zero, one), (one, zero), (order, one), (one, order), (order, order)] {
      #expect(!key.isValidSignature(try ECDSASignature(rawRepresentation: r + s), for: []))
    }
  }

  @Test("50 tasks share one key")
  func manyTasks() async throws {
    let key = P256.Signing.PrivateKey()
    let signature = try key.signature(for: [5])
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          let own = try key.signature(for: [UInt8(number)])
          return key.publicKey.isValidSignature(signature, for: [5])
            && key.publicKey.isValidSignature(own, for: [UInt8(number)])
            && !key.publicKey.isValidSignature(own, for: [UInt8(number), 0])
        }
      }
      for try await right in group { #expect(right) }
    }
  }

  @Test(
    "OpenSSL's command line verifies our signatures, and we verify its signatures",
    .enabled(if: OpenSSLCommand.isWanted))
  func agreesWithTheCommandLine() throws {
    try OpenSSLCommand.withFolder { openssl in
      let key = P256.Signing.PrivateKey()
      try openssl.write("key.pem", ascii(key.publicKey.pemRepresentation))
      try openssl.write("message", [1, 2, 3])
      try openssl.write("signature", key.signature(for: [1, 2, 3]).derRepresentation)
      try openssl.run("dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "message")

      try openssl.run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "other.pem")
      try openssl.run("ec", "-in", "other.pem", "-pubout", "-outform", "DER", "-out", "other.der")
      try openssl.run("dgst", "-sha256", "-sign", "other.pem", "-out", "theirs", "message")
      let other = try P256.Signing.PublicKey(der: openssl.read("other.der"))
      let signature = try ECDSASignature(derRepresentation: openssl.read("theirs"))
      #expect(other.isValidSignature(signature, for: [1, 2, 3]))
      #expect(!other.isValidSignature(signature, for: [1, 2]))
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct P256KeyAgreementTests {
  @Test("RFC 5903 section 8.1")
  func matchesTheStandard() throws {
    let initiator = try P256.KeyAgreement.PrivateKey(
      rawRepresentation: secret("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433"))
    let responder = try P256.KeyAgreement.PrivateKey(
      rawRepresentation: secret("c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53"))
    #expect(
      Hex.encode(initiator.publicKey.x) == "dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180")
    #expect(
      Hex.encode(responder.publicKey.y) == "56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab")
    let expected = "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de"
    #expect(try Hex.encode(initiator.sharedSecret(with: responder.publicKey).insecureCopy()) == expected)
    #expect(try Hex.encode(responder.sharedSecret(with: initiator.publicKey).insecureCopy()) == expected)
  }

  /// Refused points between valid ones change nothing of these.
  @Test("points decoded concurrently are not mixed up")
  func pointsAreNotMixedUp() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let own = P256.KeyAgreement.PrivateKey()
          return try (0..<50).allSatisfy { _ in
            let peer = P256.KeyAgreement.PrivateKey()
            var outside = peer.publicKey.x963Representation
            outside[64] ^= 1
            let isRefused = #expect(throws: CryptoFailure.invalidPoint) {
              try P256.KeyAgreement.PublicKey(x963: outside)
            }
            let decoded = try P256.KeyAgreement.PublicKey(x963: peer.publicKey.x963Representation)
            let ours = try own.sharedSecret(with: decoded)
            let theirs = try peer.sharedSecret(with: own.publicKey)
            return isRefused != nil && ours.isEqual(to: theirs)
          }
        }
      }
      for try await agree in group { #expect(agree) }
    }
  }

  @Test("50 tasks share one key")
  func manyTasks() async throws {
    let key = P256.KeyAgreement.PrivateKey()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 {
        group.addTask {
          let other = P256.KeyAgreement.PrivateKey()
          let ours = try key.sharedSecret(with: other.publicKey)
          let theirs = try other.sharedSecret(with: key.publicKey)
          return ours.isEqual(to: theirs) && ours.byteCount == 32
        }
      }
      for try await agreed in group { #expect(agreed) }
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct P256KeyTests {
  static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

  @Test func keysSurviveTheirEncodings() throws {
    let key = P256.Signing.PrivateKey()
    let again = try P256.Signing.PrivateKey(rawRepresentation: key.rawRepresentation)
    #expect(again.publicKey == key.publicKey)
    let publicKey = key.publicKey
    #expect(try P256.Signing.PublicKey(x963: publicKey.x963Representation) == publicKey)
    #expect(try P256.Signing.PublicKey(der: publicKey.derRepresentation) == publicKey)
    #expect(try P256.Signing.PublicKey(x: publicKey.x, y: publicKey.y) == publicKey)
    #expect(publicKey.x963Representation.count == 65)
    #expect(publicKey.derRepresentation.count == 91)
    #expect(publicKey.pemRepresentation.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
    #expect(Set([publicKey, again.publicKey, P256.Signing.PrivateKey().publicKey]).count == 2)
  }

  @Test("scalars from 1 to order - 1 are keys; 0, the order and above are refused")
  func scalarBounds() throws {
    let one = try P256.Signing.PrivateKey(
      rawRepresentation: SecretBytes(copying: [UInt8](repeating: 0, count: 31) + [1]))
    #expect(
      Hex.encode(one.publicKey.x) == "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    #expect(one.rawRepresentation.insecureCopy() == [UInt8](repeating: 0, count: 31) + [1])
    var last = try bytes(Self.order)
    last[31] -= 1
    let greatest = try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: last))
    #expect(greatest.publicKey.x == one.publicKey.x)
    #expect(greatest.publicKey.y != one.publicKey.y)
    let refused = try [
      [UInt8](repeating: 0, count: 32), bytes(Self.order), [UInt8](repeating: 0xFF, count: 32),
      [UInt8](repeating: 1, count: 31), [UInt8](repeating: 1, count: 33), [],
    ]
    for scalar in refused {
      #expect(throws: CryptoFailure.invalidPrivateKey) {
        try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: scalar))
      }
      #expect(throws: CryptoFailure.invalidPrivateKey) {
        try P256.KeyAgreement.PrivateKey(rawRepresentation: SecretBytes(copying: scalar))
      }
    }
  }

  @Test func refusesWhatIsNoPoint() throws {
    let point = P256.Signing.PrivateKey().publicKey.x963Representation
    var offCurve = point
    offCurve[64] ^= 1
    let prime = try bytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    let compressed = [0x02 + point[64] & 1] + point[1...32]
    let hybrid = [0x06 + point[64] & 1] + point[1...]
    let refused: [[UInt8]] = [
      offCurve, compressed, hybrid, [0x00], [UInt8](repeating: 0, count: 65), [],
      [0x04] + [UInt8](repeating: 0, count: 64), Array(point.dropLast()), point + [0],
      [0x04] + prime + point[33...], [0x04] + [UInt8](repeating: 0xFF, count: 64), [0x05] + point[1...],
    ]
    for encoding in refused {
      #expect(throws: CryptoFailure.invalidPoint) { try P256.Signing.PublicKey(x963: encoding) }
      #expect(throws: CryptoFailure.invalidPoint) { try P256.KeyAgreement.PublicKey(x963: encoding) }
    }
    for (x, y) in [(31, 32), (32, 31), (33, 31), (0, 64)] {
      #expect(throws: CryptoFailure.invalidPoint) {
        try P256.Signing.PublicKey(
          x: [UInt8](repeating: 1, count: x), y: [UInt8](repeating: 1, count: y))
      }
    }
    // A coordinate increased by the prime names the same point, which has only one encoding.
    let small = try P256.Signing.PublicKey(
      x: [UInt8](repeating: 0, count: 32),
      y: bytes("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4"))
    #expect(throws: CryptoFailure.invalidPoint) { try P256.Signing.PublicKey(x: prime, y: small.y) }
  }

  @Test func refusesLooseSubjectPublicKeyInfo() throws {
    let der = P256.Signing.PrivateKey().publicKey.derRepresentation
    for index in 0..<26 {  // every byte before the point
      var changed = der
      changed[index] ^= 1
      #expect(throws: CryptoFailure.invalidPublicKeyEncoding) { try P256.Signing.PublicKey(der: changed) }
    }
    for refused in [[], Array(der.dropLast()), der + [0], [0x30, 0x81, 0x59] + der[2...]] {
      #expect(throws: CryptoFailure.invalidPublicKeyEncoding) { try P256.Signing.PublicKey(der: refused) }
    }
    var offCurve = der
    offCurve[90] ^= 1
    #expect(throws: CryptoFailure.invalidPoint) { try P256.Signing.PublicKey(der: offCurve) }
  }

  @Test("key formats of other tools are refused", .enabled(if: OpenSSLCommand.isWanted))
  func refusesForeignForms() throws {
    try OpenSSLCommand.withFolder { openssl in
      for (name, curve, options) in [
        ("explicit", "prime256v1", ["-param_enc", "explicit"]),
        ("compressed", "prime256v1", ["-conv_form", "compressed"]),
        ("hybrid", "prime256v1", ["-conv_form", "hybrid"]),
        ("k1", "secp256k1", []), ("p384", "secp384r1", []),
      ] {
        try openssl.run("ecparam", "-name", curve, "-genkey", "-noout", "-out", "key.pem")
        var arguments = ["ec", "-in", "key.pem", "-pubout", "-outform", "DER", "-out", name]
        arguments += options
        try openssl.run(arguments)
        let der = try openssl.read(name)
        // The hybrid form differs only in the first byte of the point.
        let failure = name == "hybrid" ? CryptoFailure.invalidPoint : .invalidPublicKeyEncoding
        #expect(throws: failure, "\(name)") { try P256.Signing.PublicKey(der: der) }
      }
    }
  }
}
