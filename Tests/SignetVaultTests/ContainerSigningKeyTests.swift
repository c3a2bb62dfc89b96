import SignetCrypto
import SignetTestKit
import SignetVault
import Testing

@Suite("Signing keys of containers")
struct ContainerSigningKeyTests {
  private let folder: TemporaryFolder
  private let vault: Vault
  /// The record of a hardware key without the code of its keystore.
  private let hardwareRecord: [UInt8] =
    [UInt8](repeating: 7, count: 32) + P256.Signing.PrivateKey().publicKey.x963Representation + [1]

  init() throws {
    folder = try TemporaryFolder()
    vault = try Vault(
      directory: folder.file("vault"), keystore: SoftwareKeystore(directory: folder.file("vault")))
  }

  @Test("without key generation in the keystore, software keys are stored as a scalar")
  func software() async throws {
    let key = try await vault.makeSigningKey()
    #expect(key.origin == .software)
    #expect(key.record.withSecret { $0.byteCount } == 32)
    let again = try key.record.withSecret { (record) throws(CryptoFailure) in
      try ContainerSigningKey(record: record, in: vault)
    }
    #expect(again.origin == .software && again.publicKey == key.publicKey)
    let message = Array("pay 1".utf8)
    #expect(key.publicKey.isValidSignature(try await again.signature(of: message), for: message))
  }

  @Test("a record that is not a key is refused at any length")
  func hostile() {
    let records: [[UInt8]] =
      (0...32).map { [UInt8](repeating: 0, count: $0) } + [
        // No blob, no such keystore, software, no point.
        [2] + hardwareRecord.dropLast(), [3] + hardwareRecord, [1] + hardwareRecord, [0] + hardwareRecord,
        [2] + [UInt8](repeating: 7, count: 32 + 65 + 1),
      ]
    for record in records {
      #expect(throws: CryptoFailure.self, "\(record.count) bytes") {
        try ContainerSigningKey(record: SecretBytes(copying: record), in: vault)
      }
    }
    #expect(throws: Never.self) {
      try ContainerSigningKey(record: SecretBytes(copying: [2] + hardwareRecord), in: vault)
    }
  }

  @Test("a key of other hardware is rejected")
  func otherKeystore() async throws {
    let key = try ContainerSigningKey(record: SecretBytes(copying: [2] + hardwareRecord), in: vault)
    await #expect(throws: VaultFailure.otherKeystore(found: .tpm2, expected: .software)) {
      try await key.signature(of: [1])
    }
  }
}
