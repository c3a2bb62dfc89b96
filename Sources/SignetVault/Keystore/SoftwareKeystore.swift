public import SignetCrypto
import SignetSystem

/// A keystore for devices without hardware: a random key in a file that only its owner may read.
///
/// It protects only against an attacker who gets the vault without this key file. An attacker who runs as the same user or
/// reads the disk has both. Its kind is `software`, which users and servers can see.
///
/// The file `software-keystore.key` has mode 0600 and 40 bytes: `SGNTSWK1`, then the key. A sealed blob is the byte 1, then
/// a nonce of 12 bytes, the ciphertext and a tag of 16 bytes of AES-256-GCM, whose additional data is the context.
public struct SoftwareKeystore: HardwareKeystore {
  private static let magic: [UInt8] = Array("SGNTSWK1".utf8)
  private static let keyByteCount = 32
  private static let blobVersion: UInt8 = 1
  private static let maximumSecretByteCount = 128
  private let path: String

  /// Creates a keystore whose file is in `directory`; the first sealed secret creates the file.
  ///
  /// - Parameter directory: A folder that exists when a secret is sealed, and to which only its owner has write access.
  public init(directory: String) {
    path = Self.path(inFolder: directory)
  }

  /// The path of the key file of a vault in `directory`.
  static func path(inFolder directory: String) -> String { "\(directory)/software-keystore.key" }

  /// The software kind: no hardware protects these secrets.
  public var kind: KeystoreKind { .software }

  /// Encrypts a secret under the key in the file; creates the file if it is missing.
  ///
  /// - Throws: ``KeystoreFailure``.
  public func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
    guard secret.byteCount <= Self.maximumSecretByteCount else { throw .secretTooLong }
    let key: SecretBytes
    do throws(KeystoreFailure) { key = try rootKey() } catch .keyMissing {
      try makeRootKey()
      key = try rootKey()
    }
    do {
      return try [Self.blobVersion] + AESGCM.sealCombined(secret, key: key, additionalData: context)
    } catch {
      throw .refused
    }
  }

  /// Opens a blob that this keystore sealed.
  ///
  /// - Throws: ``KeystoreFailure``: `refused`, or the reason why the key cannot be read.
  public func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
    guard blob.first == Self.blobVersion else { throw .refused }
    let key = try rootKey()
    do {
      return try AESGCM.openCombined(Array(blob.dropFirst()), key: key, additionalData: context)
    } catch { throw .refused }
  }

  private func rootKey() throws(KeystoreFailure) -> SecretBytes {
    let content: SecretBytes
    do throws(FileFailure) {
      let file = try OpenFile.reading(path, as: FileRule())
      let byteCount = Self.magic.count + Self.keyByteCount
      _ = try file.byteCount(limit: byteCount)
      content = try SecretBytes(byteCount: byteCount) { (output) throws(FileFailure) in
        try file.fill(&output)
      }
    } catch { throw unreadable(error) }
    let key = content.withBytes { bytes -> SecretBytes? in
      let magic = bytes.extracting(first: Self.magic.count)
      guard magic.withUnsafeBytes({ $0.elementsEqual(Self.magic) }) else { return nil }
      return SecretBytes(copying: bytes.extracting(droppingFirst: Self.magic.count))
    }
    guard let key else { throw .keyDamaged(path: path) }
    return key
  }

  private func makeRootKey() throws(KeystoreFailure) {
    let content = SecretBytes(copying: Self.magic).joined(with: .random(byteCount: Self.keyByteCount))
    do throws(FileFailure) {
      try content.withBytes { (bytes) throws(FileFailure) in
        try PrivateFile.place(bytes, at: path, .keeping)
      }
    } catch { throw .unavailable(path: path, errno: error.code) }
  }

  private func unreadable(_ failure: FileFailure) -> KeystoreFailure {
    switch failure {
    case .missing: .keyMissing(path: path)
    case .tooLarge, .tooShort: .keyDamaged(path: path)
    case .wrongKind, .ownedByAnother, .openToOthers: .keyNotPrivate(path: path)
    case .system(_, let error): .unavailable(path: path, errno: error)
    }
  }
}
