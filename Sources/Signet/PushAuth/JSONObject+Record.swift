import SignetCrypto
import SignetJSON

// Records that are JSON alone. The bytes are wiped wherever they pass; the values read from them are Swift's own strings, which
// nobody can wipe, and none of them is a secret: a challenge is answered with the shared secret only, which lies apart
// (``PushMechanismRecord/secret``), a cookie of a load balancer names a machine, and a device token an address.
extension JSONObject {
  /// The record.
  var recordBytes: SecretBytes {
    var bytes = bytes
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    return SecretBytes(copying: bytes)
  }

  /// Reads a record.
  ///
  /// - Throws: `JSONFailure`.
  init(record: borrowing SecretBytes, limits: JSONLimits = .standard) throws(JSONFailure) {
    self = try record.withTemporaryArray { (bytes) throws(JSONFailure) in
      try JSONObject(parsing: bytes, limits: limits)
    }
  }
}
