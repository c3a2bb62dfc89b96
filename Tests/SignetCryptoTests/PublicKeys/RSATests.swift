import SignetCrypto
import Testing

@Suite struct RSATests {
  /// An odd number of `bits` bits, which passes as a modulus.
  private func modulus(bits: Int) -> [UInt8] {
    [UInt8](repeating: 0xFF, count: bits / 8)
  }

  @Test("moduli from 2048 to 8192 bits, odd")
  func modulusBounds() throws {
    #expect(try RSA.PublicKey(n: modulus(bits: 2048), e: [1, 0, 1]).n.count == 256)
    #expect(try RSA.PublicKey(n: [0, 0] + modulus(bits: 8192), e: [0, 1, 0, 1]).n.count == 1024)
    #expect(try RSA.PublicKey(n: modulus(bits: 2048), e: [0, 1, 0, 1]).e == [1, 0, 1])
    #expect(throws: CryptoFailure.rsaModulus(bits: 1024)) {
      try RSA.PublicKey(n: modulus(bits: 1024), e: [1, 0, 1])
    }
    #expect(throws: CryptoFailure.rsaModulus(bits: 2047)) {
      try RSA.PublicKey(n: [0x7F] + modulus(bits: 2040), e: [1, 0, 1])
    }
    #expect(throws: CryptoFailure.rsaModulus(bits: 8200)) {
      try RSA.PublicKey(n: modulus(bits: 8200), e: [1, 0, 1])
    }
    #expect(throws: CryptoFailure.rsaModulus(bits: 2048)) {
      try RSA.PublicKey(n: modulus(bits: 2040) + [0xFE], e: [1, 0, 1])
    }
    #expect(throws: CryptoFailure.rsaModulus(bits: 0)) { try RSA.PublicKey(n: [], e: [1, 0, 1]) }
  }

  @Test(
    "invalid exponents are refused",
    arguments: [[], [0], [1], [2], [4], [1, 0, 0], [1, 0, 0, 0, 1]] as [[UInt8]])
  func refusesExponents(_ exponent: [UInt8]) {
    #expect(throws: CryptoFailure.rsaExponent) {
      try RSA.PublicKey(n: modulus(bits: 2048), e: exponent)
    }
  }

  @Test func encodesStrictly() throws {
    let key = try RSA.PublicKey(n: modulus(bits: 2048), e: [1, 0, 1])
    #expect(try RSA.PublicKey(der: key.derRepresentation) == key)
    #expect(try RSA.PublicKey(pkcs1: key.pkcs1Representation) == key)
    let inner = key.pkcs1Representation
    let refused: [[UInt8]] = [
      [], inner + [0], Array(inner.dropLast()), [0x31] + inner[1...], [0x30, 0x80] + inner[4...] + [0, 0],
      key.derRepresentation,
    ]
    for encoding in refused {
      #expect(throws: CryptoFailure.invalidPublicKeyEncoding) { try RSA.PublicKey(pkcs1: encoding) }
    }
    let outer = key.derRepresentation
    for index in 0..<28 {  // everything before the modulus
      var changed = outer
      changed[index] ^= 0x40
      #expect(throws: CryptoFailure.self) { try RSA.PublicKey(der: changed) }
    }
    for encoding in [inner, outer + [0], Array(outer.dropLast()), []] {
      #expect(throws: CryptoFailure.invalidPublicKeyEncoding) { try RSA.PublicKey(der: encoding) }
    }
  }

  @Test("signatures of the command line", .enabled(if: OpenSSLCommand.isWanted))
  func verifiesForeignSignatures() throws {
    try OpenSSLCommand.withFolder { openssl in
      try openssl.run(
        "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "key.pem")
      try openssl.run("rsa", "-in", "key.pem", "-pubout", "-outform", "DER", "-out", "spki.der")
      try openssl.run("rsa", "-in", "key.pem", "-RSAPublicKey_out", "-outform", "DER", "-out", "pkcs1.der")
      let key = try RSA.PublicKey(der: openssl.read("spki.der"))
      #expect(try RSA.PublicKey(pkcs1: openssl.read("pkcs1.der")) == key)
      #expect(try key.derRepresentation == openssl.read("spki.der"))
      #expect(try key.pkcs1Representation == openssl.read("pkcs1.der"))
      #expect(try RSA.PublicKey(n: key.n, e: key.e) == key)
      let message: [UInt8] = [1, 2, 3]
      try openssl.write("message", message)
      for (name, hash) in [("sha256", HashFunction.sha256), ("sha384", .sha384), ("sha512", .sha512)] {
        try openssl.run("dgst", "-\(name)", "-sign", "key.pem", "-out", "pkcs1", "message")
        try openssl.run(
          "dgst", "-\(name)", "-sign", "key.pem", "-sigopt", "rsa_padding_mode:pss", "-sigopt",
          "rsa_pss_saltlen:32", "-out", "pss", "message")
        let (plain, salted) = (try openssl.read("pkcs1"), try openssl.read("pss"))
        let pss = RSA.Padding.pss(hash, saltLength: 32)
        #expect(key.isValidSignature(plain, for: message, padding: .pkcs1(hash)))
        #expect(key.isValidSignature(salted, for: message, padding: pss))
        #expect(!key.isValidSignature(plain, for: message, padding: pss))
        #expect(!key.isValidSignature(salted, for: message, padding: .pkcs1(hash)))
        #expect(!key.isValidSignature(salted, for: message, padding: .pss(hash, saltLength: 20)))
        #expect(!key.isValidSignature(salted, for: message, padding: .pss(hash, saltLength: -1)))
        #expect(!key.isValidSignature(salted, for: message, padding: .pss(hash, saltLength: .max)))
        #expect(!key.isValidSignature(salted, for: message, padding: .pss(.sha1, saltLength: 32)))
        for padding in [RSA.Padding.pkcs1(hash), pss] {
          let signature = padding == pss ? salted : plain
          var changed = signature
          changed[100] ^= 1
          #expect(!key.isValidSignature(changed, for: message, padding: padding))
          #expect(!key.isValidSignature(signature, for: message + [0], padding: padding))
          #expect(!key.isValidSignature([0] + signature, for: message, padding: padding))
          #expect(!key.isValidSignature(Array(signature.dropLast()), for: message, padding: padding))
          #expect(!key.isValidSignature([], for: message, padding: padding))
          #expect(
            !key.isValidSignature([UInt8](repeating: 0xFF, count: 256), for: message, padding: padding))
        }
      }
      try openssl.run("dgst", "-sha1", "-sign", "key.pem", "-out", "sha1", "message")
      #expect(!key.isValidSignature(try openssl.read("sha1"), for: message, padding: .pkcs1(.sha1)))
    }
  }
}
