public import SignetCrypto
public import SignetJSON

/// The published keys of a server: a JWK Set (RFC 7517 section 5) with the signed successions between them.
public struct ServerKeySet: Sendable {
  /// The largest number of successions that ``successor(of:called:at:)`` examines.
  static let maximumSuccessionCount = 1000

  /// The keys, oldest first; the last one is the present signing key.
  public let keys: [P256.Signing.PublicKey]
  /// The statement of each key but the last about its successor: a JWS each, oldest first.
  public let successions: [String]

  /// Creates a set.
  public init(keys: [P256.Signing.PublicKey], successions: [String]) {
    (self.keys, self.successions) = (keys, successions)
  }

  /// Parses a published key set.
  ///
  /// - Throws: ``WireFailure`` for a malformed set or key.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes, maximumByteCount: Wire.maximumListByteCount)
    var keys: [P256.Signing.PublicKey] = []
    let elements = try Wire.reading(object.array("keys"))
    for value in elements {
      guard case .object(let jwk) = value else {
        throw .invalid(member: "keys", reason: "has an element that is not an object")
      }
      keys.append(try P256.Signing.PublicKey(wireJWK: jwk, member: "keys"))
    }
    self.keys = keys
    successions = try Wire.reading(object.optionalStrings("successions")) ?? []
  }

  /// The JWK Set with `alg`, `kid` and `use` as in RFC 7517 section 4.
  public var json: JSONObject {
    let keys = self.keys.map { key -> JSONValue in
      var jwk = key.wireJWK
      jwk["kid"] = .string(key.thumbprint)
      jwk["use"] = "sig"
      jwk["alg"] = "ES256"
      return .object(jwk)
    }
    return ["keys": .array(keys), "successions": .array(successions.map { .string($0) })]
  }

  /// Follows the successions from a trusted key to the key with this thumbprint.
  ///
  /// - Parameters:
  ///   - trustedKey: The trusted key.
  ///   - thumbprint: The thumbprint of the key to find.
  ///   - server: The server that must own the keys.
  /// - Returns: The key; `nil` if no chain of successions leads to it.
  public func successor(
    of trustedKey: P256.Signing.PublicKey, called thumbprint: String, at server: ServerURL
  ) -> P256.Signing.PublicKey? {
    var key = trustedKey
    for jws in successions.prefix(Self.maximumSuccessionCount) {
      guard let succession = KeySuccession(verifying: jws, signedBy: key), succession.server == server else {
        continue  // signed by an earlier key than the trusted one
      }
      key = succession.next
      if key.thumbprint == thumbprint { return key }
    }
    return nil
  }
}
