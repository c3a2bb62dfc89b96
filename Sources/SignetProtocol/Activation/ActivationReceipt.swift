public import SignetCrypto
import SignetJSON

/// The server's answer to a valid proof: the payload of its own proof.
public struct ActivationReceipt: Sendable {
  /// The new container.
  public let container: ContainerID
  /// The owner of the container.
  public let user: UserID
  /// The server id.
  public let server: ServerURL
  /// The time of creation by the server's clock, in seconds since 1970.
  public let created: Int64
  /// T2 of `docs/protocol.md` section 3.2, 32 bytes: the hash of the whole handshake.
  public let transcript: [UInt8]
  /// The value that *confirm* has to return, encrypted to the new encryption key: a JWE (``SealedConfirmation``).
  public let sealed: String
  /// The server's current signing key.
  public let serverKey: P256.Signing.PublicKey

  /// Creates a receipt.
  public init(
    container: ContainerID, user: UserID, server: ServerURL, created: Int64, transcript: [UInt8],
    sealed: String, serverKey: P256.Signing.PublicKey
  ) {
    self.container = container
    self.user = user
    self.server = server
    self.created = created
    self.transcript = transcript
    self.sealed = sealed
    self.serverKey = serverKey
  }

  /// Parses the payload of a verified receipt.
  ///
  /// - Throws: ``WireFailure`` if the payload is not of the protocol's form.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    container = try ContainerID(object.wireString("container"))
    user = try UserID(object.wireString("user"))
    server = try ServerURL(serverID: object.wireString("server"))
    created = try object.wireInteger("created")
    transcript = try object.wireBytes("transcript", count: 32)
    sealed = try object.wireString("sealed")
    serverKey = try P256.Signing.PublicKey(wireJWK: object.wireObject("serverKey"), member: "serverKey")
  }

  /// The payload as JSON.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["container"] = .string(container.text)
    object["user"] = .string(user.text)
    object["server"] = .string(server.fullForm)
    object["created"] = .integer(created)
    object["transcript"] = .string(Base64URL.encode(transcript))
    object["sealed"] = .string(sealed)
    object["serverKey"] = .object(serverKey.wireJWK)
    return JSONValue.object(object).bytes
  }
}

extension ActivationReceipt {
  /// Returns the JWS in the body of the answer to *finish*; `nil` for a malformed body.
  public static func message(in body: [UInt8]) -> String? {
    do { return try Wire.object(body).wireString("message") } catch { return nil }
  }

  /// Parses a verified payload; `nil` if it is malformed.
  public init?(verified payload: [UInt8]) {
    do { try self.init(parsing: payload) } catch { return nil }
  }
}
