package import SignetCrypto
import SignetJSON
package import SignetPolicy

/// The header of a slot: in clear text, and authenticated as the associated data of the wrapped master key.
///
/// New slots have version 2. A version 1 slot is readable and is replaced when it is next opened. `docs/vault-format.md` has
/// both. Version 2, numbers big-endian:
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 4 | `SGSH` |
/// | 4 | 1 | version: 2 |
/// | 5 | 1 | slot kind: 1 device, 2 password, 3 biometric, 4 device passcode, 5 recovery |
/// | 6 | 1 | keystore: 1 software, 2 TPM 2.0 |
/// | 7 | 1 | wrapping: 1 AES-256-GCM, 2 silent |
/// | 8 | 1 | key derivation: 0 none, 1 Argon2id version 1.3 |
/// | 9 | 4, 4, 4 | memory in KiB, passes, lanes; 0 if there is no derivation |
/// | 21 | 1 | wrong guesses that the keystore allows; 0 if it does not count |
/// | 22 | 32 | digest of the enrolled set; 0 if there is none or any set is accepted |
/// | 54 | 16 | salt |
/// | 70 | 16 | vault |
/// | 86 | 16 | container |
/// | 102 | 1 | length of the domain's name, 1 to 64 |
/// | 103 | … | the domain's name, visible ASCII |
/// | … | 2 | length of the lock policy |
/// | … | … | the lock policy as JSON; empty if there is no password |
package struct SlotHeader: Equatable {
  static let saltByteCount = 16
  static let currentVersion: UInt8 = 2

  package var version = Self.currentVersion
  var keystore: KeystoreKind
  package var opening: Opening
  /// The number of wrong guesses after which the keystore locks the slot's secret permanently; `nil` if it does not count.
  package var guessLimit: Int?
  package var salt: [UInt8]
  package var domainID: DomainID

  package init(
    keystore: KeystoreKind, opening: Opening, guessLimit: Int? = nil, salt: [UInt8], domainID: DomainID
  ) {
    self.keystore = keystore
    self.opening = opening
    self.guessLimit = guessLimit
    self.salt = salt
    self.domainID = domainID
  }

  /// The means of opening the slot, in addition to the hardware secret that every slot has.
  package enum Opening: Equatable {
    case device
    case password(Argon2id, LockPolicy)
    /// SHA-256 of the sensor's description of the enrolled set; ``anySet`` accepts any set.
    case biometric(enrolledSet: [UInt8])
    case devicePasscode
    case recovery

    /// The digest value that accepts any enrolled set.
    static let anySet = [UInt8](repeating: 0, count: SlotHeader.digestByteCount)

    /// Returns true if a match in this set opens the slot.
    func accepts(_ set: EnrolledSet) -> Bool {
      guard case .biometric(let bound) = self else { return false }
      return bound == set.digest || bound == Self.anySet
    }
  }

  var kind: SlotKind {
    switch opening {
    case .device: .device
    case .password: .password
    case .biometric: .biometric
    case .devicePasscode: .devicePasscode
    case .recovery: .recovery
    }
  }

  var lockPolicy: LockPolicy {
    if case .password(_, let policy) = opening { policy } else { .none }
  }

  /// True if a wrong password cannot be distinguished from the right one.
  var isSilent: Bool { lockPolicy == .silent }

  /// The reason why a header was rejected.
  package enum Refusal: Error, Equatable {
    case malformed
    case unknownVersion(UInt8)
    case cost(Argon2id)
  }

  static let magic: [UInt8] = Array("SGSH".utf8)
  static let digestByteCount = 32
  private static let noCost = Argon2id(memoryKiB: 0, passes: 0, lanes: 0)

  package var bytes: [UInt8] { version == 1 ? bytesOfVersion1 : bytesOfVersion2 }

  private var bytesOfVersion2: [UInt8] {
    var bytes = start(wrapping: isSilent ? 2 : 1)
    bytes.append(UInt8(clamping: guessLimit ?? 0))
    if case .biometric(let enrolledSet) = opening {
      bytes += enrolledSet
    } else {
      bytes += [UInt8](repeating: 0, count: Self.digestByteCount)
    }
    bytes += end
    var policy: [UInt8] = []
    if case .password = opening { policy = lockPolicy.canonicalJSON }
    bytes.append(bigEndian: UInt16(clamping: policy.count))
    return bytes + policy
  }

  /// The fields at the start of both versions.
  func start(wrapping: UInt8) -> [UInt8] {
    var (cost, derivation) = (Self.noCost, UInt8(0))
    if case .password(let passwordCost, _) = opening { (cost, derivation) = (passwordCost, 1) }
    var bytes = Self.magic + [version, kind.rawValue, keystore.code, wrapping, derivation]
    for number in [cost.memoryKiB, cost.passes, cost.lanes] {
      bytes.append(bigEndian: UInt32(clamping: number))
    }
    return bytes
  }

  /// The fields that follow the policy in version 1 and precede it in version 2.
  var end: [UInt8] {
    let name = Array(domainID.domain.utf8)
    return salt + domainID.vault.bytes + domainID.container.bytes + [UInt8(name.count)] + name
  }
}

extension LockPolicy {
  /// The unique stored encoding.
  var canonicalJSON: [UInt8] { JSONValue.object(json).bytes }
}
