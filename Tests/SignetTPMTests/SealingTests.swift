#if os(Linux)
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault
  import Testing

  @Suite("Sealing in a TPM", .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct SealingTests {
    private let fixture: TPMFixture

    init() throws { fixture = try TPMFixture() }

    @Test("a secret opens again, on this TPM, also after it was switched off")
    func roundTrip() throws {
      let keystore = fixture.keystore
      #expect(keystore.kind == .tpm2)
      let secret = [UInt8](0..<128)
      let blob = try keystore.seal(SecretBytes(copying: secret), context: [1])
      #expect(try keystore.unseal(blob, context: [1]).insecureCopy() == secret)
      fixture.tpm.stop()
      try fixture.tpm.start()
      #expect(try keystore.unseal(blob, context: [1]).insecureCopy() == secret)
      #expect(try fixture.takenPlaces() == 0)
    }

    @Test("signatures of a key made in the TPM verify")
    func signing() throws {
      let key = try fixture.keystore.makeSigningKey(context: [1])
      let message = Array("pay 1".utf8)
      let signature = try fixture.keystore.signature(
        ofDigest: HashFunction.sha256.digest(of: message), with: key.blob, context: [1])
      #expect(key.publicKey.isValidSignature(signature, for: message))
      #expect(!key.publicKey.isValidSignature(signature, for: message + [0]))
    }

    @Test("counter")
    func counter() throws {
      let keystore = fixture.keystore
      let blob = try keystore.makeCounter()
      let first = try keystore.counterValue(blob)
      #expect(try keystore.advanceCounter(blob) == first + 1)
      #expect(try keystore.counterValue(blob) == first + 1)
    }
  }
#endif
