import SignetCrypto
public import SignetJSON

/// A JWS before signing: a header, a payload and the bytes that the signature covers.
///
/// Hardware keys sign ``signingInput``, and ``signed(bearing:)`` assembles the result.
public struct UnsignedJWS: Sendable {
  /// The algorithm in the header.
  public let algorithm: SignatureAlgorithm
  /// `BASE64URL(header) || "." || BASE64URL(payload)` in ASCII (RFC 7515 section 5.1).
  public let signingInput: [UInt8]

  /// Prepares a JWS.
  ///
  /// - Parameters:
  ///   - payload: The bytes to sign.
  ///   - algorithm: The member `alg`.
  ///   - keyID: The member `kid`.
  ///   - type: The member `typ`, the media type of the object without `application/`.
  ///   - contentType: The member `cty`.
  ///   - parameters: Further members of the header, after these.
  /// - Throws: ``JOSEFailure/malformedHeader(_:)`` if `parameters` repeats a member, and the errors of parsing the header.
  public init(
    payload: [UInt8], algorithm: SignatureAlgorithm, keyID: String? = nil, type: String? = nil,
    contentType: String? = nil, parameters: JSONObject = [:]
  ) throws(JOSEFailure) {
    var header: JSONObject = ["alg": .string(algorithm.rawValue)]
    if let keyID { header["kid"] = .string(keyID) }
    if let type { header["typ"] = .string(type) }
    if let contentType { header["cty"] = .string(contentType) }
    let bytes = try JOSEHeader.bytes(header, adding: parameters)
    self.algorithm = algorithm
    signingInput = Array("\(Base64URL.encode(bytes)).\(Base64URL.encode(payload))".utf8)
  }

  /// Signs with a key of the header's algorithm and returns the compact serialization.
  ///
  /// - Throws: ``JOSEFailure/keyNotPermitted`` for a key of another algorithm, ``JOSEFailure/cryptography(_:)``.
  public func signed(with key: SigningKey) throws(JOSEFailure) -> String {
    guard key.algorithm == algorithm else { throw .keyNotPermitted }
    return signed(bearing: try key.signature(for: signingInput))
  }

  /// Returns the compact serialization with a signature over ``signingInput`` that was made elsewhere.
  ///
  /// - Parameter signature: The signature in the algorithm's encoding; for ES256 64 bytes, R before S.
  /// - Returns: Three base64url parts with dots between them.
  public func signed(bearing signature: [UInt8]) -> String {
    "\(String(decoding: signingInput, as: UTF8.self)).\(Base64URL.encode(signature))"
  }
}

extension JWS {
  /// Signs a payload and returns the compact serialization.
  ///
  /// - Parameters:
  ///   - payload: The bytes to sign.
  ///   - key: The key; its algorithm and `kid` are written to the header.
  ///   - type: The member `typ`.
  ///   - contentType: The member `cty`.
  ///   - parameters: Further members of the header.
  /// - Returns: Three base64url parts with dots between them.
  /// - Throws: ``JOSEFailure`` if `parameters` repeats a member or signing fails.
  public static func sign(
    _ payload: [UInt8], with key: SigningKey, type: String? = nil, contentType: String? = nil,
    parameters: JSONObject = [:]
  ) throws(JOSEFailure) -> String {
    try UnsignedJWS(
      payload: payload, algorithm: key.algorithm, keyID: key.keyID, type: type, contentType: contentType,
      parameters: parameters
    ).signed(with: key)
  }
}

extension JOSEHeader {
  /// Encodes a header that this module's own parser accepts.
  static func bytes(_ header: JSONObject, adding parameters: JSONObject) throws(JOSEFailure) -> [UInt8] {
    var merged = header
    for (name, value) in parameters.members {
      guard !merged.contains(name) else { throw .malformedHeader(.duplicateMember(offset: 0)) }
      merged.set(name, value)
    }
    let bytes = merged.bytes
    if !parameters.isEmpty { _ = try JOSEHeader(parsing: bytes) }
    return bytes
  }
}
