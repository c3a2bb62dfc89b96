#if os(Linux)
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault
  import Synchronization
  import Testing

  @Suite("Sealing in a TPM", .timeLimit(.minutes(10)), .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct SealingTests {
    private let fixture: TPMFixture
    private let keystore: TPMKeystore

    init() throws {
      fixture = try TPMFixture()
      keystore = fixture.keystore
    }

    @Test("it fulfils the keystore contract", arguments: KeystoreContract.checks)
    func contract(_ check: KeystoreContract.Check) throws {
      try check.run { try TPMFixture.keystore(in: fixture.tpm) }
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test("a secret opens again after a power cycle")
    func powerOff() throws {
      #expect(keystore.kind == .tpm2)
      let secret = [UInt8](0..<128)
      let blob = try keystore.seal(SecretBytes(copying: secret), context: [1])
      let key = try keystore.makeSigningKey(authorization: SecretBytes(copying: [1]))
      let counter = try keystore.makeCounter()
      try keystore.advanceCounter(counter)
      let count = try keystore.counterValue(counter)
      fixture.tpm.stop()
      try fixture.tpm.start()
      #expect(try keystore.unseal(blob, context: [1]).insecureCopy() == secret)
      #expect(try keystore.counterValue(counter) == count)
      let message = Array("pay 1".utf8)
      let signature = try keystore.signature(
        ofDigest: HashFunction.sha256.digest(of: message), with: key.blob,
        authorization: SecretBytes(copying: [1]))
      #expect(key.publicKey.isValidSignature(signature, for: message))
    }

    @Test("a signing key was made in the TPM and cannot leave it: the TPM says so itself")
    func attributes() throws {
      let key = try keystore.makeSigningKey(authorization: SecretBytes(copying: [1]))
      guard case .signingKey(let object) = TPMBlob(key.blob) else {
        Issue.record("no signing key")
        return
      }
      let link = try TPMKeystore.link(to: keystore.address)
      let conversation = try Conversation(link)
      let parent = try conversation.parent()
      let template = ObjectTemplate.signingKey(x: key.publicKey.x, y: key.publicKey.y)
      _ = try conversation.load(object.privatePart, template, under: parent)
      // TPM2_ReadPublic of the second slot: size, type, name algorithm and attributes follow the header.
      try link.send([0x80, 0x01, 0, 0, 0, 14, 0, 0, 0x01, 0x73, 0x80, 0, 0, 1])
      let answer = try link.receive()
      #expect(TPMFixture.code(of: answer) == 0)
      let attributes = answer[16..<20].reduce(0) { $0 << 8 | UInt32($1) }
      let (fixedTPM, fixedParent, sensitiveDataOrigin): (UInt32, UInt32, UInt32) = (1 << 1, 1 << 4, 1 << 5)
      for (bit, name) in [
        (fixedTPM, "fixedTPM"), (fixedParent, "fixedParent"), (sensitiveDataOrigin, "sensitiveDataOrigin"),
      ] {
        #expect(attributes & bit != 0, "\(name)")
      }
      let (restricted, decrypt): (UInt32, UInt32) = (1 << 16, 1 << 17)
      #expect(attributes & (restricted | decrypt) == 0)
    }

    @Test("a key made with another template does not load")
    func otherTemplate() throws {
      // The same private part, once as sealed data that its value opens, once as data behind a guess.
      let blob = try keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
      guard case .guessLimited(let object, _, _) = TPMBlob(blob) else {
        Issue.record("no guess-limited blob")
        return
      }
      #expect(throws: KeystoreFailure.refused) {
        _ = try keystore.unseal(TPMBlob.sealed(object).bytes, context: [1])
      }
    }

    @Test("neither a secret nor its authorization crosses the bus in clear, in either direction")
    func bus() throws {
      let script = DisturbedLink.Script()
      let keystore = try TPMKeystore.disturbed(fixture.tpm.address, script)
      let secret = [UInt8](100..<132)
      let context: [UInt8] = [1, 2, 3]
      let blob = try keystore.seal(SecretBytes(copying: secret), context: context)
      _ = try keystore.unseal(blob, context: context)
      let limited = try keystore.seal(
        SecretBytes(copying: secret), context: context, authorization: SecretBytes("1234"), limit: 3)
      #expect(try keystore.guess("1234", limited, context: context) == .opened(secret))
      #expect(try keystore.guess("4321", limited, context: context) == .wrong(2))
      let counter = try keystore.makeCounter()
      try keystore.advanceCounter(counter)

      guard case .guessLimited(_, let plan, let digest) = TPMBlob(limited),
        case .counter(_, let counterValue) = TPMBlob(counter)
      else {
        Issue.record("other blobs than expected")
        return
      }
      let values = ["signet tpm guess index v1", "signet tpm guess object v1"].flatMap { purpose in
        ["1234", "4321"].map {
          AuthorizationValues.ofGuess(SecretBytes($0), contextDigest: digest, purpose).withSecret {
            $0.insecureCopy()
          }
        }
      }
      let heard = script.heard.withLock(\.self)
      func isHeard(_ bytes: [UInt8]) -> Bool {
        heard.contains { message in message.indices.contains { message[$0...].starts(with: bytes) } }
      }
      #expect(isHeard(plan.policy), "the control: what is not secret is heard")
      #expect(!isHeard(secret))
      #expect(!isHeard(Array(secret.prefix(16))))
      for value in values + [counterValue] { #expect(!isHeard(value)) }
    }

    @Test("only the documented forms of a TPM address are read")
    func addresses() throws {
      for (text, address) in [
        ("device:/dev/tpmrm0", .standard),
        ("swtpm:host=127.0.0.1,port=2321", .swtpm(host: "127.0.0.1", port: 2321)),
        ("swtpm:port=1,host=::1", .swtpm(host: "::1", port: 1)),
        ("swtpm:path=/run/a.sock", .swtpmSocket(path: "/run/a.sock")),
      ] as [(String, TPMAddress)] {
        #expect(try TPMAddress(text) == address)
        #expect(try TPMAddress(address.description) == address)
      }
      for text in [
        "", "device", "device:", "device:tpm0", "tpm:/dev/tpm0", "swtpm", "swtpm:", "swtpm:host=127.0.0.1",
        "swtpm:port=1", "swtpm:host=a,port=0", "swtpm:host=a,port=65536", "swtpm:host=a,port=1,port=2",
        "swtpm:host=a,port=1,x=1", "swtpm:host=,port=1", "swtpm:path=a", "swtpm:path=/a,port=1",
        "swtpm:host=a,,port=1", "device:/dev/tpm\0",
      ] {
        #expect(throws: KeystoreFailure.invalidAddress(text)) { try TPMAddress(text) }
      }
      #expect(KeystoreFailure.invalidAddress("").remedy == .change)
    }

    @Test("the status names the TPM's manufacturer and that this one is a simulator")
    func status() throws {
      let status = try keystore.status()
      #expect(status.kind == .tpm2)
      #expect(status.manufacturer == "IBM SW TPM")
      #expect(status.firmware?.split(separator: ".").count == 4)
      #expect(status.isSimulator)
      let lockout = try #require(status.lockout)
      #expect(lockout.failedCount == 0 && lockout.limit > 0 && lockout.secondsForEach > 0)
      #expect(!lockout.isLocked && lockout.secondsLeft == 0)
      #expect(status.reservedLocationCount == 0)
    }

    @Test("how long a lockout lasts")
    func lockout() {
      let locked = KeystoreStatus.Lockout(failedCount: 5, limit: 3, secondsForEach: 100)
      #expect(locked.isLocked && locked.secondsLeft == 300)
      #expect(KeystoreStatus.Lockout(failedCount: 3, limit: 3, secondsForEach: 100).secondsLeft == 100)
      #expect(!KeystoreStatus.Lockout(failedCount: 2, limit: 3, secondsForEach: 100).isLocked)
    }

    @Test("an empty secret, and a digest of another length, end the process")
    func preconditions() async {
      await #expect(processExitsWith: .failure) {
        _ = try TPMKeystore().seal(SecretBytes(copying: []), context: [])
      }
      await #expect(processExitsWith: .failure) {
        _ = try TPMKeystore().signature(ofDigest: [1], with: [], authorization: SecretBytes(copying: [1]))
      }
      await #expect(processExitsWith: .failure) {
        _ = try TPMKeystore().seal(
          SecretBytes(copying: [1]), context: [], authorization: SecretBytes(copying: [1]), limit: 0)
      }
    }
  }
#endif
