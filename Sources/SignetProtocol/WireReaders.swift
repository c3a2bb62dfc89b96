public import SignetCrypto
public import SignetJSON
import SignetSystem

// Typed reading of members, with `WireFailure` and the checks that every message needs.

extension JSONObject {
  func wireString(_ name: String) throws(WireFailure) -> String {
    try Wire.reading(string(name))
  }

  /// Reads a member whose value is one of a few ASCII names.
  ///
  /// `==` normalizes texts that are not ASCII. For a long run of combining marks, the time grows with the square of the
  /// length: an attacker could cost the server seconds with one message. Long or non-ASCII text is therefore rejected before
  /// any comparison.
  func wireName(_ name: String) throws(WireFailure) -> String {
    let text = try wireString(name)
    guard text.utf8.count <= 64, text.utf8.allSatisfy({ $0 < 0x80 }) else {
      throw .invalid(member: name, reason: "is not defined by the protocol")
    }
    return text
  }

  /// Rejects unknown members: an ignored member would be signed without being displayed.
  func refuseMembers(except allowedNames: [String]) throws(WireFailure) {
    for member in members where !allowedNames.contains(where: { $0.hasSameBytes(as: member.name) }) {
      throw .invalid(member: String(member.name.prefix(40)), reason: "is not known here")
    }
  }

  func wireInteger(_ name: String) throws(WireFailure) -> Int64 {
    try Wire.reading(integer(name))
  }

  func wireObject(_ name: String) throws(WireFailure) -> JSONObject {
    try Wire.reading(object(name))
  }

  /// Decodes a base64url member of exactly `count` bytes, or of any length if `count` is `nil`.
  func wireBytes(_ name: String, count: Int?) throws(WireFailure) -> [UInt8] {
    guard let bytes = Base64URL.bytes(try wireString(name)) else {
      throw .invalid(member: name, reason: "is not base64url")
    }
    guard count == nil || bytes.count == count else {
      throw .invalid(member: name, reason: "has \(bytes.count) bytes; \(count ?? 0) are needed")
    }
    return bytes
  }
}

extension Base64URL {
  /// Decodes strict base64url; `nil` for any other text.
  static func bytes(_ text: String) -> [UInt8]? {
    do { return try decode(text) } catch { return nil }
  }
}

extension P256.KeyAgreement.PublicKey {
  /// The key's JSON Web Key with `kty`, `crv`, `x` and `y`.
  var wireJWK: JSONObject { .p256(x963: x963Representation) }

  init(wireJWK object: JSONObject, member: String) throws(WireFailure) {
    let (x, y) = try object.p256Coordinates(member)
    do { self = try Self(x: x, y: y) } catch {
      throw .invalid(member: member, reason: "is not a point of P-256")
    }
  }
}

extension P256.Signing.PublicKey {
  /// The key's JSON Web Key with `kty`, `crv`, `x` and `y`.
  public var wireJWK: JSONObject { .p256(x963: x963Representation) }

  init(wireJWK object: JSONObject, member: String) throws(WireFailure) {
    let (x, y) = try object.p256Coordinates(member)
    do { self = try Self(x: x, y: y) } catch {
      throw .invalid(member: member, reason: "is not a point of P-256")
    }
  }

  /// The RFC 7638 thumbprint with SHA-256, in base64url: the `kid` of a decision.
  public var thumbprint: String {
    let x963 = x963Representation
    let (x, y) = (Base64URL.encode(Array(x963[1...32])), Base64URL.encode(Array(x963[33...64])))
    // RFC 7638 section 3.2: these members, in this order, without white space.
    let text = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    return Base64URL.encode(HashFunction.sha256.digest(of: Array(text.utf8)))
  }
}

extension JSONObject {
  fileprivate static func p256(x963: [UInt8]) -> JSONObject {
    var object = JSONObject()
    object["kty"] = .string("EC")
    object["crv"] = .string("P-256")
    object["x"] = .string(Base64URL.encode(Array(x963[1...32])))
    object["y"] = .string(Base64URL.encode(Array(x963[33...64])))
    return object
  }

  fileprivate func p256Coordinates(_ member: String) throws(WireFailure) -> (x: [UInt8], y: [UInt8]) {
    guard try wireName("kty") == "EC", try wireName("crv") == "P-256" else {
      throw .invalid(member: member, reason: "is not a P-256 key")
    }
    return (try wireBytes("x", count: 32), try wireBytes("y", count: 32))
  }
}
