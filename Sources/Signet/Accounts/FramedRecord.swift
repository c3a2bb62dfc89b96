import SignetCrypto
import SignetJSON
import SignetVault

/// The format of vault records with a secret: version (1 byte), length of the JSON text (4 bytes, big-endian), JSON text, secret.
struct FramedRecord: ~Copyable {
  let version: UInt8
  let json: [UInt8]
  let secret: SecretBytes

  /// Encodes a record.
  static func bytes(version: UInt8, json: [UInt8], secret: borrowing SecretBytes) -> SecretBytes {
    let length = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: json.count >> $0) }
    return SecretBytes(copying: [version] + length + json).joined(with: secret)
  }

  /// Parses a record.
  ///
  /// - Throws: ``VaultFailure``: `tooNew` for a record of a newer version, `damaged` for an invalid one.
  init(_ bytes: borrowing SecretBytes, newest: UInt8) throws(VaultFailure) {
    let version = bytes.withUInt8Span { $0.isEmpty ? 0 : $0[0] }
    guard version <= newest else { throw .tooNew(found: Int(version), supported: Int(newest)) }
    var json: [UInt8] = []
    var secret: SecretBytes?
    bytes.withUInt8Span { bytes in
      guard bytes.count >= 5, bytes[0] > 0 else { return }
      let count = (1...4).reduce(0) { $0 << 8 | Int(bytes[$1]) }
      guard bytes.count >= 5 + count else { return }
      json.reserveCapacity(count)
      for index in 5..<5 + count { json.append(bytes[index]) }
      secret = SecretBytes(byteCount: bytes.count - 5 - count) { output in
        for index in 5 + count..<bytes.count { output.append(bytes[index]) }
      }
    }
    guard let secret else { throw .damaged }
    self.version = version
    self.json = json
    self.secret = secret
  }
}

// Records that are JSON without a secret part. The byte buffers are wiped. The values read from them are Swift strings,
// which cannot be wiped, but none of them is a secret. A challenge is answered with the shared secret only, which is stored
// separately (``PushMechanismRecord/secret``). A load balancer cookie identifies a machine, and a device token an address.
extension JSONObject {
  /// The bytes of the record.
  var recordBytes: SecretBytes {
    var bytes = bytes
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    return SecretBytes(copying: bytes)
  }

  /// Parses a record.
  ///
  /// - Throws: `JSONFailure`.
  init(record: borrowing SecretBytes, limits: JSONLimits = .standard) throws(JSONFailure) {
    self = try record.withTemporaryArray { (bytes) throws(JSONFailure) in
      try JSONObject(parsing: bytes, limits: limits)
    }
  }
}
