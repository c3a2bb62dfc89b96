#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault
  import Testing

  @Suite(
    "A TPM and several processes", .timeLimit(.minutes(10)),
    .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct ProcessTests {
    private let fixture: TPMFixture
    private let keystore: TPMKeystore

    init() throws {
      fixture = try TPMFixture()
      keystore = fixture.keystore
    }

    private func limited(_ limit: Int) throws -> String {
      try keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: limit
      ).map { String($0) }.joined(separator: " ")
    }

    private static func bytes(_ text: String) -> [UInt8] {
      text.split(separator: " ").compactMap { UInt8($0) }
    }

    @Test("concurrent processes get no more guesses than the limit")
    func race() async throws {
      let address = fixture.tpm.address
      let blob = try limited(3)
      let wrong = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<5 {
          group.addTask {
            let result = await #expect(processExitsWith: .failure) {
              [address = address as String, blob = blob as String] in
              let keystore = TPMKeystore(try TPMAddress(address), limits: TPMFixture.patient)
              switch try keystore.guess("0", Self.bytes(blob)) {
              case .wrong: exit(3)
              case .lockedOut: exit(4)
              case .opened: exit(5)
              }
            }
            return result?.exitStatus == .exitCode(3)
          }
        }
        return await group.reduce(into: 0) { if $1 { $0 += 1 } }
      }
      #expect(wrong == 3)
      #expect(try keystore.guess("1234", Self.bytes(blob)) == .lockedOut)
    }

    @Test(
      "a process killed during a guess has spent the guess and leaves no index in use"
    )
    func killed() async throws {
      let address = fixture.tpm.address
      let blob = try limited(5)
      for _ in 0..<4 {
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [address = address as String, blob = blob as String] in
          let script = DisturbedLink.Script(sent: { command in
            if CommandCode.of(command) == CommandCode.policySecret { kill(getpid(), SIGKILL) }
          })
          _ = try TPMKeystore.disturbed(address, script).guess("0", Self.bytes(blob))
        }
      }
      #expect(try keystore.guessesLeft(Self.bytes(blob)) == 1)
      #expect(try keystore.guess("0", Self.bytes(blob)) == .wrong(0))
      #expect(try keystore.guess("1234", Self.bytes(blob)) == .lockedOut)
    }
  }
#endif
