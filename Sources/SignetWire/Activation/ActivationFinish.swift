import SignetJSON

/// The body of *finish*: the server's handle, the device's proof, and that the new signing key is the device's.
public struct ActivationFinish: Sendable {
  /// The handle from the answer to *start*.
  public let handshake: String
  /// The JWS over the core under the device's proof key.
  public let message: String
  /// The transcript under the new signing key: a JWS (``KeyPossession``).
  public let possession: String

  /// Puts the body together.
  public init(handshake: String, message: String, possession: String) {
    (self.handshake, self.message, self.possession) = (handshake, message, possession)
  }

  /// Reads a body.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    handshake = try object.wireString("handshake")
    message = try object.wireString("message")
    possession = try object.wireString("possession")
  }

  /// The body as sent.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["handshake"] = .string(handshake)
    object["message"] = .string(message)
    object["possession"] = .string(possession)
    return JSONValue.object(object).bytes
  }
}
