import SignetCrypto

/// The previous passwords of a domain, as keyed digests in a record of the domain.
///
/// The record is sealed like others, so reading a digest requires the hardware and the opened domain. Testing a password against a
/// digest costs a derivation as slow as the slot's. The bytes: version 1, memory, passes and lanes (4 bytes each, big-endian), a
/// salt of 16 bytes, the number of digests (1 byte), the digests of 32 bytes each, the latest first.
///
/// A digest is HMAC-SHA256 of Argon2id(password, salt), under HKDF-SHA256(master key, salt, info: `signet password history v1`).
package struct PasswordHistory {
  /// A name that is invalid for apps' records.
  package static let recordName = " history"
  private static let saltByteCount = 16
  private static let digestByteCount = 32
  private static let headByteCount = 1 + 12 + saltByteCount + 1

  let cost: Argon2id
  private let salt: [UInt8]
  private(set) var digests: [[UInt8]] = []

  /// Creates an empty history with a random salt.
  init(cost: Argon2id) {
    self.cost = cost
    salt = SystemRandomSource().bytes(Self.saltByteCount)
  }

  /// Parses a history; returns `nil` if the bytes are invalid.
  init?(_ bytes: [UInt8], floor: Argon2id) {
    guard bytes.count >= Self.headByteCount, bytes[0] == 1 else { return nil }
    func number(_ offset: Int) -> Int { bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
    cost = Argon2id(memoryKiB: number(1), passes: number(5), lanes: number(9))
    salt = Array(bytes[13..<(13 + Self.saltByteCount)])
    let body = Array(bytes[Self.headByteCount...])
    guard PasswordCost.accepts(cost, floor: floor),
      body.count == Int(bytes[Self.headByteCount - 1]) * Self.digestByteCount
    else { return nil }
    digests = stride(from: 0, to: body.count, by: Self.digestByteCount).map {
      Array(body[$0..<($0 + Self.digestByteCount)])
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = [1]
    for number in [cost.memoryKiB, cost.passes, cost.lanes] {
      bytes.append(bigEndian: UInt32(clamping: number))
    }
    return bytes + salt + [UInt8(clamping: digests.count)] + digests.flatMap(\.self)
  }

  /// The digest of a password; the computation is as slow as the cost.
  func digest(
    of password: SharedSecretBox, masterKey: borrowing SecretBytes, _ derivation: PasswordDerivation
  ) throws -> [UInt8] {
    let key = HMACKey(
      HKDF.derive(
        inputKey: masterKey, salt: salt, info: Array("signet password history v1".utf8), byteCount: 32,
        .sha256), .sha256)
    let derived = try password.withSecret { try derivation.derive($0, salt, cost) }
    return derived.withBytes { key.authenticationCode(for: $0) }
  }

  /// Returns true if one of the latest digests equals this one, in constant time.
  func contains(_ digest: [UInt8], amongLatest count: Int) -> Bool {
    digests.prefix(count).reduce(false) { constantTimeEqual($1, digest) || $0 }
  }

  /// Inserts a digest at the front and keeps this many.
  mutating func remember(_ digest: [UInt8], keeping count: Int) {
    digests = Array(([digest] + digests).prefix(min(max(count, 0), 255)))
  }
}
