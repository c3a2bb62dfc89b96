import SignetCrypto
public import SignetJSON

extension JWK {
  /// Parses a key from JSON text.
  ///
  /// - Throws: ``JOSEFailure`` for a malformed, invalid or unsupported key.
  public init(parsing bytes: [UInt8]) throws(JOSEFailure) {
    let object: JSONObject
    do throws(JSONFailure) {
      object = try JSONObject(parsing: bytes, limits: JWKSet.limits)
    } catch {
      throw .malformedKey(error)
    }
    try self.init(object)
  }

  /// Parses a key from a JSON object; unknown members are ignored (RFC 7517 section 4).
  ///
  /// The text of a private key remains in `object`, which cannot be wiped: release it soon.
  ///
  /// - Throws: ``JOSEFailure`` for a malformed, invalid or unsupported key.
  public init(_ object: JSONObject) throws(JOSEFailure) {
    let reader = JWKReader(object: object)
    let keyType = try reader.string("kty")
    let keyID = try reader.optionalString("kid")
    let algorithm = try reader.optionalString("alg")
    let use = try reader.use()
    let operations = try reader.operations()
    let (material, required): (Material, JSONObject?)
    switch keyType {
    case "EC": (material, required) = try reader.ellipticCurve()
    case "RSA": (material, required) = try reader.rsa()
    case "oct": (material, required) = (try reader.symmetric(), nil)
    default: throw .unsupportedKeyType
    }
    self.init(
      material: material, requiredMembers: required, keyID: keyID, algorithm: algorithm, use: use,
      operations: operations)
  }

  /// Decodes an X9.62 point and verifies that it is on P-256.
  static func p256(x963 point: [UInt8]) throws(JOSEFailure) -> P256.Signing.PublicKey {
    do {
      return try P256.Signing.PublicKey(x963: point)
    } catch {
      throw .invalidKey
    }
  }

  /// Returns the X9.62 form of a JWK's coordinates on a 256-bit curve (RFC 7518 section 6.2.1).
  static func point(of object: JSONObject) throws(JOSEFailure) -> [UInt8] {
    let reader = JWKReader(object: object)
    let (x, y) = (try reader.bytes("x"), try reader.bytes("y"))
    guard x.count == 32, y.count == 32 else { throw .invalidKey }
    var point: [UInt8] = []
    point.reserveCapacity(65)
    point.append(4)
    point.append(contentsOf: x)
    point.append(contentsOf: y)
    return point
  }
}

/// A typed reader of a JWK's members with ``JOSEFailure`` as its error.
struct JWKReader {
  let object: JSONObject

  func use() throws(JOSEFailure) -> JWK.Use? {
    guard let name = try optionalString("use") else { return nil }
    guard let use = JWK.Use(rawValue: name) else { throw .keyNotPermitted }
    return use
  }

  /// Returns `key_ops`; names must not be repeated (RFC 7517 section 4.3).
  func operations() throws(JOSEFailure) -> Set<String>? {
    let names = try read { (object) throws(JSONFailure) in try object.optionalStrings("key_ops") }
    guard let names else { return nil }
    let operations = Set(names)
    guard operations.count == names.count else { throw .keyNotPermitted }
    return operations
  }

  func ellipticCurve() throws(JOSEFailure) -> (JWK.Material, JSONObject?) {
    let curve = try string("crv")
    switch curve {
    case "P-256":
      let key = try JWK.p256(x963: try JWK.point(of: object))
      let material = JWK.Material.p256(key, privateScalar: try privateScalar(of: key))
      return (material, try required(["kty", "crv", "x", "y"]))
    case "secp256k1":
      do {
        let key = try Secp256k1.PublicKey(x963: try JWK.point(of: object))
        return (.secp256k1(key), try required(["kty", "crv", "x", "y"]))
      } catch let failure as JOSEFailure {
        throw failure
      } catch {
        throw .invalidKey
      }
    default: throw .unsupportedCurve
    }
  }

  /// Returns `d`, which must match the public key in the same JWK.
  private func privateScalar(of key: P256.Signing.PublicKey) throws(JOSEFailure) -> SharedSecretBox? {
    guard object.contains("d") else { return nil }
    let scalar = try secret("d")
    do {
      guard try P256.Signing.PrivateKey(rawRepresentation: scalar).publicKey == key else {
        throw JOSEFailure.invalidKey
      }
    } catch {
      throw .invalidKey
    }
    return SharedSecretBox(scalar)
  }

  /// Parses an RSA key; its numbers are big-endian without leading zeros (RFC 7518 section 2).
  func rsa() throws(JOSEFailure) -> (JWK.Material, JSONObject?) {
    let (modulus, exponent) = (try bytes("n"), try bytes("e"))
    guard let first = modulus.first, first != 0, let top = exponent.first, top != 0 else { throw .invalidKey }
    let key: RSA.PublicKey
    do {
      key = try RSA.PublicKey(n: modulus, e: exponent)
    } catch {
      throw .weakKey
    }
    guard !ROCA.hasFingerprint(modulus: modulus) else { throw .weakKey }
    return (.rsa(key), try required(["kty", "n", "e"]))
  }

  func symmetric() throws(JOSEFailure) -> JWK.Material {
    let key = try secret("k")
    guard key.byteCount > 0 else { throw .weakKey }
    return .symmetric(SharedSecretBox(key))
  }

  private func required(_ names: [String]) throws(JOSEFailure) -> JSONObject {
    var members = JSONObject()
    for name in names { members[name] = .string(try string(name)) }
    return members
  }

  func string(_ name: String) throws(JOSEFailure) -> String {
    try read { (object) throws(JSONFailure) in try object.string(name) }
  }

  func optionalString(_ name: String) throws(JOSEFailure) -> String? {
    try read { (object) throws(JSONFailure) in try object.optionalString(name) }
  }

  func bytes(_ name: String) throws(JOSEFailure) -> [UInt8] {
    try read { (object) throws(JSONFailure) in try object.bytes(name) }
  }

  private func secret(_ name: String) throws(JOSEFailure) -> SecretBytes {
    let text = try string(name)
    do {
      return try Base64URL.decodeSecret(Array(text.utf8))
    } catch {
      throw .malformedKey(.notBase64URL(member: name))
    }
  }

  private func read<Value>(
    _ body: (JSONObject) throws(JSONFailure) -> Value
  ) throws(JOSEFailure) -> Value {
    do throws(JSONFailure) {
      return try body(object)
    } catch {
      throw .malformedKey(error)
    }
  }
}
