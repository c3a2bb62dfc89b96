public import SignetCrypto
public import SignetJSON

/// The keys that a server publishes: a JWK Set (RFC 7517 section 5) with how each led to the next.
public struct ServerKeySet: Sendable {
  /// The most successions that are followed.
  static let maximumSuccessionCount = 1000

  /// The keys, oldest first; the last one signs now.
  public let keys: [P256.Signing.PublicKey]
  /// What each key but the last said of the next: a JWS each, oldest first.
  public let successions: [String]

  /// Puts a set together.
  public init(keys: [P256.Signing.PublicKey], successions: [String]) {
    (self.keys, self.successions) = (keys, successions)
  }

  /// Reads what a server publishes.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes, maximumByteCount: Wire.maximumListByteCount)
    var keys: [P256.Signing.PublicKey] = []
    let listed = try Wire.reading(object.array("keys"))
    for value in listed {
      guard case .object(let jwk) = value else {
        throw .invalid(member: "keys", reason: "holds something that is no object")
      }
      keys.append(try P256.Signing.PublicKey(wireJWK: jwk, member: "keys"))
    }
    self.keys = keys
    successions = try Wire.reading(object.optionalStrings("successions")) ?? []
  }

  /// The JWK Set; `alg`, `kid` and `use` are those of RFC 7517 section 4.
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

  /// Follows the server's words from a key that is trusted to the one with this thumbprint.
  ///
  /// - Parameters:
  ///   - known: The key that is trusted.
  ///   - thumbprint: The key that is looked for.
  ///   - server: Whose keys they are.
  /// - Returns: The key; `nil` where no chain of words leads there.
  public func successor(
    of known: P256.Signing.PublicKey, called thumbprint: String, at server: ServerURL
  ) -> P256.Signing.PublicKey? {
    var key = known
    for word in successions.prefix(Self.maximumSuccessionCount) {
      guard let succession = KeySuccession(verifying: word, signedBy: key), succession.server == server else {
        continue  // of a key before the one that is known
      }
      key = succession.next
      if key.thumbprint == thumbprint { return key }
    }
    return nil
  }
}
