#if os(Linux)
  import SignetCrypto
  import SignetPolicy
  import SignetTPM
  import SignetTestKit
  import SignetTesting
  import SignetVault
  import Testing

  @Suite("The clock of a TPM", .timeLimit(.minutes(10)), .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct ClockTests {
    private let fixture: TPMFixture
    private let keystore: TPMKeystore
    private let folder: TemporaryFolder

    init() throws {
      fixture = try TPMFixture()
      keystore = fixture.keystore
      folder = try TemporaryFolder()
    }

    /// TPM2_ClockSet by the owner, to a year from the start.
    private static let setClock: [UInt8] =
      [0x80, 0x02, 0, 0, 0, 35, 0, 0, 0x01, 0x28, 0x40, 0, 0, 1, 0, 0, 0, 9, 0x40, 0, 0, 9, 0, 0, 0, 0, 0]
      + [0, 0, 0, 0x07, 0x57, 0xB1, 0x2C, 0]

    @Test("runs within one boot, restarts with a reset, and cannot be set forward by the owner")
    func goesOn() throws {
      let first = try keystore.time()
      #expect(try TPMFixture.send(Self.setClock, to: fixture.tpm.address) == 0)
      let second = try keystore.time()
      #expect(second.startCount == first.startCount && second.milliseconds >= first.milliseconds)
      let day: UInt64 = 86_400_000
      #expect(second.milliseconds < day)
      fixture.tpm.stop()
      try fixture.tpm.start()
      let restarted = try keystore.time()
      #expect(restarted.startCount != first.startCount && restarted.milliseconds < day)
    }

    @Test("a wait follows the TPM's clock: a new boot id and a changed system clock do not end it")
    func wait() async throws {
      let clock = VirtualTrustedClock()
      let vault = try Vault.forTests(folder.file("vault"), keystore: keystore, clock: clock)
      let hour = LockPolicy.delay(seconds: 3600, counter: 1)
      let id = try await vault.addContainer(
        ContainerDraft(
          attributes: ContainerAttributes(userID: "alice", server: "localhost/main", name: "", serverID: ""),
          created: 0,
          domains: [
            DomainDraft(
              name: "user", protection: .password(SharedSecretBox(SecretBytes("1234")), hour),
              records: [RecordDraft(name: "key", secret: SharedSecretBox(SecretBytes("key")))])
          ]))
      await #expect(throws: VaultFailure.wrongPassword(remaining: nil)) {
        _ = try await vault.open("user", of: id, with: .password(SecretBytes("0000")))
      }
      func expectWaiting() async {
        let failure = await #expect(throws: VaultFailure.self) {
          _ = try await vault.open("user", of: id, with: .password(SecretBytes("1234")))
        }
        guard case .waiting(let left, nil) = failure else {
          Issue.record("\(String(describing: failure))")
          return
        }
        #expect(left > .seconds(1800) && left <= .seconds(3600))
      }
      await expectWaiting()
      clock.reboot(uptime: .seconds(10 * 365 * 86_400))
      await expectWaiting()
      // A TPM that is kept from answering allows no attempt, and its wait does not shrink.
      fixture.tpm.stop()
      let missing = KeystoreFailure.missing(address: fixture.tpm.address)
      await #expect(throws: VaultFailure.keystore(missing)) {
        _ = try await vault.open("user", of: id, with: .password(SecretBytes("1234")))
      }
      #expect(try await vault.domains(of: id).first?.attempts == .wait(.seconds(3600), remaining: nil))
      try fixture.tpm.start()
      await expectWaiting()
    }
  }
#endif
