public import SignetCrypto
import SignetJSON

/// What the server offers: its ephemeral key, how to derive the invite key, and what the container will hold.
public struct ActivationOffer: ContainerOffer {
  /// The server's ephemeral key.
  public let key: P256.KeyAgreement.PublicKey
  /// The salt of the invite key, 16 bytes.
  public let salt: [UInt8]
  /// The costs of the invite key.
  public let costs: Argon2id
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
    key: P256.KeyAgreement.PublicKey, salt: [UInt8], costs: Argon2id, server: ServerURL,
    profile: ContainerProfile, expires: Int64, random: some RandomSource
  ) {
    (self.key, self.salt, self.costs, self.server, self.profile, self.expires) =
      (key, salt, costs, server, profile, expires)
    var kdf = JSONObject()
    kdf["name"] = .string("argon2id")
    kdf["memory"] = .integer(Int64(costs.memoryKiB))
    kdf["passes"] = .integer(Int64(costs.passes))
    kdf["lanes"] = .integer(Int64(costs.lanes))
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["nonce"] = .string(Base64URL.encode(random.bytes(32)))
    object["key"] = .object(key.wireJWK)
    object["salt"] = .string(Base64URL.encode(salt))
    object["kdf"] = .object(kdf)
    object["server"] = .string(server.fullForm)
    object["profile"] = .object(profile.json)
    object["expires"] = .integer(expires)
    bytes = JSONValue.object(object).bytes
  }

  /// Reads an offer.
  ///
  /// - Throws: ``WireFailure``; costs below 19 MiB and 2 passes, or above 1 GiB, 16 passes and 16 lanes are refused.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    _ = try object.wireBytes("nonce", count: 32)
    key = try P256.KeyAgreement.PublicKey(wireJWK: object.wireObject("key"), member: "key")
    salt = try object.wireBytes("salt", count: 16)
    costs = try Self.costs(object.wireObject("kdf"))
    server = try ServerURL(serverID: object.wireString("server"))
    profile = try ContainerProfile(object.wireObject("profile"))
    expires = try object.wireInteger("expires")
    self.bytes = bytes
  }

  private static func costs(_ kdf: JSONObject) throws(WireFailure) -> Argon2id {
    guard try kdf.wireName("name") == "argon2id" else {
      throw .invalid(member: "kdf", reason: "names a function other than argon2id")
    }
    let (memory, passes, lanes) =
      (try kdf.wireInteger("memory"), try kdf.wireInteger("passes"), try kdf.wireInteger("lanes"))
    guard (19_456...1_048_576).contains(memory), (2...16).contains(passes), (1...16).contains(lanes) else {
      throw .invalid(member: "kdf", reason: "has costs outside the protocol's limits")
    }
    return Argon2id(memoryKiB: Int(memory), passes: Int(passes), lanes: Int(lanes))
  }
}
