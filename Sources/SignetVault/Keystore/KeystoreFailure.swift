import SignetSystem

/// The reason why a keystore operation failed.
@nonexhaustive public enum KeystoreFailure: Error, Hashable, Sendable {
  /// The file with this device's key does not exist.
  case keyMissing(path: String)
  /// The file with this device's key has the wrong form.
  case keyDamaged(path: String)
  /// The file with this device's key belongs to another user, or other users can read or write it.
  case keyNotPrivate(path: String)
  /// The file could not be read or written; `errno` is the system's reason.
  case unavailable(path: String, errno: Int32)
  /// The blob was changed, is for another purpose, or comes from another device.
  case refused
  /// The secret is longer than 128 bytes.
  case secretTooLong
  /// The hardware was cleared, or another device sealed the blob.
  case replaced
  /// The count that the blob depends on was removed from the hardware.
  case countGone
  /// The address has no hardware.
  case missing(address: String)
  /// This user has no access to the hardware at this address.
  case forbidden(address: String)
  /// The text is not a keystore address.
  case invalidAddress(String)
  /// The hardware is in use by another program, or asked for a later retry.
  case busy
  /// The hardware did not answer in time.
  case noAnswer
  /// The connection to the hardware broke, or the reply was not valid.
  case disconnected
  /// The hardware's dictionary-attack lockout is active for all its users, for at most this many seconds if known.
  case defending(seconds: Int?)
  /// The hardware has no free location for another count.
  case full
  /// The hardware has an owner password, without which nothing can be stored in it.
  case ownerPasswordSet
  /// A call to the hardware failed with this code, explained by `meaning`.
  case hardware(call: String, code: UInt32, meaning: String)
}

extension KeystoreFailure {
  /// The remedy for a failure.
  @nonexhaustive public enum Remedy: Sendable, Hashable {
    /// The same call may succeed later, at the latest after this many seconds if known.
    case tryLater(seconds: Int?)
    /// The secrets in the keystore are lost: delete the data and register again.
    case registerAnew
    /// An operator must change something first; the description says what.
    case change
  }

  /// The remedy: it separates lost credentials from those that are only unavailable.
  public var remedy: Remedy {
    switch self {
    case .keyMissing, .keyDamaged, .refused, .replaced, .countGone: .registerAnew
    case .missing, .busy, .noAnswer, .disconnected: .tryLater(seconds: nil)
    case .defending(let seconds): .tryLater(seconds: seconds)
    case .keyNotPrivate, .unavailable, .secretTooLong, .forbidden, .invalidAddress, .full, .ownerPasswordSet,
      .hardware:
      .change
    }
  }
}

extension KeystoreFailure: CustomStringConvertible {
  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .keyMissing(let path):
      "the key of this device (\(path)) is missing; restore it from a backup, or delete the data and register again"
    case .keyDamaged(let path):
      "the key of this device (\(path)) is damaged; restore it from a backup, or delete the data and register again"
    case .keyNotPrivate(let path):
      "the key of this device (\(path)) may be read by others; if that is not your doing, register again; "
        + "otherwise set its owner to this user and its mode to 600"
    case .unavailable(let path, let error):
      "the key of this device (\(path)) cannot be used: \(systemMessage(error)); check its folder and the disk"
    case .refused:
      "the keystore cannot unseal the data of this device; the data was changed or comes from another device: delete the data and register again"
    case .secretTooLong: "the secret is longer than 128 bytes; seal a key that encrypts it"
    case .replaced:
      "the TPM was cleared or replaced, so the data that it sealed is lost; delete the data and register again"
    case .countGone:
      "the TPM no longer has the counter of this data, so the data is lost; delete the data and register again"
    case .missing(let address):
      "there is no TPM at \(address); nothing is lost: switch it on in the firmware's settings, or set SIGNET_TPM to the address of another"
    case .forbidden(let address):
      "this user may not use the TPM at \(address); ask for membership of the group that owns it (often tss)"
    case .invalidAddress(let text):
      "“\(text)” is not the address of a TPM; set SIGNET_TPM to device:/dev/tpmrm0, swtpm:host=127.0.0.1,port=2321 or swtpm:path=SOCKET"
    case .busy: "another program is using the TPM; nothing is lost: try again in a moment"
    case .noAnswer:
      "the TPM did not answer in time; nothing is lost: try again, and restart the machine if that fails"
    case .disconnected: "the connection to the TPM broke; nothing is lost: try again"
    case .defending(.some(let seconds)):
      "the TPM is in lockout after wrong guesses for at most \(seconds) s; nothing is lost: try again after that"
    case .defending(nil):
      "the TPM is in lockout after wrong guesses; nothing is lost: try again later"
    case .full:
      "the TPM has no room for another counter; delete containers that are not used, have its owner free some room, "
        + "or keep keys in a file (SIGNET_TPM=none)"
    case .ownerPasswordSet:
      "the TPM has an owner password, which is required to store anything in it; have its owner remove the password, "
        + "or keep keys in a file (SIGNET_TPM=none)"
    case .hardware(let call, let code, let meaning):
      "the TPM failed in \(call): \(meaning) (0x\(String(code, radix: 16))); try again, and report it if it persists"
    }
  }
}
