package import SignetCrypto
import SignetJSON
package import SignetPolicy

/// What a slot says about itself: in the clear, and authenticated, since it is the associated data of the wrapped master key.
///
/// Slots are made in version 2; version 1 is read, and replaced when the slot is next opened. `docs/vault-format.md` has both.
/// Version 2, numbers big-endian:
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 4 | `SGSH` |
/// | 4 | 1 | version: 2 |
/// | 5 | 1 | slot kind: 1 device, 2 password, 3 biometric, 4 device passcode, 5 recovery |
/// | 6 | 1 | keystore: 1 software, 2 TPM 2.0 |
/// | 7 | 1 | wrapping: 1 AES-256-GCM, 2 silent |
/// | 8 | 1 | key derivation: 0 none, 1 Argon2id version 1.3 |
/// | 9 | 4, 4, 4 | memory in KiB, passes, lanes; 0 where there is none |
/// | 21 | 1 | wrong guesses that the keystore allows; 0 where it does not count |
/// | 22 | 32 | digest of the enrolled set; 0 where there is none, and where any set will do |
/// | 54 | 16 | salt |
/// | 70 | 16 | vault |
/// | 86 | 16 | container |
/// | 102 | 1 | length of the domain's name, 1 to 64 |
/// | 103 | … | the domain's name, visible ASCII |
/// | … | 2 | length of the lock policy |
/// | … | … | the lock policy as JSON; empty where there is no password |
package struct SlotHeader: Equatable {
  static let saltByteCount = 16
  /// The version of slots that are made now.
  static let currentVersion: UInt8 = 2

  package var version = Self.currentVersion
  var keystore: KeystoreKind
  package var opening: Opening
  /// How many wrong guesses the keystore allows before it never opens the slot's secret again; `nil` if it does not count.
  package var guessLimit: Int?
  package var salt: [UInt8]
  package var place: DomainPlace

  package init(
    keystore: KeystoreKind, opening: Opening, guessLimit: Int? = nil, salt: [UInt8], place: DomainPlace
  ) {
    self.keystore = keystore
    self.opening = opening
    self.guessLimit = guessLimit
    self.salt = salt
    self.place = place
  }

  /// How the slot is opened, beside the hardware secret that every slot has.
  package enum Opening: Equatable {
    case device
    case password(Argon2id, LockPolicy)
    /// SHA-256 of what the sensor says about the enrolled set; ``anySet`` for whatever set there is.
    case biometric(enrolledSet: [UInt8])
    case devicePasscode
    case recovery

    /// Stands for whatever set is enrolled.
    static let anySet = [UInt8](repeating: 0, count: SlotHeader.digestByteCount)

    /// Whether a match in this set opens the slot.
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

  /// Whether nothing tells a right password from a wrong one.
  var isSilent: Bool { lockPolicy == .silent }

  /// Why a header was not accepted.
  package enum Refusal: Error, Equatable {
    case malformed
    case unknownVersion(UInt8)
    case cost(Argon2id)
  }

  static let magic: [UInt8] = Array("SGSH".utf8)
  static let digestByteCount = 32
  private static let noCost = Argon2id(memoryKiB: 0, passes: 0, lanes: 0)

  /// The bytes that stand for this header.
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

  /// What both versions begin with.
  func start(wrapping: UInt8) -> [UInt8] {
    var (cost, derivation) = (Self.noCost, UInt8(0))
    if case .password(let wanted, _) = opening { (cost, derivation) = (wanted, 1) }
    var bytes = Self.magic + [version, kind.rawValue, keystore.code, wrapping, derivation]
    for number in [cost.memoryKiB, cost.passes, cost.lanes] {
      bytes.append(bigEndian: UInt32(clamping: number))
    }
    return bytes
  }

  /// What follows the policy in version 1, and precedes it in version 2.
  var end: [UInt8] {
    let name = Array(place.domain.utf8)
    return salt + place.vault.bytes + place.container.bytes + [UInt8(name.count)] + name
  }
}

extension LockPolicy {
  /// The one form that is stored.
  var canonicalJSON: [UInt8] { JSONValue.object(json).bytes }
}
