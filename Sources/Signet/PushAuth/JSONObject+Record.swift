import SignetCrypto
import SignetJSON

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
