import SignetCrypto
import SignetHTTPClient
import SignetJOSE
import SignetJSON
import SignetProtocol
import Testing

/// A user's device: its keys for device requests, and its target ID.
struct UAFTestDevice: Sendable {
  let signing = P256.Signing.PrivateKey()
  let encryption = P256.KeyAgreement.PrivateKey()
  private(set) var target = ""

  /// Adds a device.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - name: The user's name for it.
  ///   - user: Its user.
  ///   - device: Its own name.
  ///   - isEncrypted: Whether it has a key that payloads are encrypted to.
  ///   - dispatcher: Its usual dispatcher.
  ///   - hasAddress: Whether it registers a push service and address; otherwise it polls.
  /// - Throws: Errors of the request.
  init(
    on server: UAFServer, name: String = "Phone", user: String = "alice", device: String = "d1",
    isEncrypted: Bool = true, dispatcher: String = "link", hasAddress: Bool = true
  ) async throws {
    var body = try form(name: name, user: user, device: device, dispatcher: dispatcher)
    if !isEncrypted { body["encryptionKey"] = nil }
    if !hasAddress { (body["target"], body["dispatcher"]) = (nil, nil) }
    target = try await server.json("/token/dispatch/targets", body, status: 201).string("id")
  }

  /// The form that adds it.
  private func form(name: String, user: String, device: String, dispatcher: String) throws -> JSONObject {
    let key = try P256.Signing.PublicKey(x963: encryption.publicKey.x963Representation)
    return [
      "username": .string(user), "deviceId": .string(device), "name": .string(name),
      "dispatcher": .string(dispatcher), "target": "address:1",
      "signatureKey": .string(JSONValue.object(signing.publicKey.wireJWK).text),
      "encryptionKey": .string(JSONValue.object(key.wireJWK).text),
    ]
  }

  /// The claims that it signs.
  func claims(at time: Int64, request: String = SystemID.make()) -> JSONObject {
    [
      "dispatchTargetId": .string(target), "requestId": .string(request),
      "creationTimeInEpochMillis": .integer(time * 1_000),
    ]
  }

  /// Signs a request.
  func jws(
    at time: Int64, _ more: JSONObject = [:], request: String = SystemID.make(),
    by key: P256.Signing.PrivateKey? = nil
  ) throws -> String {
    var claims = claims(at: time, request: request)
    for (name, value) in more.members { claims[name] = value }
    return try JWS.sign(claims.bytes, with: SigningKey(key ?? signing))
  }

  /// Unique names for requests.
  enum SystemID {
    static func make() -> String { Base64URL.encode(SecureRandom.bytes(16)) }
  }

  /// Decrypts a payload for it.
  func opened(_ payload: JSONObject) throws -> JSONObject {
    #expect(try payload.string("nma_data_content_type") == "application/jose")
    #expect(try payload.string("nma_data_version") == "1")
    let opened = try JWE(compact: payload.string("nma_data")).decrypted(
      with: DecryptionKey(encryption), allowing: [.ecdhES], [.a256GCM])
    return try JSONObject(parsing: opened.plaintext)
  }
}

extension UAFServer {
  /// Sends a device's JWS in a header.
  func signed(_ method: HTTPMethod, _ path: String, _ jws: String) async throws -> HTTPResponse {
    try await send(method, path, [], [("Device-Signature", jws)])
  }

  /// Sends a device's JWS as the body.
  func change(_ path: String, _ jws: String) async throws -> HTTPResponse {
    try await send(.patch, path, Array(jws.utf8), [("Content-Type", "application/jose;charset=UTF-8")])
  }
}

extension HTTPResponse {
  /// The code of a rejection, with its status.
  var refusal: String {
    get throws {
      let body = try JSONObject(parsing: self.body)
      #expect(try body.integer("status") == Int64(status))
      #expect(try !body.string("error").isEmpty)
      return "\(status) \(try body.optionalString("code") ?? "-")"
    }
  }
}
