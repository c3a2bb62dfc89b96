#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTPM
  import SignetTestKit
  import SignetTesting
  import SignetVault
  import Testing

  /// Searches the memory of a process that has used a TPM, libraries included.
  ///
  /// The process is a child of the test, so that it starts clean.
  @Suite(
    "Secrets of a TPM in memory", .timeLimit(.minutes(10)),
    .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct MemoryTests {
    private let fixture: TPMFixture

    init() throws { fixture = try TPMFixture() }

    @Test("after sealing and opening no copy of the secret is left in memory")
    func secrets() async throws {
      let address = fixture.tpm.address
      await #expect(processExitsWith: .success) { [address = address as String] in
        let keystore = TPMKeystore(try TPMAddress(address), limits: TPMFixture.patient)
        let search = try MemorySearch()
        var secret: SharedSecretBox? = SharedSecretBox(.random(byteCount: 32))
        var guess: SharedSecretBox? = SharedSecretBox(.random(byteCount: 32))
        secret?.withSecret { search.add("secret", $0) }
        guess?.withSecret { guess in
          search.add("guess", guess)
          let digest = AuthorizationValues.digest(ofContext: [1])
          for purpose in ["signet tpm guess index v1", "signet tpm guess object v1"] {
            AuthorizationValues.ofGuess(guess, contextDigest: digest, purpose).withSecret {
              search.add(purpose, $0)
            }
          }
        }

        let sealed = try secret?.withSecret { try keystore.seal($0, context: [1]) } ?? []
        let limited =
          try secret?.withSecret { secret in
            try guess?.withSecret { guess in
              try keystore.seal(secret, context: [1], authorization: guess, limit: 3)
            }
          } ?? []
        var opened: SharedSecretBox? = SharedSecretBox(try keystore.unseal(sealed, context: [1]))
        let outcome = try guess?.withSecret { try keystore.unseal(limited, context: [1], authorization: $0) }
        var guessed: SharedSecretBox?
        if case .opened(let secret)? = outcome { guessed = SharedSecretBox(secret) }
        #expect(guessed != nil)
        #expect(try search.found()["secret, begin"] == 3, "the control: one copy for each of us who has it")

        (secret, guess, opened, guessed) = (nil, nil, nil, nil)
        _ = (opened, guessed)
        #expect(try search.found() == [:])
      }
    }
  }
#endif
