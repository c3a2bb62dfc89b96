public import SignetCrypto
public import SignetPolicy
public import SignetSQLite
import SignetSystem

/// The reason why a vault operation failed.
@nonexhaustive public enum VaultFailure: Error, Hashable, Sendable {
  /// The vault's folder does not exist.
  case folderMissing(path: String)
  /// The folder cannot be created or used; `errno` is the system's reason.
  case folderUnavailable(path: String, errno: Int32)
  /// This user has no write access to the folder or to a file in it.
  case folderReadOnly(path: String)
  /// The folder or the file belongs to another user.
  case ownedByAnother(path: String, owner: UInt32, user: UInt32)
  /// Other users have write access to the folder or the file, so its content cannot be trusted.
  case writableByOthers(path: String)
  /// The disk is full; nothing was changed.
  case diskFull
  /// The vault stayed in use by another process for too long.
  case busy
  /// The vault was written by a newer program.
  case tooNew(found: Int, supported: Int)
  /// The file is not a vault or is damaged.
  case damaged
  /// This part was changed by something other than this program on this device.
  case altered(VaultPart)
  /// The vault or the slot was made with another kind of keystore.
  case otherKeystore(found: KeystoreKind, expected: KeystoreKind)
  /// The keystore failed.
  case keystore(KeystoreFailure)
  /// The container does not exist; it may have been deleted or replaced.
  case noSuchContainer(LocalContainerID)
  /// The container has no such domain, or the domain has no slot of this kind.
  case noSuchSlot(domain: String, SlotKind)
  /// The domain has no record with this name.
  case noSuchRecord(name: String)
  /// Two domains, or two records of a domain, have this name.
  case duplicateName(String)
  /// The name of a domain or record is not 1 to 64 visible ASCII characters.
  case invalidName
  /// A pin does not have 32 bytes, a draft has no domain, or an attribute is too long.
  case invalidDraft(reason: String)
  /// The text cannot be used as a password.
  case unusablePassword(OpaqueStringFailure)
  /// The password is wrong; `remaining` attempts are left, or any number if it is `nil`.
  case wrongPassword(remaining: Int?)
  /// The domain is permanently locked after too many wrong passwords.
  case lockedOut
  /// The next password may be tried after this duration; this one was not tried and does not count.
  case waiting(Duration, remaining: Int?)
  /// The domain's secrets were erased after too many wrong passwords.
  case wiped(domain: String)
  /// The new password violates these rules of its policy.
  case passwordRefused([PasswordViolation])
  /// The new password is one of this many latest passwords.
  case passwordUsedBefore(within: Int)
  /// The password may be changed from this time on, in seconds since 1970-01-01T00:00:00Z.
  case passwordTooYoung(until: Int64)
  /// This operation needs a domain that was opened with its password.
  case passwordNeeded(domain: String)
  /// The device cannot verify a password of this domain, so the operation is not possible.
  case silentDomain(String)
  /// The recovery code is not the latest one.
  case wrongRecoveryCode
  /// A finger or face was enrolled or removed since biometrics were enabled.
  case biometricsInvalidated
  /// The biometric match failed.
  case biometric(BiometricFailure)
  /// The device's passcode was not accepted.
  case passcode(DevicePasscodeFailure)
  /// The password or other slot that opened the domain was changed after the domain was opened.
  case outdated(domain: String)
  /// The folder is an older copy: the hardware counter is ahead of it.
  case rolledBack(found: UInt64, expected: UInt64)
  /// The system has no trusted clock.
  case clock(ClockFailure)
  /// The cost of the password's key derivation is outside the accepted range.
  case costOutOfRange(Argon2id)
  /// The cost that the server asks for exceeds this device's limit.
  case costTooHigh(Argon2id, limit: Argon2id)
  /// The lock policy has a limit outside 1 to 100.
  case lockLimitOutOfRange(Int)
  /// The counter has reached its highest value.
  case counterExhausted(name: String)
  /// The record is not a counter: it has another length.
  case notACounter(name: String)
  /// A cryptographic operation failed, for example for lack of memory.
  case crypto(CryptoFailure)
  /// The storage failed in another way.
  case storage(SQLiteFailure)
}

/// A part of a vault that is authenticated separately.
@nonexhaustive public enum VaultPart: Hashable, Sendable {
  /// The identity of the vault and of the device.
  case vault
  /// The row of a container, with its attributes.
  case container(LocalContainerID?)
  /// A domain: one of its slots, with its count of failed attempts, or its records.
  case slot(LocalContainerID, domain: String)
  /// A record.
  case record(LocalContainerID, domain: String, name: String)
  /// A notice that waits to be sent.
  case notice(Int64)
}

extension VaultFailure: CustomStringConvertible {
  /// The failure and the remedy; never a secret.
  public var description: String {
    switch self {
    case .folderMissing(let path): "there is no folder \(path); make it, or register this device first"
    case .folderUnavailable(let path, let error):
      "the folder \(path) cannot be used: \(systemMessage(error)); repair it or choose another"
    case .folderReadOnly(let path):
      "\(path) may not be written to; give this user write access to the folder and all files in it"
    case .ownedByAnother(let path, let owner, let user):
      "\(path) belongs to user \(owner) and this program runs as user \(user); run it as its owner"
    case .writableByOthers(let path):
      "other users may write to \(path); check what is in it, then remove that permission (chmod go-w)"
    case .diskFull: "the disk is full and nothing was changed; free some space and try again"
    case .busy: "another process is using the vault; try again when it is done"
    case .tooNew(let found, let supported):
      "the vault has version \(found) and this program knows versions up to \(supported); install the newer program"
    case .damaged: "the vault file is damaged; restore it from a backup, or delete it and register again"
    case .altered(let part):
      "\(part) was changed from outside; do not use it: delete the container, or the vault, and register again"
    case .otherKeystore(let found, let expected):
      "the vault was made with the keystore “\(found.rawValue)” and opened with “\(expected.rawValue)”; use the first"
    case .keystore(let failure): failure.description
    case .noSuchContainer(let id): "there is no container \(id); list the containers (signet list)"
    case .noSuchSlot(let domain, let kind):
      "the container has no domain “\(domain)” that \(kind.noun) opens; list its domains"
    case .noSuchRecord(let name): "the domain has no record “\(name)”"
    case .duplicateName(let name): "the name “\(name)” is used twice; give each its own"
    case .invalidName:
      "the name of a domain or record is not 1 to 64 visible ASCII characters; choose another"
    case .invalidDraft(let reason): reason
    case .unusablePassword(let failure): failure.description
    case .wrongPassword(.some(1)): "the password is wrong; 1 try is left"
    case .wrongPassword(.some(0)):
      "the password is wrong and no try is left; use the recovery code if there is one, or register this device again"
    case .wrongPassword(.some(let remaining)): "the password is wrong; \(remaining) tries are left"
    case .wrongPassword(nil): "the password is wrong; try again"
    case .lockedOut:
      "locked after too many wrong passwords; use the recovery code if there is one, or register this device again"
    case .waiting(let wait, let remaining):
      "wait \(wait.wholeSeconds) s before the next password; this one was not tried"
        + (remaining.map { ", \($0) \($0 == 1 ? "try is" : "tries are") left" } ?? "")
    case .wiped(let domain):
      "after too many wrong passwords everything in “\(domain)” was erased; register this device again"
    case .passwordRefused(let violations): violations.map(\.description).joined(separator: "; ")
    case .passwordUsedBefore(let count):
      "the password is one of the last \(count); choose one that was not used before"
    case .passwordTooYoung(let until):
      "the password was changed not long ago; change it again from \(until) s after 1970-01-01T00:00:00Z on"
    case .passwordNeeded(let domain): "open “\(domain)” with its password first"
    case .silentDomain(let domain):
      "this device cannot verify a password of “\(domain)”; only the server can: use the keys, or register again"
    case .wrongRecoveryCode:
      "that is not the recovery code that was printed last; check it, or use the password"
    case .biometricsInvalidated:
      "a finger or face was enrolled or removed; use the password, and enable biometrics again"
    case .biometric(let failure): failure.description
    case .passcode(let failure): failure.description
    case .outdated(let domain):
      "the password or another method of “\(domain)” was changed since it was opened; open it again"
    case .rolledBack(let found, let expected):
      "this folder is an older copy (state \(found), the hardware is at \(expected)); put the newest one back, or delete it and register again"
    case .clock(let failure): failure.description
    case .costOutOfRange(let cost):
      "a password cost of \(cost.memoryKiB) KiB, \(cost.passes) passes and \(cost.lanes) lanes is not accepted; "
        + "use at least \(PasswordCost.floor.memoryKiB) KiB and \(PasswordCost.floor.passes) passes"
    case .costTooHigh(let cost, let limit):
      "the server asks for \(cost.memoryKiB) KiB, \(cost.passes) passes and \(cost.lanes) lanes for a password, and this device "
        + "allows \(limit.memoryKiB) KiB and \(limit.passes) passes; have the server's operator ask for less"
    case .lockLimitOutOfRange(let limit): "a limit of \(limit) attempts is not accepted; use 1 to 100"
    case .counterExhausted(let name):
      "the counter “\(name)” has reached its maximum; register this device again"
    case .notACounter(let name): "the record “\(name)” is not a counter; read it as a record"
    case .crypto(let failure): failure.description
    case .storage(let failure): failure.description
    }
  }

  /// Translates failures of the layers below; no other code does.
  init(_ error: any Error) {
    switch error {
    case let failure as VaultFailure: self = failure
    case let failure as KeystoreFailure: self = .keystore(failure)
    case let failure as CryptoFailure: self = .crypto(failure)
    case let failure as SQLiteFailure: self.init(failure)
    case let failure as BiometricFailure: self = .biometric(failure)
    case let failure as DevicePasscodeFailure: self = .passcode(failure)
    case let failure as ClockFailure: self = .clock(failure)
    default: preconditionFailure("a layer below throws \(type(of: error)), which VaultFailure does not know")
    }
  }

  private init(_ failure: SQLiteFailure) {
    self =
      switch failure {
      case .diskFull: .diskFull
      case .busy: .busy
      case .tooNew(let found, let supported): .tooNew(found: found, supported: supported)
      // The statements are fixed and valid. If the schema rejects one, the file was changed.
      case .corrupt, .invalidStatement, .unexpectedValue: .damaged
      default: .storage(failure)
      }
  }
}

extension VaultPart: CustomStringConvertible {
  /// A noun phrase that names the part, for use in a sentence.
  public var description: String {
    switch self {
    case .vault: "the identity of the vault"
    case .container(let id): "container \(id?.description ?? "without a name")"
    case .slot(let id, let domain): "domain “\(domain)” of container \(id)"
    case .notice(let number): "notice \(number)"
    case .record(let id, let domain, let name): "record “\(name)” in domain “\(domain)” of container \(id)"
    }
  }
}

extension Duration {
  /// Whole seconds, rounded up, so that a user does not retry too early.
  fileprivate var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
