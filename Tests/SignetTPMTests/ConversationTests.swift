#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault
  import Synchronization
  import Testing

  @Suite(
    "TPM commands and responses", .timeLimit(.minutes(10)),
    .enabled(if: SimulatedTPM.isExpected, "needs swtpm")
  )
  struct ConversationTests {
    private let fixture: TPMFixture
    private let blob: [UInt8]

    init() throws {
      fixture = try TPMFixture()
      blob = try fixture.keystore.seal(SecretBytes("secret"), context: [1])
    }

    /// Limits that keep a conversation for as long as a test runs.
    private static let keeping = TPMTimeLimits(
      access: .seconds(120), answer: .seconds(120), idle: .seconds(600), stretch: .seconds(600))

    private func codes(_ script: DisturbedLink.Script) -> [UInt32] {
      script.sentCommands.withLock { $0.map(CommandCode.of) }
    }

    @Test(
      "consecutive calls need three commands each, with the loaded key and session")
    func kept() throws {
      let script = DisturbedLink.Script()
      let keystore = try TPMKeystore.disturbed(fixture.tpm.address, limits: Self.keeping, script)
      _ = try keystore.unseal(blob, context: [1])
      let first = codes(script).count
      for _ in 0..<3 {
        #expect(try keystore.unseal(blob, context: [1]).insecureCopy() == Array("secret".utf8))
      }
      let flush: UInt32 = 0x165
      let each = [CommandCode.load, CommandCode.unseal, flush]
      #expect(Array(codes(script).dropFirst(first)) == each + each + each)
    }

    @Test("an abandoned session is released and leaves nothing in the TPM")
    func released() throws {
      let limits = TPMTimeLimits(access: .seconds(120), answer: .seconds(120), idle: .milliseconds(1))
      let keystore = try TPMFixture.keystore(in: fixture.tpm, limits: limits)
      _ = try keystore.unseal(blob, context: [1])
      // swtpm answers another connection once the previous one is closed.
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test("a released keystore leaves nothing in the TPM")
    func letGo() throws {
      do {
        let keystore = try TPMFixture.keystore(in: fixture.tpm, limits: Self.keeping)
        _ = try keystore.unseal(blob, context: [1])
      }
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test("a program that never pauses does not starve others")
    func others() async throws {
      let address = fixture.tpm.address
      let limits = TPMTimeLimits(
        access: .seconds(120), answer: .seconds(120), idle: .seconds(600), stretch: .milliseconds(5))
      let greedy = try TPMFixture.keystore(in: fixture.tpm, limits: limits)
      let blob = blob
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          while !Task.isCancelled { _ = try greedy.unseal(blob, context: [1]) }
        }
        group.addTask {
          for _ in 0..<3 {
            let other = TPMKeystore(try TPMAddress(address), limits: TPMFixture.patient)
            #expect(try other.unseal(blob, context: [1]).byteCount == 6)
          }
        }
        try await group.next()
        group.cancelAll()
        try await group.waitForAll()
      }
    }

    @Test("a command is repeated transparently after a TPM restart")
    func restarted() throws {
      let keystore = try TPMFixture.keystore(in: fixture.tpm, limits: Self.keeping)
      let limited = try keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
      #expect(try keystore.guess("0", limited) == .wrong(2))
      fixture.tpm.stop()
      try fixture.tpm.start()
      #expect(try keystore.guess("0", limited) == .wrong(1))
      #expect(try keystore.guess("1234", limited) == .opened(Array("secret".utf8)))
    }

    @Test("a guess interrupted after the TPM may have counted it is not repeated")
    func guessOnce() throws {
      let limited = try fixture.keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
      // The second guess is sent, and its answer is lost.
      let guesses = Mutex(0)
      let script = DisturbedLink.Script(
        sent: { command in
          if CommandCode.of(command) == CommandCode.policySecret { guesses.withLock { $0 += 1 } }
        }, changing: { answer in guesses.withLock { $0 } == 2 ? [] : answer })
      let keystore = try TPMKeystore.disturbed(fixture.tpm.address, limits: Self.keeping, script)
      #expect(try keystore.guess("0", limited) == .wrong(2))
      #expect(throws: KeystoreFailure.disconnected) { try keystore.guess("0", limited) }
      #expect(guesses.withLock { $0 } == 2)
      #expect(try fixture.keystore.guessesLeft(limited) == 1)
    }

    @Test("an altered TPM response is refused: neither a secret nor a count is read from it")
    func changed() throws {
      let limited = try fixture.keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 10)
      // The count is read after a wrong guess.
      for (command, guess) in [(CommandCode.unseal, "1234"), (CommandCode.nvRead, "0")] {
        for offset in [14, 17, 20, -1] {
          let last = Mutex<UInt32>(0)
          let script = DisturbedLink.Script(
            sent: { bytes in last.withLock { $0 = CommandCode.of(bytes) } },
            changing: { answer in
              guard last.withLock({ $0 }) == command, answer.count > 20 else { return answer }
              var changed = answer
              changed[offset < 0 ? answer.count + offset : offset] ^= 1
              return changed
            })
          let keystore = try TPMKeystore.disturbed(fixture.tpm.address, script)
          #expect(throws: KeystoreFailure.disconnected, "\(command), \(offset)") {
            try keystore.guess(guess, limited)
          }
        }
      }
      #expect(try fixture.keystore.guess("1234", limited) == .opened(Array("secret".utf8)))
    }

    @Test("an altered answer to a counter step is refused")
    func changedStep() throws {
      let counter = try fixture.keystore.makeCounter()
      let value = try fixture.keystore.counterValue(counter)
      let last = Mutex<UInt32>(0)
      let script = DisturbedLink.Script(
        sent: { bytes in last.withLock { $0 = CommandCode.of(bytes) } },
        changing: { answer in
          guard last.withLock({ $0 }) == CommandCode.nvIncrement else { return answer }
          return answer.dropLast() + [answer[answer.count - 1] ^ 1]
        })
      let keystore = try TPMKeystore.disturbed(fixture.tpm.address, limits: Self.keeping, script)
      #expect(try keystore.counterValue(counter) == value)
      #expect(throws: KeystoreFailure.disconnected) { try keystore.advanceCounter(counter) }
      #expect(try fixture.keystore.counterValue(counter) == value + 1, "made once, and not again")
    }

    @Test("a forged refusal is not mistaken for the guess limit")
    func forgedLimit() throws {
      let limited = try fixture.keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
      let authUnavailable: UInt32 = 0x12F
      let script = DisturbedLink.Script(instead: { command in
        CommandCode.of(command) == CommandCode.policySecret ? CommandCode.answer(authUnavailable) : nil
      })
      let keystore = try TPMKeystore.disturbed(fixture.tpm.address, script)
      #expect(throws: KeystoreFailure.disconnected) { try keystore.guess("1234", limited) }
      #expect(try fixture.keystore.guessesLeft(limited) == 3)
    }

    @Test(
      "a count takes one command and a guess five, with the loaded key and sessions")
    func commandsOfAnUnlock() throws {
      let limited = try fixture.keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
      let counter = try fixture.keystore.makeCounter()
      let script = DisturbedLink.Script()
      let keystore = try TPMKeystore.disturbed(fixture.tpm.address, limits: Self.keeping, script)
      func unlock() throws -> [UInt32] {
        let before = codes(script).count
        let value = try keystore.counterValue(counter)
        try keystore.advanceCounter(counter)
        #expect(try keystore.counterValue(counter) == value + 1)
        #expect(try keystore.guess("1234", limited) == .opened(Array("secret".utf8)))
        return Array(codes(script).dropFirst(before))
      }
      _ = try unlock()
      let (policyAuthValue, policyRestart, flush): (UInt32, UInt32, UInt32) = (0x16B, 0x180, 0x165)
      let each = [
        CommandCode.nvRead, CommandCode.nvIncrement, CommandCode.nvRead, CommandCode.load,
        CommandCode.policySecret, policyAuthValue, CommandCode.unseal, flush,
      ]
      for _ in 0..<3 { #expect(try unlock() == each) }
      // The next guess does not reuse a policy that authorized nothing.
      let before = codes(script).count
      #expect(try keystore.guess("0", limited) == .wrong(2))
      #expect(codes(script).dropFirst(before).contains(policyRestart))
      #expect(try unlock() == each)
    }

    @Test("the saved storage key is reused, and created again if the TPM refuses it")
    func savedKey() throws {
      let (createPrimary, contextLoad): (UInt32, UInt32) = (0x131, 0x161)
      let script = DisturbedLink.Script()
      let limits = TPMTimeLimits(access: .seconds(120), answer: .seconds(120), idle: .zero)
      let keystore = try TPMKeystore.disturbed(fixture.tpm.address, limits: limits, script)
      func count(_ code: UInt32) -> Int { codes(script).count { $0 == code } }
      for _ in 0..<2 { _ = try keystore.unseal(blob, context: [1]) }
      #expect(count(createPrimary) == 1 && count(contextLoad) == 1)
      fixture.tpm.stop()
      try fixture.tpm.start()
      for _ in 0..<2 { _ = try keystore.unseal(blob, context: [1]) }
      #expect(count(createPrimary) == 2 && count(contextLoad) == 3)
      #expect(try fixture.loadedHandleCount() == 0)
    }
  }
#endif
