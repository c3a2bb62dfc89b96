import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetWire

/// A statement that an account's key signs: which device asks, once and now.
enum DeviceSignature {
  /// Signs a request.
  ///
  /// - Parameters:
  ///   - target: What the server calls this device.
  ///   - claims: What is said beside who asks and when.
  ///   - key: The account's key.
  ///   - device: Its clock and its randomness.
  /// - Returns: The compact JWS.
  /// - Throws: ``SignetFailure``.
  static func make(
    for target: String, saying claims: JSONObject = [:], with key: DeviceSigningKey, on device: Device
  ) async throws(SignetFailure) -> String {
    var all: JSONObject = [
      "dispatchTargetId": .string(target),
      "requestId": .string(Base64URL.encode(device.random.bytes(16))),
      "creationTimeInEpochMillis": .integer(device.clock.now * 1_000),
    ]
    for (name, value) in claims.members { all[name] = value }
    let unsigned: UnsignedJWS
    do throws(JOSEFailure) {
      unsigned = try UnsignedJWS(payload: all.bytes, algorithm: .es256, keyID: target)
    } catch { preconditionFailure("a header without further members is refused: \(error)") }
    return unsigned.signed(
      bearing: try await key.signature(of: unsigned.signingInput).rawRepresentation)
  }
}
