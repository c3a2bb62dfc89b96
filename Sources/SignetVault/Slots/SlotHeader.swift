import SignetCrypto
import SignetPolicy

/// What a slot says about itself: in the clear, and authenticated, since it is the associated data of the wrapped master key.
///
/// Version 1, numbers big-endian:
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 4 | `SGSH` |
/// | 4 | 1 | version: 1 |
/// | 5 | 1 | slot kind: 1 device, 2 password |
/// | 6 | 1 | keystore: 1 software, 2 TPM 2.0 |
/// | 7 | 1 | wrapping: 1 AES-256-GCM |
/// | 8 | 1 | key derivation: 0 none, 1 Argon2id version 1.3 |
/// | 9 | 4, 4, 4 | memory in KiB, passes, lanes; 0 where there is none |
/// | 21 | 1 | lock policy: 0 none, 1 lock |
/// | 22 | 4 | limit of failed attempts; 0 where there is none |
/// | 26 | 16 | salt |
/// | 42 | 16 | vault |
/// | 58 | 16 | container |
/// | 74 | 1 | length of the domain's name, 1 to 64 |
/// | 75 | … | the domain's name, visible ASCII |
struct SlotHeader: Equatable {
  static let saltByteCount = 16

  var keystore: KeystoreKind
  var opening: Opening
  var salt: [UInt8]
  var place: DomainPlace

  /// How the slot is opened, beside the hardware secret that every slot has.
  enum Opening: Equatable {
    case device
    case password(Argon2id, LockPolicy)
  }

  var kind: SlotKind {
    switch opening {
    case .device: .device
    case .password: .password
    }
  }

  var lockPolicy: LockPolicy {
    switch opening {
    case .device: .none
    case .password(_, let policy): policy
    }
  }

  /// Why a header was not accepted.
  enum Refusal: Error, Equatable {
    case malformed
    case unknownVersion(UInt8)
    case cost(Argon2id)
  }

  /// The bytes of version 1.
  var bytes: [UInt8] {
    var cost = Argon2id(memoryKiB: 0, passes: 0, lanes: 0)
    var derivation: UInt8 = 0
    if case .password(let wanted, _) = opening { (cost, derivation) = (wanted, 1) }
    let (lock, limit): (UInt8, Int) =
      switch lockPolicy {
      case .none: (0, 0)
      case .lock(let limit, _): (1, limit)
      default:
        preconditionFailure("version 1 of a slot knows no such lock policy; drafts are validated first")
      }
    var bytes = Self.magic + [1, kind.rawValue, keystore.code, 1, derivation]
    for number in [cost.memoryKiB, cost.passes, cost.lanes] {
      bytes.append(bigEndian: UInt32(clamping: number))
    }
    bytes.append(lock)
    bytes.append(bigEndian: UInt32(clamping: limit))
    bytes += salt + place.vault.bytes + place.container.bytes
    let name = Array(place.domain.utf8)
    return bytes + [UInt8(name.count)] + name
  }

  private static let magic: [UInt8] = Array("SGSH".utf8)
}

extension SlotHeader {
  /// Reads a header that anybody may have written.
  ///
  /// - Parameters:
  ///   - bytes: All of it; what is left over is refused.
  ///   - floor: The least cost of a password slot.
  /// - Throws: ``Refusal``.
  init(parsing bytes: [UInt8], floor: Argon2id) throws(Refusal) {
    guard bytes.count >= 76, bytes.starts(with: Self.magic) else { throw .malformed }
    guard bytes[4] == 1 else { throw .unknownVersion(bytes[4]) }
    func number(_ offset: Int) -> Int { bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
    guard let kind = SlotKind(rawValue: bytes[5]),
      let keystore = KeystoreKind.allCases.first(where: { $0.code == bytes[6] }), bytes[7] == 1,
      let domain = String(validating: bytes[75...], as: UTF8.self), bytes[75...].count == Int(bytes[74]),
      DomainPlace.isName(domain)
    else { throw .malformed }

    let cost = Argon2id(memoryKiB: number(9), passes: number(13), lanes: number(17))
    switch (kind, bytes[8], bytes[21], number(22)) {
    case (.device, 0, 0, 0) where cost == Argon2id(memoryKiB: 0, passes: 0, lanes: 0):
      opening = .device
    case (.password, 1, 0, 0):
      opening = .password(cost, .none)
    case (.password, 1, 1, let limit) where LockPolicy.allowedLimits.contains(limit):
      opening = .password(cost, .lock(limit: limit))
    default: throw .malformed
    }
    if case .password = opening, !PasswordCost.accepts(cost, floor: floor) { throw .cost(cost) }
    self.keystore = keystore
    salt = Array(bytes[26..<42])
    place = DomainPlace(
      vault: Identifier(unchecked: Array(bytes[42..<58])),
      container: ContainerID(Identifier(unchecked: Array(bytes[58..<74]))), domain: domain)
  }
}
