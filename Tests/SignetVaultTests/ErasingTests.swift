import Foundation
import SignetCrypto
import SignetPolicy
import SignetTesting
import SignetVault
import Testing

/// A factory reset of a vault: nothing remains in the folder or in the hardware.
@Suite struct ErasingTests {
  private let fixture: VaultFixture
  private var path: String { fixture.directory }

  init() throws { fixture = try VaultFixture() }

  @Test func erasesFilesAndHardwareLocations() async throws {
    let hardware = SimulatedHardware()
    let vault = try fixture.open(keystore: hardware)
    for user in ["alice", "bob"] {
      let password = SharedSecretBox(SecretBytes(copying: Array("winter-garden".utf8)))
      let id = try await vault.addContainer(
        ContainerDraft(
          attributes: ContainerAttributes(
            userID: user, server: "id.example.org/main", name: "", serverID: "https://id.example.org/main"),
          created: 1,
          domains: [DomainDraft(name: "user", protection: .password(password, .lock(limit: 3)), records: [])])
      )
      if user == "alice" { try await vault.confirmContainer(id) }
    }
    let gone = try await vault.addContainer(
      ContainerDraft(
        attributes: .sample(), created: 1,
        domains: [DomainDraft(name: "device", protection: .device, records: [])]))
    try await vault.deleteContainer(
      gone, leaving: NoticeDraft(server: "id.example.org/main", notBefore: 0, bytes: [1]))
    #expect(hardware.locationCount == 3)  // two limits and the vault's counter
    try await vault.erase()
    #expect(hardware.locationCount == 0)
    #expect(!FileManager.default.fileExists(atPath: path))
    let again = try fixture.open(keystore: hardware)
    #expect(try await again.containers(matching: .init(state: nil)).isEmpty)
    #expect(try await again.notices().isEmpty)
  }

  @Test("an index that the hardware cannot release now keeps its files")
  func keepsRemainingLocations() async throws {
    let hardware = SimulatedHardware()
    let vault = try fixture.open(keystore: hardware)
    _ = try await vault.addContainer(.sample())
    hardware.fail(.discarding, with: .busy, .busy)
    await #expect(throws: VaultFailure.busy) { try await vault.erase() }
    #expect(hardware.locationCount == 2)
    try await fixture.open(keystore: hardware).erase()
    #expect(hardware.locationCount == 0)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func leavesWhatIsNotTheVaults() async throws {
    let vault = try fixture.open()
    try Data("mine".utf8).write(to: URL(filePath: path + "/notes.txt"))
    try await vault.erase()
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["notes.txt"])
  }

  @Test func erasesAVaultThatDoesNotOpen() throws {
    _ = try fixture.open()
    try Data("not a database, for sure".utf8).write(to: URL(filePath: path + "/vault.sqlite"))
    #expect(throws: VaultFailure.self) { _ = try fixture.open() }
    try Vault.erase(inFolder: path)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(throws: VaultFailure.folderMissing(path: path)) { try Vault.erase(inFolder: path) }
    _ = try fixture.open()
  }
}
