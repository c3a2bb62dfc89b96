import SignetCrypto
import SignetPolicy

/// Version 1, which knew only device and password slots, and the lock policies limit and none:
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 21 | as in version 2; wrapping 1, slot kind 1 or 2 |
/// | 21 | 1 | lock policy: 0 none, 1 lock |
/// | 22 | 4 | limit of failed attempts; 0 if there is none |
/// | 26 | 16 | salt |
/// | 42 | 16 | vault |
/// | 58 | 16 | container |
/// | 74 | 1 | length of the domain's name, 1 to 64 |
/// | 75 | … | the domain's name, visible ASCII |
extension SlotHeader {
  var bytesOfVersion1: [UInt8] {
    var bytes = start(wrapping: 1)
    if case .lock(let limit, _) = lockPolicy {
      bytes.append(1)
      bytes.append(bigEndian: UInt32(clamping: limit))
    } else {
      bytes += [0, 0, 0, 0, 0]
    }
    return bytes + end
  }

  init(version1 bytes: [UInt8], floor: Argon2id) throws(Refusal) {
    var reader = HeaderReader(bytes[5...])
    let kind = try reader.kind()
    keystore = try reader.keystore()
    guard try reader.byte() == 1 else { throw .malformed }
    let derivation = try reader.byte()
    let cost = try reader.cost()
    let (lock, limit) = (try reader.byte(), Int(try reader.number(byteCount: 4)))
    (salt, domainID) = try reader.end()
    try reader.finish()
    switch (kind, derivation, lock, limit) {
    case (.device, 0, 0, 0): opening = .device
    case (.password, 1, 0, 0): opening = .password(cost, .none)
    case (.password, 1, 1, let limit) where LockPolicy.allowedLimits.contains(limit):
      opening = .password(cost, .lock(limit: limit))
    default: throw .malformed
    }
    if case .password = opening, !PasswordCost.accepts(cost, floor: floor) { throw .cost(cost) }
    version = 1
    guessLimit = nil
  }
}
