public import SignetCrypto
import SignetJSON

/// The server's offer: its ephemeral key, the derivation of the invite key and the profile of the container.
public struct ActivationOffer: ContainerOffer {
  /// The server's ephemeral key.
  public let key: P256.KeyAgreement.PublicKey
  /// The salt for the derivation of the invite key, 16 bytes.
  public let salt: [UInt8]
  /// The Argon2id costs of the invite key.
  public let costs: Argon2id
  /// The server id.
  public let server: ServerURL
  /// The profile of the new container.
  public let profile: ContainerProfile
  /// The time at which the handshake expires, in seconds since 1970.
  public let expires: Int64
  /// The offer exactly as sent: the transcript covers these bytes.
  public let bytes: [UInt8]

  /// Creates an offer with a fresh nonce of 32 bytes.
  public init(
    key: P256.KeyAgreement.PublicKey, salt: [UInt8], costs: Argon2id, server: ServerURL,
    profile: ContainerProfile, expires: Int64, random: some RandomSource
  ) {
    self.key = key
    self.salt = salt
    self.costs = costs
    self.server = server
    self.profile = profile
    self.expires = expires
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

  /// Parses an offer.
  ///
  /// - Throws: ``WireFailure``, also for costs outside 19 MiB to 1 GiB of memory, 2 to 16 passes and 1 to 16 lanes.
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
