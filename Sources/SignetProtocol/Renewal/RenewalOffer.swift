public import SignetCrypto
import SignetJSON

/// The server's offer for a renewal: its ephemeral key and the new profile of the container.
public struct RenewalOffer: ContainerOffer {
  /// The server's ephemeral key.
  public let key: P256.KeyAgreement.PublicKey
  /// The server id.
  public let server: ServerURL
  /// The profile of the container after the renewal.
  public let profile: ContainerProfile
  /// The time at which the handshake expires, in seconds since 1970.
  public let expires: Int64
  /// The offer exactly as sent: the transcript covers these bytes.
  public let bytes: [UInt8]

  /// Creates an offer with a fresh nonce of 32 bytes.
  public init(
    key: P256.KeyAgreement.PublicKey, server: ServerURL, profile: ContainerProfile, expires: Int64,
    random: some RandomSource
  ) {
    self.key = key
    self.server = server
    self.profile = profile
    self.expires = expires
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["nonce"] = .string(Base64URL.encode(random.bytes(32)))
    object["key"] = .object(key.wireJWK)
    object["server"] = .string(server.fullForm)
    object["profile"] = .object(profile.json)
    object["expires"] = .integer(expires)
    bytes = JSONValue.object(object).bytes
  }

  /// Parses an offer.
  ///
  /// - Throws: ``WireFailure`` if the offer is not of the protocol's form.
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
