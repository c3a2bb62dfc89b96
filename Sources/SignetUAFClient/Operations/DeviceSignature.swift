import SignetCrypto
import SignetHTTPClient
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetSystem
import SignetVault

/// The parts of a device's request that its signature covers.
struct RequestSignatureInput: Sendable {
  let method: HTTPMethod
  let url: String
  /// The body of the request; `nil` if there is none.
  var body: [UInt8]?
}

/// A JWS that an account's key signs to prove that a device makes one request at one time.
enum DeviceSignature {
  /// Signs a request.
  ///
  /// - Parameters:
  ///   - request: The request; a server that checks the claims accepts the signature for no other request.
  ///   - target: The server's ID of this device's dispatch target.
  ///   - claims: Further claims.
  ///   - key: The account's key.
  ///   - device: The source of the time and of the random request ID.
  /// - Returns: The compact JWS.
  /// - Throws: ``SignetError``.
  static func make(
    of request: RequestSignatureInput, for target: String, saying claims: JSONObject = [:],
    with key: ContainerSigningKey, on device: Device
  ) async throws(SignetError) -> String {
    var all: JSONObject = [
      "dispatchTargetId": .string(target),
      "requestId": .string(Base64URL.encode(device.random.bytes(16))),
      "creationTimeInEpochMillis": .integer(device.clock.now * 1_000),
      "method": .string(request.method.rawValue), "path": .string(HTTPSURL(request.url)?.path ?? "/"),
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
      bearing: try await vaulted(await key.signature(of: unsigned.signingInput)).rawRepresentation)
  }
}
