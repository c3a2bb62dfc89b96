import SignetCrypto
import SignetJSON

/// The body of *finish* of a renewal: the server's handle, what the present keys prove, and that the new signing key is
/// the device's.
public struct RenewalFinish: Sendable {
  /// The handle from the answer to *start*.
  public let handshake: String
  /// The JWS over the core by the present signing key.
  public let message: String
  /// That the present secret of one-time passwords is known: 32 bytes.
  public let proof: [UInt8]
  /// The transcript under the new signing key: a JWS (``KeyPossession``).
  public let possession: String

  /// Puts the body together.
  public init(handshake: String, message: String, proof: [UInt8], possession: String) {
    (self.handshake, self.message) = (handshake, message)
    (self.proof, self.possession) = (proof, possession)
  }

  /// Reads a body.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    handshake = try object.wireString("handshake")
    message = try object.wireString("message")
    proof = try object.wireBytes("proof", count: 32)
    possession = try object.wireString("possession")
  }

  /// The body as sent.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["handshake"] = .string(handshake)
    object["message"] = .string(message)
    object["proof"] = .string(Base64URL.encode(proof))
    object["possession"] = .string(possession)
    return JSONValue.object(object).bytes
  }
}

extension ActivationSecrets {
  /// What the device proves a renewal with: HMAC-SHA256 of the message under the key of its proof.
  ///
  /// The server checks it before it proves anything itself; its own proof would let whoever has it try the passwords of the
  /// present secret one by one, elsewhere and uncounted.
  ///
  /// - Parameter message: The JWS by the present signing key.
  /// - Returns: 32 bytes.
  public borrowing func renewalProof(of message: String) -> [UInt8] {
    HMACKey(deviceProofKey(), .sha256).authenticationCode(for: Array(message.utf8))
  }
}
