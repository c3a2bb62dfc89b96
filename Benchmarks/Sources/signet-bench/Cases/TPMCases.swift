#if os(Linux)
  import CTPM2
  import SignetCrypto
  @testable import SignetTPM
  @testable import SignetTesting
  import SignetVault

  extension Bench {
    /// Opening a secret in a TPM through the keystore, beside the bare operations of the TPM on the same swtpm.
    ///
    /// The keystore connects, makes the storage key, agrees on a session key, loads, unseals and flushes; bare is loading,
    /// unsealing and flushing over one connection, with the key there and nothing encrypted.
    func tpm(_ report: inout Report) async throws {
      guard SimulatedTPM.isInstalled else {
        return report.note(
          "swtpm is not installed, and the TPM is left out: Scripts/setup bench installs it.")
      }
      let simulator = try SimulatedTPM()
      let keystore = TPMKeystore(try TPMAddress(simulator.address))
      let secret = SecretBytes.random(byteCount: 32)
      let blob = try keystore.seal(secret, context: [1])
      let guess = SecretBytes.random(byteCount: 32)
      let limited = try keystore.seal(secret, context: [1], authorization: guess, limit: 5)
      let counter = try keystore.makeCounter()

      let bare = try bareUnsealing(of: blob, keystore.address)
      let creation = try times { () throws(KeystoreFailure) in
        try keystore.converse { (conversation) throws(TPMFailure) in _ = try conversation.parent() }
      }
      let unsealing = try times { () throws(KeystoreFailure) in
        _ = try keystore.unseal(blob, context: [1])
      }
      let guessing = try times { () throws(KeystoreFailure) in
        _ = try keystore.unseal(limited, context: [1], authorization: guess)
      }
      let counting = try times { () throws(KeystoreFailure) in _ = try keystore.advanceCounter(counter) }
      let beside = "TPM2_Load, TPM2_Unseal, TPM2_FlushContext bare: p50 \(bare.median.formatted()) ms"
      let storageKey = "of it connecting and making the storage key: p50 \(creation.median.formatted()) ms"
      report.add([
        Measurement(
          name: "TPM unseal (swtpm), p50", value: unsealing.median, unit: "ms", comparedWith: beside,
          ratio: bare.median / unsealing.median),
        Measurement(
          name: "TPM unseal with a guess limit (swtpm), p50", value: guessing.median, unit: "ms",
          comparedWith: storageKey, ratio: bare.median / guessing.median),
        Measurement(name: "TPM counter advanced (swtpm), p50", value: counting.median, unit: "ms"),
      ])
    }

    private func times(_ body: () throws(KeystoreFailure) -> Void) throws -> Samples {
      Samples(
        nanoseconds: try (0..<options.times(200)).map { _ in
          let start = Clocks.wall
          try body()
          return Clocks.wall - start
        })
    }

    private func bareUnsealing(of blob: [UInt8], _ address: TPMAddress) throws -> Samples {
      guard case .sealed(let object) = TPMBlob(blob) else { throw KeystoreFailure.refused }
      let conversation = try Conversation(try TPMKeystore.link(to: address))
      let parent = try conversation.parent()
      let authorization = AuthorizationValues.ofContext([1], "signet tpm sealed v1")
      var template = ObjectTemplate.sealedData(unique: object.unique)
      var privatePart = TPM2B_PRIVATE()
      privatePart.size = fill(&privatePart.buffer, object.privatePart)
      let password: ESYS_TR = 0xFF
      let none = Conversation.none
      let times = try (0..<options.times(200)).map { _ in
        let start = Clocks.wall
        var handle = none
        var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
        try conversation.check(
          "TPM2_Load",
          unsafe Esys_Load(
            conversation.esys, parent.handle, password, none, none, &privatePart, &template, &handle))
        try conversation.authorize(handle, with: authorization)
        try conversation.check(
          "TPM2_Unseal", unsafe Esys_Unseal(conversation.esys, handle, password, none, none, &data))
        unsafe conversation.free(data)
        conversation.flush(handle)
        return Clocks.wall - start
      }
      return Samples(nanoseconds: times)
    }
  }
#else
  extension Bench {
    /// There is no TPM on this system.
    func tpm(_ report: inout Report) async throws { report.note("The TPM is measured on Linux only.") }
  }
#endif
