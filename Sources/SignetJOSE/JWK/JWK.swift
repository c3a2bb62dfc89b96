public import SignetCrypto
public import SignetJSON

/// A validated JSON Web Key (RFC 7517): its point is on its curve, and its lengths are right.
public struct JWK: Sendable {
  /// The key material by type and curve (RFC 7518 section 6, RFC 8812 section 3.1).
  public enum Material: Sendable {
    /// `EC` on `P-256`; the optional private part is `d`, 32 bytes, big-endian.
    case p256(P256.Signing.PublicKey, privateScalar: SharedSecretBox?)
    /// `EC` on `secp256k1`.
    case secp256k1(Secp256k1.PublicKey)
    /// `RSA`; private parts are not kept.
    case rsa(RSA.PublicKey)
    /// `oct`: a shared key.
    case symmetric(SharedSecretBox)
  }

  /// The purpose of a key (RFC 7517 section 4.2).
  public enum Use: String, Sendable, Hashable {
    /// `sig`: signatures and MACs.
    case signature = "sig"
    /// `enc`: encryption.
    case encryption = "enc"
  }

  /// The key material.
  public let material: Material
  /// The member `kid`, which names the key.
  public let keyID: String?
  /// The member `alg` as received: the only algorithm for which the key may be used.
  public let algorithm: String?
  /// The member `use`; a key with an unknown value is rejected when it is parsed.
  public let use: Use?
  /// The member `key_ops`: the operations for which the key may be used; `nil` for no restriction.
  public let operations: Set<String>?
  /// The members that RFC 7638 section 3.2 hashes; `nil` for `oct`, whose members contain the secret.
  let requiredMembers: JSONObject?

  init(
    material: Material, requiredMembers: JSONObject?, keyID: String?, algorithm: String?, use: Use?,
    operations: Set<String>?
  ) {
    self.material = material
    self.requiredMembers = requiredMembers
    self.keyID = keyID
    self.algorithm = algorithm
    self.use = use
    self.operations = operations
  }

  /// Creates the JWK of a P-256 signing key.
  ///
  /// - Parameters:
  ///   - key: The public key.
  ///   - keyID: The `kid`.
  public init(_ key: P256.Signing.PublicKey, keyID: String? = nil) {
    self.init(
      material: .p256(key, privateScalar: nil), requiredMembers: Self.members(x963: key.x963Representation),
      keyID: keyID, algorithm: SignatureAlgorithm.es256.rawValue, use: .signature, operations: nil)
  }

  /// Creates the JWK of a P-256 key for key agreement.
  ///
  /// - Parameters:
  ///   - key: The public key.
  ///   - keyID: The `kid`.
  ///   - algorithm: The algorithm that senders must use; `nil` for any.
  /// - Throws: ``JOSEFailure/invalidKey``; not for a valid key.
  public init(
    _ key: P256.KeyAgreement.PublicKey, keyID: String? = nil, algorithm: KeyManagementAlgorithm? = nil
  ) throws(JOSEFailure) {
    let point = key.x963Representation
    self.init(
      material: .p256(try Self.p256(x963: point), privateScalar: nil),
      requiredMembers: Self.members(x963: point), keyID: keyID, algorithm: algorithm?.rawValue,
      use: .encryption, operations: nil)
  }

  /// The member `kty`.
  public var keyType: String {
    switch material {
    case .p256, .secp256k1: "EC"
    case .rsa: "RSA"
    case .symmetric: "oct"
    }
  }

  /// The member `crv`; `nil` for keys that are not on a curve.
  public var curve: String? {
    switch material {
    case .p256: "P-256"
    case .secp256k1: "secp256k1"
    case .rsa, .symmetric: nil
    }
  }

  /// Returns the public members.
  ///
  /// - Throws: ``JOSEFailure/keyNotPermitted`` for a symmetric key, which has no public part.
  public func publicObject() throws(JOSEFailure) -> JSONObject {
    guard var object = requiredMembers else { throw .keyNotPermitted }
    if let use { object["use"] = .string(use.rawValue) }
    if let algorithm { object["alg"] = .string(algorithm) }
    if let keyID { object["kid"] = .string(keyID) }
    return object
  }

  /// The SHA-256 thumbprint, 32 bytes (RFC 7638 section 3).
  public var thumbprint: [UInt8] {
    switch material {
    case .symmetric(let box):
      let key = box.withSecret { secret in secret.withTemporaryArray { Base64URL.encode($0) } }
      let members: JSONObject = ["kty": "oct", "k": .string(key)]
      return HashFunction.sha256.digest(of: members.bytes(.sorted))
    case .p256, .secp256k1, .rsa:
      return HashFunction.sha256.digest(of: (requiredMembers ?? [:]).bytes(.sorted))
    }
  }

  static func members(x963 point: [UInt8]) -> JSONObject {
    [
      "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(Array(point[1..<33]))),
      "y": .string(Base64URL.encode(Array(point[33...]))),
    ]
  }
}

extension JWK {
  /// Rejects a key whose `use` or `key_ops` excludes this use (RFC 7517 sections 4.2, 4.3).
  func require(_ expectedUse: Use, anyOf names: Set<String>) throws(JOSEFailure) {
    if let use, use != expectedUse { throw .keyNotPermitted }
    if let operations, operations.isDisjoint(with: names) { throw .keyNotPermitted }
  }

  /// Returns the algorithms that `alg` permits; throws if `alg` is not among them.
  func permitted(
    _ algorithms: Set<SignatureAlgorithm>
  ) throws(JOSEFailure) -> Set<SignatureAlgorithm> {
    guard let algorithm else { return algorithms }
    guard let only = SignatureAlgorithm(name: algorithm), algorithms.contains(only) else {
      throw .keyNotPermitted
    }
    return [only]
  }

  /// Returns the HMAC algorithms that `alg` and the key's length permit.
  func permittedHMAC(_ box: SharedSecretBox) throws(JOSEFailure) -> Set<SignatureAlgorithm> {
    let byName = try permitted(SignatureAlgorithm.hmac)
    let byLength = SignatureAlgorithm.hmac(keyByteCount: box.withSecret { $0.byteCount })
    let allowed = byName.intersection(byLength)
    guard !allowed.isEmpty else { throw .weakKey }
    return allowed
  }
}
