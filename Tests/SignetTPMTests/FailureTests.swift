#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTPM
  import SignetTestKit
  import SignetTesting
  import SignetVault
  import Testing

  @Suite("A TPM that fails", .timeLimit(.minutes(10)), .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct FailureTests {
    private let fixture: TPMFixture
    private let keystore: TPMKeystore
    private let blob: [UInt8]

    init() throws {
      fixture = try TPMFixture()
      keystore = fixture.keystore
      blob = try keystore.seal(SecretBytes("secret"), context: [1])
    }

    private func expect(_ failure: KeystoreFailure, _ remedy: KeystoreFailure.Remedy, _ keystore: TPMKeystore)
    {
      #expect(failure.remedy == remedy)
      #expect(throws: failure) { _ = try keystore.unseal(blob, context: [1]) }
    }

    @Test("another TPM opens nothing, and the error says that it is another one")
    func another() throws {
      let limited = try keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
      let key = try keystore.makeSigningKey(authorization: SecretBytes(copying: [1]))
      let counter = try keystore.makeCounter()
      let other = try TPMFixture()
      expect(.replaced, .registerAnew, other.keystore)
      #expect(throws: KeystoreFailure.replaced) { try other.keystore.guess("1234", limited) }
      #expect(throws: KeystoreFailure.replaced) { try other.keystore.guessesLeft(limited) }
      #expect(throws: KeystoreFailure.replaced) {
        try other.keystore.signature(
          ofDigest: [UInt8](repeating: 1, count: 32), with: key.blob, authorization: SecretBytes(copying: [1])
        )
      }
      #expect(throws: KeystoreFailure.countGone) { try other.keystore.counterValue(counter) }
      #expect(try other.loadedHandleCount() == 0)
      #expect(try keystore.guessesLeft(limited) == 3)
    }

    @Test("a cleared TPM has lost all keys")
    func cleared() throws {
      let limited = try keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
      let counter = try keystore.makeCounter()
      #expect(try TPMFixture.send(TPMFixture.clear, to: fixture.tpm.address) == 0)
      expect(.replaced, .registerAnew, keystore)
      #expect(throws: KeystoreFailure.replaced) { try keystore.guess("1234", limited) }
      #expect(throws: KeystoreFailure.countGone) { try keystore.advanceCounter(counter) }
      #expect(KeystoreFailure.countGone.remedy == .registerAnew)
      // A user of the old storage key accepts no other in its place; a new user may use the new one.
      #expect(throws: KeystoreFailure.replaced) { try keystore.seal(SecretBytes("new"), context: [1]) }
      #expect(throws: KeystoreFailure.replaced) {
        try keystore.makeSigningKey(authorization: SecretBytes(copying: [1]))
      }
      #expect(throws: KeystoreFailure.replaced) { try keystore.makeCounter() }
      let other = try TPMFixture.keystore(in: fixture.tpm)
      let anew = try other.seal(SecretBytes("new"), context: [1])
      #expect(try other.unseal(anew, context: [1]).insecureCopy() == Array("new".utf8))
    }

    @Test("a missing TPM is an error until it is back")
    func missing() throws {
      fixture.tpm.stop()
      expect(.missing(address: fixture.tpm.address), .tryLater(seconds: nil), keystore)
      try fixture.tpm.start()
      #expect(try keystore.unseal(blob, context: [1]).byteCount == 6)
      for absent in ["device:/dev/tpm-that-is-not-there", "swtpm:host=127.0.0.1,port=\(try FreePort.find())"]
      {
        expect(.missing(address: absent), .tryLater(seconds: nil), TPMKeystore(try TPMAddress(absent)))
      }
    }

    @Test("a TPM held by another program is busy until the time-out, and usable afterwards")
    func busy() throws {
      let hasty = try TPMFixture.keystore(in: fixture.tpm, limits: TPMTimeLimits(access: .milliseconds(50)))
      do {
        let holder = try TPMKeystore.link(to: TPMAddress(fixture.tpm.address))
        try holder.send(TPMFixture.getTransientHandles)
        _ = try holder.receive()
        expect(.busy, .tryLater(seconds: nil), hasty)
      }
      #expect(try keystore.unseal(blob, context: [1]).byteCount == 6)
    }

    @Test("a TPM that stops answering ends with a time-out")
    func noAnswer() throws {
      let id = fixture.tpm.processID
      let stopping = DisturbedLink.Script { command in
        if CommandCode.of(command) == CommandCode.load { kill(id, SIGSTOP) }
        return nil
      }
      let limits = TPMTimeLimits(access: .seconds(60), answer: .milliseconds(50))
      expect(
        .noAnswer, .tryLater(seconds: nil), try .disturbed(fixture.tpm.address, limits: limits, stopping))
      kill(id, SIGCONT)
      #expect(try keystore.unseal(blob, context: [1]).byteCount == 6)
    }

    @Test("a TPM that dies during a command is a broken connection")
    func disconnected() throws {
      let id = fixture.tpm.processID
      let killing = DisturbedLink.Script { command in
        if CommandCode.of(command) == CommandCode.load {
          kill(id, SIGSTOP)
        }
        return nil
      } sent: { command in
        if CommandCode.of(command) == CommandCode.load { kill(id, SIGKILL) }
      }
      expect(.disconnected, .tryLater(seconds: nil), try .disturbed(fixture.tpm.address, killing))
      fixture.tpm.stop()
      try fixture.tpm.start()
      #expect(try keystore.unseal(blob, context: [1]).byteCount == 6)
    }

    @Test("answers of something other than a TPM are refused")
    func noTPM() throws {
      expect(.disconnected, .tryLater(seconds: nil), TPMKeystore(.device(path: "/dev/null")))
      let zero = TPMKeystore(.device(path: "/dev/zero"))
      expect(.disconnected, .tryLater(seconds: nil), zero)
      expect(
        .invalidAddress("swtpm:host=example.com,port=1"), .change,
        TPMKeystore(.swtpm(host: "example.com", port: 1)))
    }

    @Test("a device without permission is an error")
    func forbidden() async throws {
      await #expect(processExitsWith: .success) {
        dropPrivileges()
        let path = "/proc/1/mem"
        do throws(KeystoreFailure) { _ = try TPMKeystore(.device(path: path)).status() } catch {
          precondition(error == .forbidden(address: "device:\(path)") && error.remedy == .change)
          exit(0)
        }
        exit(1)
      }
    }

    @Test(
      "TPM response codes become their errors",
      arguments: [
        (0x922, KeystoreFailure.busy), (0x908, .busy), (0x90A, .busy), (0x920, .busy), (0x923, .busy),
        (0x902, .busy), (0x903, .busy), (0x905, .busy), (0x14B, .full), (0x1DF, .refused),
      ] as [(UInt32, KeystoreFailure)])
    func codes(_ code: UInt32, _ failure: KeystoreFailure) throws {
      let script = DisturbedLink.Script(instead: { command in
        CommandCode.of(command) == CommandCode.load ? CommandCode.answer(code) : nil
      })
      #expect(throws: failure) {
        _ = try TPMKeystore.disturbed(fixture.tpm.address, script).unseal(blob, context: [1])
      }
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test("an unknown response code keeps its name and number")
    func strange() throws {
      let script = DisturbedLink.Script(instead: { command in
        CommandCode.of(command) == CommandCode.unseal ? CommandCode.answer(0x101) : nil
      })
      let error = #expect(throws: KeystoreFailure.self) {
        _ = try TPMKeystore.disturbed(fixture.tpm.address, script).unseal(blob, context: [1])
      }
      guard case .hardware("TPM2_Unseal", 0x101, let meaning) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(!meaning.isEmpty)
      #expect(error?.description.contains("0x101") == true)
      #expect(error?.remedy == .change)
    }

    @Test(
      "answers with changed bits give an error or the secret, and leave nothing behind",
      arguments: 0..<60)
    func changedAnswers(_ seed: Int) throws {
      let random = SeededRandomSource(seed: UInt64(seed))
      let script = DisturbedLink.Script(changing: { answer in
        let bytes = random.bytes(4)
        guard bytes[0] < 60 else { return answer }
        var changed = answer
        changed[Int(bytes[1]) % changed.count] ^= 1 << (bytes[2] % 8)
        return bytes[3] < 40 ? Array(changed.prefix(Int(bytes[2]))) : changed
      })
      let keystore = try TPMKeystore.disturbed(fixture.tpm.address, script)
      do throws(KeystoreFailure) {
        let secret = try keystore.unseal(blob, context: [1])
        #expect(secret.insecureCopy() == Array("secret".utf8))
      } catch { #expect(!error.description.isEmpty) }
      #expect(try self.keystore.unseal(blob, context: [1]).byteCount == 6)
    }
  }

  extension TPMFixture {
    /// TPM2_Clear with the empty authorization of the lockout hierarchy.
    static let clear: [UInt8] = [
      0x80, 0x02, 0, 0, 0, 27, 0, 0, 0x01, 0x26, 0x40, 0, 0, 0x0A, 0, 0, 0, 9, 0x40, 0, 0, 9, 0, 0, 0, 0, 0,
    ]

    /// TPM2_GetCapability of the handles of loaded keys.
    static let getTransientHandles: [UInt8] = [
      0x80, 0x01, 0, 0, 0, 22, 0, 0, 0x01, 0x7A, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 64,
    ]
  }
#endif
