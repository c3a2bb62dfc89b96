#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault
  import Testing

  /// Attacks with the files and the rights of the TPM's owner, but without the password.
  @Suite(
    "Attacks by the owner of a TPM", .timeLimit(.minutes(10)),
    .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct OwnerAttackTests {
    private let fixture: TPMFixture
    private let keystore: TPMKeystore
    private let blob: [UInt8]
    private let object: TPMBlob.TPMObject
    private let plan: IndexPlan
    private let digest: [UInt8]

    init() throws {
      fixture = try TPMFixture()
      keystore = fixture.keystore
      blob = try keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
      guard case .guessLimited(let object, let plan, let digest) = TPMBlob(blob) else {
        throw KeystoreFailure.refused
      }
      (self.object, self.plan, self.digest) = (object, plan, digest)
    }

    @Test("the count of an NV index cannot be overwritten")
    func writing() throws {
      #expect(try keystore.guess("0", blob) == .wrong(2))
      #expect(throws: KeystoreFailure.self) {
        try keystore.converse { conversation throws(TPMFailure) in
          try conversation.writeLimit(100, to: plan, saltedFor: try conversation.parent())
        }
      }
      #expect(try keystore.guessesLeft(blob) == 2)
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test(
      "an index of the same Name with another value opens nothing, and soon the TPM refuses guesses at all")
    func redefinition() throws {
      let attackersValue = SharedSecretBox(SecretBytes("the attacker's"))
      try keystore.discard(blob)
      try keystore.converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        try conversation.define(plan, value: attackersValue, saltedFor: parent)
        try conversation.writeLimit(100, to: plan, saltedFor: parent)
      }
      #expect(try keystore.guessesLeft(blob) == 100, "the control: the Name is the same")

      let limit = try #require(try keystore.status().lockout?.limit)
      for round in 1...limit {
        #expect(throws: KeystoreFailure.refused) {
          _ = try unsealAsOwner(guess: "guess \(round)", attackersValue)
        }
        #expect(try keystore.status().lockout?.failedCount == round)
      }
      // Now the lockout of the whole TPM applies, also to the right value.
      let interval = try #require(try keystore.status().lockout?.secondsForEach)
      let failure = #expect(throws: KeystoreFailure.self) {
        _ = try unsealAsOwner(guess: "1234", attackersValue)
      }
      #expect(failure == .defending(seconds: interval))
      #expect(failure?.remedy == .tryLater(seconds: interval))
      #expect(try keystore.status().lockout?.isLocked == true)
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test("a deleted index is an error, and another index with its handle gets no guess")
    func exchanged() throws {
      let counter = try keystore.makeCounter()
      guard case .counter(let counterPlan, let authorization) = TPMBlob(counter) else {
        throw KeystoreFailure.refused
      }
      #expect(try keystore.guess("1234", blob) == .opened(Array("secret".utf8)))
      let owner = try TPMFixture.keystore(in: fixture.tpm)
      for isTaken in [false, true] {
        if isTaken {
          try owner.converse { conversation throws(TPMFailure) in
            let parent = try conversation.parent()
            let salt = [UInt8](repeating: 7, count: IndexPlan.saltByteCount)
            let other = IndexPlan(handle: plan.handle, role: .guesses, salt: salt)
            try conversation.define(other, value: SharedSecretBox(SecretBytes("x")), saltedFor: parent)
            try conversation.writeLimit(3, to: other, saltedFor: parent)
            let value = SharedSecretBox(SecretBytes(copying: authorization))
            let next = IndexPlan(handle: counterPlan.handle, role: .counter, salt: salt)
            try conversation.define(next, value: value, saltedFor: parent)
            try conversation.increment(next, value: value, isNew: true, saltedFor: parent)
          }
        } else {
          for blob in [blob, counter] { try owner.discard(blob) }
        }
        #expect(throws: KeystoreFailure.countGone) { try keystore.guess("1234", blob) }
        #expect(throws: KeystoreFailure.countGone) { try keystore.guessesLeft(blob) }
        #expect(throws: KeystoreFailure.countGone) { try keystore.counterValue(counter) }
        #expect(throws: KeystoreFailure.countGone) { try keystore.advanceCounter(counter) }
      }
      try owner.converse { conversation throws(TPMFailure) in
        let salt = [UInt8](repeating: 7, count: IndexPlan.saltByteCount)
        let other = IndexPlan(handle: plan.handle, role: .guesses, salt: salt)
        let count = try conversation.guessCount(of: other, saltedFor: try conversation.parent())
        #expect(count.used == 0)
      }
    }

    @Test("in lockout a guess learns the remaining time, and secrets without a password still open")
    func lockout() throws {
      let sealed = try keystore.seal(SecretBytes("other"), context: [1])
      let honest = try keystore.seal(
        SecretBytes("secret"), context: [2], authorization: SecretBytes("1234"), limit: 3)
      try keystore.discard(blob)
      try keystore.converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        try conversation.define(plan, value: SharedSecretBox(SecretBytes("x")), saltedFor: parent)
        try conversation.writeLimit(100, to: plan, saltedFor: parent)
      }
      for _ in 0..<(try #require(try keystore.status().lockout?.limit)) {
        _ = try? unsealAsOwner(guess: "guess", SharedSecretBox(SecretBytes("x")))
      }
      let interval = try #require(try keystore.status().lockout?.secondsForEach)
      #expect(throws: KeystoreFailure.defending(seconds: interval)) {
        try keystore.guess("1234", honest, context: [2])
      }
      #expect(try keystore.guess("0", honest, context: [2]) == .wrong(2))
      #expect(try keystore.unseal(sealed, context: [1]).insecureCopy() == Array("other".utf8))
    }

    @Test("an owner password prevents new objects, and is reported")
    func ownerPassword() throws {
      #expect(try keystore.status().isOwnerPasswordSet == false)
      #expect(try TPMFixture.send(Self.setPassword(of: 1), to: fixture.tpm.address) == 0)
      #expect(try keystore.status().isOwnerPasswordSet == true)
      #expect(try keystore.status().isLockoutPasswordSet == false)
      #expect(throws: KeystoreFailure.ownerPasswordSet) { _ = try keystore.makeCounter() }
      #expect(KeystoreFailure.ownerPasswordSet.remedy == .change)
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test("the status reports whether lockout authorization has a password")
    func lockoutPassword() throws {
      #expect(try keystore.status().isLockoutPasswordSet == false)
      #expect(try TPMFixture.send(Self.setPassword(of: 0x0A), to: fixture.tpm.address) == 0)
      #expect(try keystore.status().isLockoutPasswordSet == true)
      #expect(try keystore.status().isOwnerPasswordSet == false)
    }

    /// TPM2_HierarchyChangeAuth of the owner (1) or the lockout (10) to "pw".
    private static func setPassword(of hierarchy: UInt8) -> [UInt8] {
      [
        0x80, 0x02, 0, 0, 0, 31, 0, 0, 0x01, 0x29, 0x40, 0, 0, hierarchy, 0, 0, 0, 9, 0x40, 0, 0, 9, 0, 0, 0,
        0, 0, 0, 2, 0x70, 0x77,
      ]
    }

    /// Unseals with an index whose value the attacker set.
    private func unsealAsOwner(guess: String, _ indexValue: SharedSecretBox) throws -> SecretBytes {
      let objectValue = AuthorizationValues.ofGuess(
        SecretBytes(guess), contextDigest: digest, "signet tpm guess object v1")
      var policy = PolicyDigest()
      policy.secret(name: plan.writtenName)
      policy.authValue()
      let template = ObjectTemplate.guessLimitedData(policy: policy.bytes, unique: object.unique)
      return try keystore.converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        let loaded = try conversation.load(object.privatePart, template, under: parent)
        guard
          case .right(let policy) = try conversation.policySession(
            withGuess: indexValue, at: plan, saltedFor: parent)
        else { throw .keystore(.countGone) }
        return try TPMFailure.meaning([TPMResponse.authFail: .refused]) { () throws(TPMFailure) in
          try conversation.unseal(loaded, policy, value: objectValue)
        }
      }
    }
  }
#endif
