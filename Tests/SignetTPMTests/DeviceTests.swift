#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTPM
  import SignetTestKit
  import SignetTesting
  import SignetVault
  import Testing

  @Suite(
    "A TPM behind a character device", .timeLimit(.minutes(10)),
    .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct DeviceTests {
    @Test("works as a TPM behind a socket does")
    func works() throws {
      let tpm = try SimulatedTPM()
      let device = try PseudoDevice(tpm)
      let keystore = TPMKeystore(.device(path: device.path), limits: TPMFixture.patient)
      for _ in 0..<5 {
        let blob = try keystore.seal(
          SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
        #expect(try keystore.guess("0", blob) == .wrong(2))
        #expect(try keystore.guess("1234", blob) == .opened(Array("secret".utf8)))
        try keystore.discard(blob)
      }
      let status = try keystore.status()
      #expect(status.isSimulator, "the TPM's own words tell, also behind a device")
      withExtendedLifetime(device) {}
    }

    @Test("is busy while another program holds it")
    func exclusive() async throws {
      let tpm = try SimulatedTPM()
      let device = try PseudoDevice(tpm)
      #expect(chmod(device.path, 0o666) == 0)
      await #expect(processExitsWith: .success) { [path = device.path as String] in
        dropPrivileges()
        let holder = open(path, O_RDWR | O_NOCTTY)
        precondition(holder >= 0 && ioctl(holder, UInt(TIOCEXCL)) == 0)
        let hasty = TPMKeystore(.device(path: path), limits: TPMTimeLimits(access: .milliseconds(50)))
        do throws(KeystoreFailure) { _ = try hasty.status() } catch { exit(error == .busy ? 0 : 2) }
      }
      withExtendedLifetime(device) {}
    }
  }
#endif
