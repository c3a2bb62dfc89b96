import SignetTesting
import SignetVault
import Testing

@Suite("Choice of hardware for a vault", .timeLimit(.minutes(5)))
struct HardwareChoiceTests {
  private let fixture: VaultFixture
  private let hardware = SimulatedHardware()

  init() throws { fixture = try VaultFixture() }

  private func open(_ choice: HardwareChoice) throws(VaultFailure) -> Vault {
    try Vault.open(inFolder: fixture.directory, hardware: choice)
  }

  @Test("a hardware vault is never opened with a software keystore")
  func neverReplaced() throws {
    #expect(try open(HardwareChoice(hardware)).keystoreKind == .tpm2)
    #expect(throws: VaultFailure.otherKeystore(found: .tpm2, expected: .software)) { try open(.none) }
    #expect(try open(HardwareChoice(hardware)).keystoreKind == .tpm2)
    // Hardware that this user may no longer use for new vaults still opens the vault that was made with it.
    #expect(try open(HardwareChoice(hardware, isForNewVaults: false)).keystoreKind == .tpm2)
  }

  @Test("a software vault stays in software with any hardware present")
  func staysInItsFile() throws {
    #expect(try open(HardwareChoice(hardware, isForNewVaults: false)).keystoreKind == .software)
    #expect(try open(HardwareChoice(hardware)).keystoreKind == .software)
    #expect(try open(.none).keystoreKind == .software)
  }
}
