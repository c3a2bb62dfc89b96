#if os(Linux)
  import BenchReport
  import CTPM2
  import CTPMPeer
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault

  extension Bench {
    /// Opening a secret in a TPM through the keystore, compared with the bare TPM operations and with tpm2-tss's ESAPI.
    ///
    /// ESAPI has the same protection, and all use the same swtpm. The bare operations load, unseal and flush over one connection,
    /// with the storage key loaded, and without encryption or authentication.
    func tpm(_ report: inout Report) async throws {
      guard SimulatedTPM.isInstalled else {
        throw NotInstalled(description: "swtpm is not installed: Scripts/setup bench installs it.")
      }
      let simulator = try SimulatedTPM()
      let address = try TPMAddress(simulator.address)
      let bare = try bareUnsealing(address)
      let peer = try esapi(address, startsSessionEachTime: false)
      let peerEach = try esapi(address, startsSessionEachTime: true)

      let keystore = TPMKeystore(address)
      let secret = SecretBytes.random(byteCount: 32)
      let blob = try keystore.seal(secret, context: [1])
      let guess = SecretBytes.random(byteCount: 32)
      let limited = try keystore.seal(
        secret, context: [1], authorization: guess, limit: 5, at: try keystore.chooseLocation())
      let counter = try keystore.makeCounter()
      let key = try keystore.makeSigningKey(authorization: SecretBytes(copying: [1]))
      let digest = [UInt8](repeating: 7, count: 32)

      let unsealing = try times { () throws(KeystoreFailure) in
        _ = try keystore.unseal(blob, context: [1])
      }
      let guessing = try times { () throws(KeystoreFailure) in
        _ = try keystore.unseal(limited, context: [1], authorization: guess)
      }
      let counting = try times { () throws(KeystoreFailure) in try keystore.advanceCounter(counter) }
      let signing = try times { () throws(KeystoreFailure) in
        _ = try keystore.signature(ofDigest: digest, with: key.blob, authorization: SecretBytes(copying: [1]))
      }
      let lonely = TPMKeystore(address, limits: TPMTimeLimits(idle: .zero))
      let first = try times { () throws(KeystoreFailure) in _ = try lonely.unseal(blob, context: [1]) }

      func row(_ name: String, _ samples: Samples, _ other: String, _ peer: Samples) -> ReportRow {
        ReportRow(
          name: "TPM \(name) (swtpm), p50", value: samples.median, unit: "ms",
          comparedWith: "\(other): p50 \(peer.median.formatted()) ms", ratio: peer.median / samples.median)
      }
      let bareName = "TPM2_Load, TPM2_Unseal, TPM2_FlushContext bare"
      var protected = row("unseal beside ESAPI", unsealing, "ESAPI, as protected", peer)
      protected.goal = .ratioAtLeast(1 / 1.3)
      report.add([
        row("unseal beside bare commands", unsealing, bareName, bare), protected,
        row("unseal, first of a conversation", first, "ESAPI, as protected, connected already", peerEach),
        row("unseal with a guess limit", guessing, bareName, bare),
        ReportRow(name: "TPM signature (swtpm), p50", value: signing.median, unit: "ms"),
        ReportRow(name: "TPM counter advanced (swtpm), p50", value: counting.median, unit: "ms"),
      ])
      try await unlockingOnTPM(&report)
    }

    private func times(_ body: () throws(KeystoreFailure) -> Void) throws -> Samples {
      Samples(
        nanoseconds: try (0..<options.times(200)).map { _ in
          let start = Clocks.wall
          try body()
          return Clocks.wall - start
        })
    }

    /// Sends the bytes of the three commands directly.
    private func bareUnsealing(_ address: TPMAddress) throws -> Samples {
      let blob = try TPMKeystore(address).seal(SecretBytes.random(byteCount: 32), context: [1])
      guard case .sealed(let object) = TPMBlob(blob) else { throw KeystoreFailure.refused }
      let link = try TPMKeystore.link(to: address)
      let conversation = try Conversation(link)
      let parent = try conversation.parent()
      let template = ObjectTemplate.sealedData(unique: object.unique)
      let value = AuthorizationValues.ofContext([1], "signet tpm sealed v1").withSecret { $0.insecureCopy() }
      let samples = try (0..<options.times(200)).map { _ in
        let start = Clocks.wall
        let loaded = try conversation.load(object.privatePart, template, under: parent)
        // TPM2_Unseal with the value in plain form.
        let password: [UInt8] = [0x40, 0, 0, 9, 0, 0, 1, 0, UInt8(value.count)] + value
        let command =
          [0x80, 0x02] + UInt32(18 + password.count).bigEndianBytes + UInt32(0x15E).bigEndianBytes
          + loaded.handle.bigEndianBytes + UInt32(password.count).bigEndianBytes + password
        try link.send(command)
        guard try TPMFrame.code(ofAnswer: link.receive()) == 0 else { throw KeystoreFailure.refused }
        conversation.endCall()
        return Clocks.wall - start
      }
      return Samples(nanoseconds: samples)
    }

    private func esapi(_ address: TPMAddress, startsSessionEachTime: Bool) throws -> Samples {
      let tcti = TCTI(try TPMKeystore.link(to: address))
      var times = [UInt64](repeating: 0, count: options.times(200))
      let code = unsafe tpm_peer_unseal(
        UnsafeMutableRawPointer(tcti.context), 1, startsSessionEachTime ? 1 : 0, times.count, &times)
      guard code == 0 else {
        throw KeystoreFailure.hardware(call: "ESAPI", code: code, meaning: TPMResponse(code).meaning)
      }
      return Samples(nanoseconds: times)
    }
  }
#else
  import BenchReport

  extension Bench {
    /// Reports that this system has no TPM.
    func tpm(_ report: inout Report) async throws {
      throw NotInstalled(description: "The TPM is measured on Linux only.")
    }
  }
#endif
