import Foundation
import SignetCrypto
import SignetTestKit
import SignetTesting
import SignetVault
import Testing

@Suite("The software keystore", .timeLimit(.minutes(10)))
struct SoftwareKeystoreTests {
  private let folder: TemporaryFolder
  private let keystore: SoftwareKeystore
  private var keyPath: String { folder.file("software-keystore.key") }

  init() throws {
    folder = try TemporaryFolder()
    keystore = SoftwareKeystore(directory: folder.path)
  }

  private func isEqual(_ first: borrowing SecretBytes, _ second: borrowing SecretBytes) -> Bool {
    first.isEqual(to: second)
  }

  @Test("it fulfils the keystore contract", arguments: KeystoreContract.checks)
  func contract(_ check: KeystoreContract.Check) throws {
    try check.run { SoftwareKeystore(directory: folder.path) }
  }

  @Test("it describes itself and opens its sealed data, also after a restart")
  func roundTrip() throws {
    #expect(keystore.kind == .software)
    #expect(keystore.kind.description.contains("software"))
    let secret = SecretBytes("a secret")
    let blob = try keystore.seal(secret, context: [1])
    #expect(blob.count == 1 + 12 + 8 + 16)
    #expect(permissions(of: keyPath) == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["software-keystore.key"])
    #expect(isEqual(try SoftwareKeystore(directory: folder.path).unseal(blob, context: [1]), secret))
  }

  @Test("another context or device, and each changed byte or length, are refused")
  func refusals() throws {
    let blob = try keystore.seal(SecretBytes("a secret"), context: [1])
    let other = SoftwareKeystore(directory: try TemporaryFolder().path)
    #expect(throws: KeystoreFailure.refused) { _ = try keystore.unseal(blob, context: [2]) }
    for index in blob.indices {
      var changed = blob
      changed[index] ^= 0x10
      #expect(throws: KeystoreFailure.refused) { _ = try keystore.unseal(changed, context: [1]) }
      #expect(throws: KeystoreFailure.refused) {
        _ = try keystore.unseal(Array(blob.prefix(index)), context: [1])
      }
    }
    #expect(throws: KeystoreFailure.self) { _ = try other.unseal(blob, context: [1]) }
    #expect(throws: KeystoreFailure.secretTooLong) {
      _ = try keystore.seal(SecretBytes.random(byteCount: 129), context: [])
    }
  }

  @Test("50 concurrent openers of a new folder agree on one key")
  func race() async throws {
    let path = folder.path
    let blobs = try await withThrowingTaskGroup(of: [UInt8].self, returning: [[UInt8]].self) { group in
      for _ in 0..<50 {
        group.addTask { try SoftwareKeystore(directory: path).seal(SecretBytes("x"), context: []) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(blobs.count == 50)
    for blob in blobs { #expect(isEqual(try keystore.unseal(blob, context: []), SecretBytes("x"))) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["software-keystore.key"])
  }

  @Test("a key that is missing, damaged, a link or readable by others is refused, and never replaced")
  func keyFile() throws {
    let path = keyPath
    let missing = SoftwareKeystore(directory: folder.file("missing"))
    #expect(
      throws: KeystoreFailure.unavailable(path: folder.file("missing/software-keystore.key"), errno: ENOENT)
    ) {
      _ = try missing.seal(SecretBytes("x"), context: [])
    }
    #expect(throws: KeystoreFailure.keyMissing(path: path)) { _ = try keystore.unseal([1, 2], context: []) }
    let blob = try keystore.seal(SecretBytes("x"), context: [])
    let content = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(content.count == 40)

    func expectRefusal(_ failure: KeystoreFailure) {
      #expect(throws: failure) { _ = try keystore.unseal(blob, context: []) }
      #expect(throws: failure) { _ = try keystore.seal(SecretBytes("x"), context: []) }
    }
    chmod(path, 0o640)
    expectRefusal(.keyNotPrivate(path: path))
    chmod(path, 0o600)
    for damaged in [Data(), content.dropLast(), content + [0], Data([0x54]) + content.dropFirst()] {
      try damaged.write(to: URL(fileURLWithPath: path))
      chmod(path, 0o600)
      expectRefusal(.keyDamaged(path: path))
    }
    try FileManager.default.moveItem(atPath: path, toPath: path + ".real")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".real")
    expectRefusal(.unavailable(path: path, errno: ELOOP))
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    expectRefusal(.keyNotPrivate(path: path))
  }
}
