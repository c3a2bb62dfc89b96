import SignetCrypto
import SignetJSON

/// The body of *finish* of a renewal: the server's handle, the proofs by the present keys and the possession of the new one.
public struct RenewalFinish: Sendable {
  /// The handle from the answer to *start*.
  public let handshake: String
  /// The JWS over the core by the present signing key.
  public let message: String
  /// The proof of the present one-time password secret, 32 bytes.
  public let proof: [UInt8]
  /// The transcript, signed by the new signing key: a JWS (``KeyPossession``).
  public let possession: String

  /// Creates a body.
  public init(handshake: String, message: String, proof: [UInt8], possession: String) {
    self.handshake = handshake
    self.message = message
    self.proof = proof
    self.possession = possession
  }

  /// Parses a body.
  ///
  /// - Throws: ``WireFailure`` for malformed JSON, a missing member or a proof of another length.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    handshake = try object.wireString("handshake")
    message = try object.wireString("message")
    proof = try object.wireBytes("proof", count: 32)
    possession = try object.wireString("possession")
  }

  /// The body as JSON.
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
  /// Computes the device's proof of a renewal: HMAC-SHA256 of the message under `Kd`.
  ///
  /// The server verifies it before it sends its own proof. Otherwise an attacker could use the server's proof to guess the
  /// password of the present secret offline, where the server does not count the attempts.
  ///
  /// - Parameter message: The JWS by the present signing key.
  /// - Returns: The MAC, 32 bytes.
  public borrowing func renewalProof(of message: String) -> [UInt8] {
    HMACKey(deviceProofKey(), .sha256).authenticationCode(for: Array(message.utf8))
  }
}
