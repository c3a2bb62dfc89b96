import SignetCrypto
import SignetTestKit
import SignetVault
import Testing

@Suite("Signing keys of containers")
struct ContainerSigningKeyTests {
  @Test("where the keystore makes no keys, they are made in software and kept as a scalar")
  func software() async throws {
    let folder = try TemporaryFolder()
    let vault = try Vault(
      directory: folder.file("vault"), keystore: SoftwareKeystore(directory: folder.file("vault")))
    let key = try await vault.makeSigningKey()
    #expect(key.origin == .software)
    #expect(key.record.withSecret { $0.byteCount } == 32)
    let again = try key.record.withSecret { (record) throws(CryptoFailure) in
      try ContainerSigningKey(record: record)
    }
    #expect(again.origin == .software && again.publicKey == key.publicKey)
    let message = Array("pay 1".utf8)
    #expect(
      key.publicKey.isValidSignature(try await vault.signature(of: message, with: again), for: message))
  }

  @Test("a record that is no key is refused, whatever its length")
  func hostile() {
    let point = P256.Signing.PrivateKey().publicKey.x963Representation
    let sound = [UInt8](repeating: 7, count: 32) + point + [1]
    let records: [[UInt8]] =
      (0...32).map { [UInt8](repeating: 0, count: $0) } + [
        // No blob, no such keystore, software, no point.
        [2] + sound.dropLast(), [3] + sound, [1] + sound, [0] + sound,
        [2] + [UInt8](repeating: 7, count: 32 + 65 + 1),
      ]
    for record in records {
      #expect(throws: CryptoFailure.self, "\(record.count) bytes") {
        try ContainerSigningKey(record: SecretBytes(copying: record))
      }
    }
    #expect(throws: Never.self) { try ContainerSigningKey(record: SecretBytes(copying: [2] + sound)) }
  }
}
