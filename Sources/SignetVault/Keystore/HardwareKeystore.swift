public import SignetCrypto
import SignetFiles

/// What holds the secret that ties a vault to its device.
///
/// A blob that ``seal(_:context:)`` returns can be kept anywhere: only the same keystore on the same device opens it. Calls may
/// block; the vault makes them on an executor of its own.
public protocol HardwareKeystore: Sendable {
  /// What kind of protection this is. Users and servers are told, and a server's policy can refuse it.
  var kind: KeystoreKind { get }

  /// Encrypts a secret so that it is of use on this device only.
  ///
  /// - Parameters:
  ///   - secret: At most 128 bytes.
  ///   - context: What the secret is for. The same bytes are needed to open it.
  /// - Returns: A blob; its length and form are the keystore's own.
  /// - Throws: ``KeystoreFailure``.
  func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8]

  /// Opens what ``seal(_:context:)`` returned.
  ///
  /// - Throws: ``KeystoreFailure/refused`` if the blob was changed, is for another context or comes from another device.
  func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes
}

/// The kinds of keystore; the raw value is what the vault stores and what the server is told.
@nonexhaustive public enum KeystoreKind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// A file: whoever can read the user's files can copy it.
  case software

  /// What a person should read.
  public var description: String {
    switch self {
    case .software: "software (keys can be copied with the user's files)"
    }
  }

  /// The byte that stands for the kind in a slot header.
  var code: UInt8 {
    switch self {
    case .software: 1
    }
  }
}

/// Why a keystore did not seal or open.
@nonexhaustive public enum KeystoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file with this device's key is gone.
  case keyMissing(path: String)
  /// The file with this device's key has the wrong form.
  case keyDamaged(path: String)
  /// The file with this device's key belongs to another user, or others may read or write it.
  case keyNotPrivate(path: String)
  /// The file could not be read or written, for the system's reason.
  case unavailable(path: String, errno: Int32)
  /// The blob was changed, is for another purpose, or comes from another device.
  case refused
  /// The secret is longer than 128 bytes.
  case secretTooLong

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .keyMissing(let path):
      "the key of this device (\(path)) is missing; restore it from a backup, or delete the data and register anew"
    case .keyDamaged(let path):
      "the key of this device (\(path)) is damaged; restore it from a backup, or delete the data and register anew"
    case .keyNotPrivate(let path):
      "the key of this device (\(path)) may be read by others; if that is not your doing, register anew; "
        + "else make it yours with mode 600"
    case .unavailable(let path, let error):
      "the key of this device (\(path)) cannot be used: \(systemMessage(error)); check its folder and the disk"
    case .refused:
      "the keystore did not open what this device should have sealed; the data was changed or comes from another device"
    case .secretTooLong: "the secret is longer than 128 bytes; seal a key that encrypts it"
    }
  }
}
