public import SignetCrypto
import SignetJSON

/// What the server offers for a renewal: its ephemeral key, and what the container will hold from then on.
public struct RenewalOffer: Sendable {
  /// The server's ephemeral key.
  public let key: P256.KeyAgreement.PublicKey
  /// The server id.
  public let server: ServerURL
  /// What the container will hold.
  public let profile: ContainerProfile
  /// When the handshake ends, in seconds since 1970.
  public let expires: Int64
  /// The offer as sent.
  public let bytes: [UInt8]

  /// Makes an offer with a fresh nonce.
  public init(
    key: P256.KeyAgreement.PublicKey, server: ServerURL, profile: ContainerProfile, expires: Int64,
    random: some RandomSource
  ) {
    (self.key, self.server, self.profile, self.expires) = (key, server, profile, expires)
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["nonce"] = .string(Base64URL.encode(random.bytes(32)))
    object["key"] = .object(key.wireJWK)
    object["server"] = .string(server.fullForm)
    object["profile"] = .object(profile.json)
    object["expires"] = .integer(expires)
    bytes = JSONValue.object(object).bytes
  }

  /// Reads an offer.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    _ = try object.wireBytes("nonce", count: 32)
    key = try P256.KeyAgreement.PublicKey(wireJWK: object.wireObject("key"), member: "key")
    server = try ServerURL(serverID: object.wireString("server"))
    profile = try ContainerProfile(object.wireObject("profile"))
    expires = try object.wireInteger("expires")
    self.bytes = bytes
  }
}

/// The answer to *start* of a renewal: an opaque handle of the server's, and the offer.
public struct RenewalStartAnswer: Sendable {
  /// What the server wants back with *finish*; at most 2,048 characters.
  public let handshake: String
  /// The offer.
  public let offer: RenewalOffer

  /// Puts the answer together.
  public init(handshake: String, offer: RenewalOffer) { (self.handshake, self.offer) = (handshake, offer) }

  /// Reads an answer.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    handshake = try object.wireString("handshake")
    guard (1...2048).contains(handshake.utf8.count) else {
      throw .invalid(member: "handshake", reason: "has 1 to 2048 characters")
    }
    offer = try RenewalOffer(parsing: object.wireBytes("offer", count: nil))
  }

  /// The answer's body.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["handshake"] = .string(handshake)
    object["offer"] = .string(Base64URL.encode(offer.bytes))
    return JSONValue.object(object).bytes
  }
}
