import SignetCrypto
public import SignetJSON

/// A JWS before it is signed: a header, a payload and the bytes that the signature covers.
///
/// Keys that live in hardware sign ``signingInput`` wherever they are, and ``signed(bearing:)`` puts the parts together.
public struct UnsignedJWS: Sendable {
  /// The algorithm that the header names.
  public let algorithm: SignatureAlgorithm
  /// `BASE64URL(header) || "." || BASE64URL(payload)` in ASCII (RFC 7515 section 5.1).
  public let signingInput: [UInt8]

  /// Prepares a JWS.
  ///
  /// - Parameters:
  ///   - payload: What is signed.
  ///   - algorithm: `alg`.
  ///   - keyID: `kid`.
  ///   - type: `typ`, the media type of the whole without `application/`.
  ///   - contentType: `cty`.
  ///   - parameters: Further members of the header, after these.
  /// - Throws: ``JOSEFailure/malformedHeader(_:)`` when `parameters` repeats a member, and what reading the header
  ///   would throw.
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

  /// The compact serialization, signed by a key whose algorithm the header names.
  ///
  /// - Throws: ``JOSEFailure/keyNotPermitted`` for a key of another algorithm, ``JOSEFailure/cryptography(_:)``.
  public func signed(with key: SigningKey) throws(JOSEFailure) -> String {
    guard key.algorithm == algorithm else { throw .keyNotPermitted }
    return signed(bearing: try key.signature(for: signingInput))
  }

  /// The compact serialization with a signature made elsewhere over ``signingInput``.
  ///
  /// - Parameter signature: In the form of the algorithm; for ES256 64 bytes, R before S.
  /// - Returns: Three base64url parts with dots between them.
  public func signed(bearing signature: [UInt8]) -> String {
    "\(String(decoding: signingInput, as: UTF8.self)).\(Base64URL.encode(signature))"
  }
}

extension JWS {
  /// Signs a payload into a compact serialization.
  ///
  /// - Parameters:
  ///   - payload: What is signed.
  ///   - key: The key; its algorithm and `kid` go into the header.
  ///   - type: `typ`.
  ///   - contentType: `cty`.
  ///   - parameters: Further members of the header.
  /// - Returns: Three base64url parts with dots between them.
  /// - Throws: ``JOSEFailure``.
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
  /// The bytes of a header that our own reader would take.
  static func bytes(_ header: JSONObject, adding parameters: JSONObject) throws(JOSEFailure) -> [UInt8] {
    var whole = header
    for (name, value) in parameters.members {
      guard !whole.contains(name) else { throw .malformedHeader(.duplicateMember(offset: 0)) }
      whole.set(name, value)
    }
    let bytes = whole.bytes
    if !parameters.isEmpty { _ = try JOSEHeader(parsing: bytes) }
    return bytes
  }
}
