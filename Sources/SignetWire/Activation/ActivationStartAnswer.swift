import SignetCrypto
import SignetJSON

/// The answer to *start*: an opaque handle of the server's, and the offer.
public struct ActivationStartAnswer: Sendable {
  /// What the server wants back with *finish*; at most 2,048 characters.
  public let handshake: String
  /// The offer.
  public let offer: ActivationOffer

  /// Puts the answer together.
  public init(handshake: String, offer: ActivationOffer) {
    self.handshake = handshake
    self.offer = offer
  }

  /// Reads an answer.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    handshake = try object.wireString("handshake")
    guard (1...2048).contains(handshake.utf8.count) else {
      throw .invalid(member: "handshake", reason: "has 1 to 2048 characters")
    }
    offer = try ActivationOffer(parsing: object.wireBytes("offer", count: nil))
  }

  /// The answer's body.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["handshake"] = .string(handshake)
    object["offer"] = .string(Base64URL.encode(offer.bytes))
    return JSONValue.object(object).bytes
  }
}
