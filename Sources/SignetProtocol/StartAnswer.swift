public import SignetCrypto
import SignetJSON

/// A server's offer for new keys, in an activation or a renewal.
public protocol ContainerOffer: Sendable {
  /// The server's ephemeral key.
  var key: P256.KeyAgreement.PublicKey { get }
  /// The server id.
  var server: ServerURL { get }
  /// The profile of the container.
  var profile: ContainerProfile { get }
  /// The time at which the handshake expires, in seconds since 1970.
  var expires: Int64 { get }
  /// The offer exactly as sent: the transcript covers these bytes.
  var bytes: [UInt8] { get }

  /// Parses an offer.
  ///
  /// - Throws: ``WireFailure`` if the offer is not of the protocol's form.
  init(parsing bytes: [UInt8]) throws(WireFailure)
}

/// The answer to *start*: an opaque handle of the server and the offer.
public struct StartAnswer<Offer: ContainerOffer>: Sendable {
  /// The handle that *finish* has to return, 1 to 2,048 bytes.
  public let handshake: String
  /// The offer.
  public let offer: Offer

  /// Creates an answer.
  public init(handshake: String, offer: Offer) { (self.handshake, self.offer) = (handshake, offer) }

  /// Parses an answer.
  ///
  /// - Throws: ``WireFailure`` for malformed JSON, a handle of another length or a malformed offer.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    handshake = try object.wireString("handshake")
    guard (1...2048).contains(handshake.utf8.count) else {
      throw .invalid(member: "handshake", reason: "must have 1 to 2048 characters")
    }
    offer = try Offer(parsing: object.wireBytes("offer", count: nil))
  }

  /// The answer as JSON.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["handshake"] = .string(handshake)
    object["offer"] = .string(Base64URL.encode(offer.bytes))
    return JSONValue.object(object).bytes
  }
}
