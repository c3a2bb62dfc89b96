import SignetJSON

/// The body of *finish*: the server's handle and the device's proof.
public struct ActivationFinish: Sendable {
  /// The handle from the answer to *start*.
  public let handshake: String
  /// The JWS over the core under the device's proof key.
  public let message: String

  /// Puts the body together.
  public init(handshake: String, message: String) {
    self.handshake = handshake
    self.message = message
  }

  /// Reads a body.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    handshake = try object.wireString("handshake")
    message = try object.wireString("message")
  }

  /// The body as sent.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["handshake"] = .string(handshake)
    object["message"] = .string(message)
    return JSONValue.object(object).bytes
  }
}
