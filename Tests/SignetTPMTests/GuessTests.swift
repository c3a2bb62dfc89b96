#if os(Linux)
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault
  import Testing

  @Suite(
    "Guess limits enforced by a TPM", .timeLimit(.minutes(10)),
    .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct GuessTests {
    private let fixture: TPMFixture
    private let keystore: TPMKeystore
    private let secret = [UInt8](1...32)

    init() throws {
      fixture = try TPMFixture()
      keystore = fixture.keystore
    }

    private func sealed(limit: Int = 3, context: [UInt8] = [1]) throws -> [UInt8] {
      try keystore.seal(
        SecretBytes(copying: secret), context: context, authorization: SecretBytes("1234"), limit: limit)
    }

    @Test("after the limit of wrong guesses the correct one is refused too")
    func limit() throws {
      let blob = try sealed()
      #expect(try keystore.guessesLeft(blob) == 3)
      #expect(try keystore.guess("0", blob) == .wrong(2))
      #expect(try keystore.guess("", blob) == .wrong(1))
      #expect(try keystore.guessesLeft(blob) == 1)
      #expect(try keystore.guess("12345", blob) == .wrong(0))
      #expect(try keystore.guess("1234", blob) == .lockedOut)
      #expect(try keystore.guess("0", blob) == .lockedOut)
      #expect(try keystore.guessesLeft(blob) == 0)
      #expect(
        try keystore.status().lockout?.failedCount == 0, "wrong guesses lock this secret, not the whole TPM")
    }

    @Test("a correct guess resets the count")
    func success() throws {
      let blob = try sealed(limit: 2)
      for _ in 0..<3 {
        #expect(try keystore.guess("0", blob) == .wrong(1))
        #expect(try keystore.guess("1234", blob) == .opened(secret))
        #expect(try keystore.guessesLeft(blob) == 2)
      }
    }

    @Test("the limits 1 and 100 hold", arguments: [1, 100])
    func limits(_ limit: Int) throws {
      let blob = try sealed(limit: limit)
      #expect(try keystore.guessesLeft(blob) == limit)
      #expect(try keystore.guess("0", blob) == .wrong(limit - 1))
    }

    @Test("the count survives a power loss at any moment")
    func restart() throws {
      let blob = try sealed()
      #expect(try keystore.guess("0", blob) == .wrong(2))
      fixture.tpm.stop()
      try fixture.tpm.start()
      #expect(try keystore.guess("0", blob) == .wrong(1))
      fixture.tpm.stop()
      try fixture.tpm.start()
      #expect(try keystore.guess("0", blob) == .wrong(0))
      fixture.tpm.stop()
      try fixture.tpm.start()
      #expect(try keystore.guess("1234", blob) == .lockedOut)
    }

    @Test("two secrets have separate counts")
    func independence() throws {
      let (first, second) = (try sealed(limit: 1), try sealed(limit: 1))
      #expect(try keystore.guess("0", first) == .wrong(0))
      #expect(try keystore.guess("1234", second) == .opened(secret))
    }

    @Test("a blob for another context is refused without counting a guess")
    func context() throws {
      let blob = try sealed()
      #expect(throws: KeystoreFailure.refused) { try keystore.guess("1234", blob, context: [2]) }
      #expect(throws: KeystoreFailure.refused) { try keystore.guess("1234", blob, context: []) }
      #expect(try keystore.guessesLeft(blob) == 3)
    }

    @Test("of many concurrent guesses no more than the limit are compared")
    func race() async throws {
      let blob = try sealed(limit: 5)
      let address = fixture.tpm.address
      let results = try await withThrowingTaskGroup(of: TPMFixture.GuessResult.self) { group in
        for number in 0..<16 {
          group.addTask {
            // A separate keystore for each, like in other processes.
            let keystore = TPMKeystore(try TPMAddress(address), limits: TPMFixture.patient)
            return try keystore.guess("wrong \(number)", blob)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(results.count { if case .wrong = $0 { true } else { false } } == 5)
      #expect(results.count { $0 == .lockedOut } == 11)
      #expect(try keystore.guess("1234", blob) == .lockedOut)
    }
  }
#endif
