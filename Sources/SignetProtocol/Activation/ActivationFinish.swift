import SignetJSON

/// The body of *finish*: the server's handle, the device's proof and the proof of possession of the new signing key.
public struct ActivationFinish: Sendable {
  /// The handle from the answer to *start*.
  public let handshake: String
  /// The device's proof: a JWS over the core under `Kd`.
  public let message: String
  /// The transcript, signed by the new signing key: a JWS (``KeyPossession``).
  public let possession: String

  /// Creates a body.
  public init(handshake: String, message: String, possession: String) {
    self.handshake = handshake
    self.message = message
    self.possession = possession
  }

  /// Parses a body.
  ///
  /// - Throws: ``WireFailure`` for malformed JSON or a missing member.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    handshake = try object.wireString("handshake")
    message = try object.wireString("message")
    possession = try object.wireString("possession")
  }

  /// The body as JSON.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["handshake"] = .string(handshake)
    object["message"] = .string(message)
    object["possession"] = .string(possession)
    return JSONValue.object(object).bytes
  }
}
