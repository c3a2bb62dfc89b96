public import SignetCrypto
import SignetJSON

/// What a server offers for new keys: of a new container, or of one that is renewed.
public protocol ContainerOffer: Sendable {
  /// The server's ephemeral key.
  var key: P256.KeyAgreement.PublicKey { get }
  /// The server id.
  var server: ServerURL { get }
  /// What the container will hold.
  var profile: ContainerProfile { get }
  /// When the handshake ends, in seconds since 1970.
  var expires: Int64 { get }
  /// The offer as sent.
  var bytes: [UInt8] { get }

  /// Reads an offer.
  ///
  /// - Throws: ``WireFailure``.
  init(parsing bytes: [UInt8]) throws(WireFailure)
}

/// The answer to *start*: an opaque handle of the server's, and the offer.
public struct StartAnswer<Offer: ContainerOffer>: Sendable {
  /// What the server wants back with *finish*; at most 2,048 characters.
  public let handshake: String
  /// The offer.
  public let offer: Offer

  /// Puts the answer together.
  public init(handshake: String, offer: Offer) { (self.handshake, self.offer) = (handshake, offer) }

  /// Reads an answer.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    handshake = try object.wireString("handshake")
    guard (1...2048).contains(handshake.utf8.count) else {
      throw .invalid(member: "handshake", reason: "has 1 to 2048 characters")
    }
    offer = try Offer(parsing: object.wireBytes("offer", count: nil))
  }

  /// The answer's body.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["handshake"] = .string(handshake)
    object["offer"] = .string(Base64URL.encode(offer.bytes))
    return JSONValue.object(object).bytes
  }
}
