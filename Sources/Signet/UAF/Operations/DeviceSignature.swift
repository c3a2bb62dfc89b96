import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetTransport
import SignetWire

/// What a device asks, as far as its signature covers it.
struct SignedRequest: Sendable {
  let method: HTTPMethod
  let url: String
  /// What is sent beside the signature; `nil` for nothing.
  var body: [UInt8]?
}

/// A statement that an account's key signs: which device asks what, once and now.
enum DeviceSignature {
  /// Signs a request.
  ///
  /// - Parameters:
  ///   - request: What is asked; the signature is good for nothing else, at a server that looks at it.
  ///   - target: What the server calls this device.
  ///   - claims: What is said beside who asks and when.
  ///   - key: The account's key.
  ///   - device: Its clock and its randomness.
  /// - Returns: The compact JWS.
  /// - Throws: ``SignetFailure``.
  static func make(
    of request: SignedRequest, for target: String, saying claims: JSONObject = [:],
    with key: DeviceSigningKey, on device: Device
  ) async throws(SignetFailure) -> String {
    var all: JSONObject = [
      "dispatchTargetId": .string(target),
      "requestId": .string(Base64URL.encode(device.random.bytes(16))),
      "creationTimeInEpochMillis": .integer(device.clock.now * 1_000),
      "method": .string(request.method.rawValue), "path": .string(UAFPlace(request.url)?.path ?? "/"),
    ]
    if let body = request.body {
      all["body"] = .string(Base64URL.encode(HashFunction.sha256.digest(of: body)))
    }
    for (name, value) in claims.members { all[name] = value }
    let unsigned: UnsignedJWS
    do throws(JOSEFailure) {
      unsigned = try UnsignedJWS(payload: all.bytes, algorithm: .es256, keyID: target)
    } catch { preconditionFailure("a header without further members is refused: \(error)") }
    return unsigned.signed(
      bearing: try await key.signature(of: unsigned.signingInput).rawRepresentation)
  }
}
