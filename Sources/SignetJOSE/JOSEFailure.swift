public import SignetCrypto
public import SignetJSON

/// The reasons to reject a JOSE object, a key or a claim.
///
/// Tell a remote caller only that it failed. All failures that depend on a secret have one case: ``decryptionFailed`` for
/// decryption and ``invalidSignature`` for signatures. The other cases depend on public bytes only.
@nonexhaustive public enum JOSEFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A part of a compact serialization.
  public enum Part: String, Hashable, Sendable {
    /// The protected header.
    case header
    /// The payload of a JWS.
    case payload
    /// The signature or MAC of a JWS.
    case signature
    /// The encrypted content key of a JWE.
    case encryptedKey = "encrypted key"
    /// The initialization vector of a JWE.
    case initializationVector = "initialization vector"
    /// The ciphertext of a JWE.
    case ciphertext
    /// The authentication tag of a JWE.
    case authenticationTag = "authentication tag"
  }

  /// The text exceeds the limit.
  case tooLarge(byteCount: Int, limit: Int)
  /// The number of dots is not that of the compact serialization (RFC 7515 section 7.1, RFC 7516 section 7.1).
  case wrongSegmentCount(expected: Int)
  /// A part is not strict base64url without padding.
  case notBase64URL(Part)
  /// A part has a length that the algorithm does not allow.
  case wrongLength(Part)
  /// The header is not a JSON object with members of the required types.
  case malformedHeader(JSONFailure)
  /// `crit` is not a list of names of present members (RFC 7515 section 4.1.11).
  case malformedCritical
  /// `crit` names an extension; no extension is supported.
  case unknownCritical
  /// The header has the `b64` of RFC 7797; payloads must be base64url.
  case unencodedPayload
  /// The header has the `zip` of RFC 7516 section 4.1.3; compression discloses the lengths of secrets.
  case compressed
  /// The object is unsecured: `alg` is `none` (RFC 7515 appendix A.5).
  case unsecured
  /// The header names an unsupported algorithm.
  case unsupportedAlgorithm
  /// The header's algorithm is not in the caller's list.
  case algorithmNotAllowed
  /// The signature part is empty.
  case emptySignature
  /// The signature does not verify for key, algorithm, header and payload.
  case invalidSignature
  /// The object does not decrypt with this key; no details are given.
  case decryptionFailed

  /// A JWK, or a set of them, is not JSON with members of the required types.
  case malformedKey(JSONFailure)
  /// The `kty` is not one of `EC`, `RSA`, `oct`.
  case unsupportedKeyType
  /// The `crv` is unsupported.
  case unsupportedCurve
  /// The key is invalid: a point off the curve, a private part of another key, or a wrong length.
  case invalidKey
  /// The key is too weak: too short, or of a family that is broken.
  case weakKey
  /// The operation needs the private or secret part, which the key does not have.
  case privateKeyMissing
  /// The key's type, length, `alg`, `use` or `key_ops` does not permit this algorithm or operation.
  case keyNotPermitted
  /// Two keys of a set have the same `kid`.
  case duplicateKeyID
  /// A set has symmetric and public keys; a MAC could then pass for a signature.
  case mixedKeySet
  /// No key of the set has the `kid`, or without `kid` there is not exactly one suitable key.
  case keyNotFound

  /// The payload is not a JSON object of claims with members of the required types.
  case malformedClaims(JSONFailure)
  /// The time in `exp` has passed (RFC 7519 section 4.1.4).
  case expired
  /// The time in `nbf` is in the future (RFC 7519 section 4.1.5).
  case notYetValid
  /// The time in `iat` is in the future.
  case issuedInFuture
  /// The time in `iat` is further in the past than the caller allows.
  case tooOld
  /// The `iss` is not the expected one.
  case wrongIssuer
  /// The `sub` is not the expected one.
  case wrongSubject
  /// The `aud` does not contain the verifier.
  case wrongAudience
  /// The header's `typ` is not the expected one (RFC 8725 section 3.11).
  case wrongType

  /// Creating a signature or a ciphertext failed.
  case cryptography(CryptoFailure)

  /// The reason and what to do about it; it never contains a key, a claim or other content.
  public var description: String {
    switch self {
    case .tooLarge(let count, let limit): "the object has \(count) bytes; send at most \(limit)"
    case .wrongSegmentCount(let expected):
      "the compact serialization has \(expected) parts; send all, no more"
    case .notBase64URL(let part): "the \(part.rawValue) is not base64url without padding; encode it again"
    case .wrongLength(let part): "the \(part.rawValue) has a wrong length for its algorithm; send all of it"
    case .malformedHeader(let failure): "the header is malformed: \(failure)"
    case .malformedCritical: "crit must list names of present extensions, each once (RFC 7515 section 4.1.11)"
    case .unknownCritical: "crit names an extension that is not understood; do without it"
    case .unencodedPayload: "b64 is not supported; encode the payload as base64url"
    case .compressed: "zip is not supported; send the content uncompressed"
    case .unsecured: "alg is none; sign the object"
    case .unsupportedAlgorithm: "the algorithm is not supported; use ES256, or ECDH-ES with A256GCM"
    case .algorithmNotAllowed: "the algorithm is not allowed here; use one that this endpoint allows"
    case .emptySignature: "the signature is empty; sign the object"
    case .invalidSignature: "the signature is not valid; discard the object"
    case .decryptionFailed: "decryption failed; discard the object"
    case .malformedKey(let failure): "the JWK is malformed: \(failure)"
    case .unsupportedKeyType: "the key type is not supported; use EC, RSA or oct"
    case .unsupportedCurve: "the curve is not supported; use P-256"
    case .invalidKey: "the key is not valid; export it again"
    case .weakKey: "the key is too weak; make a new one (RSA of 2048 bits or more, HS256 of 32 bytes or more)"
    case .privateKeyMissing: "the key has no private part; use the private key"
    case .keyNotPermitted:
      "the key may not be used for this; use a key of the right type, alg, use and key_ops"
    case .duplicateKeyID: "two keys of the set have the same kid; give each its own"
    case .mixedKeySet: "the set mixes symmetric and public keys; make two sets"
    case .keyNotFound: "no key fits the kid; fetch the set again or name the key by its kid"
    case .malformedClaims(let failure): "the claims are malformed: \(failure)"
    case .expired: "the token has expired; get a new one"
    case .notYetValid: "the token is not valid yet; check the clocks"
    case .issuedInFuture: "the token was issued in the future; check the clocks"
    case .tooOld: "the token is too old; get a new one"
    case .wrongIssuer: "the token is from another issuer; get one from the expected issuer"
    case .wrongSubject: "the token is about another subject; get one for the expected subject"
    case .wrongAudience: "the token is for another audience; get one for this audience"
    case .wrongType: "the token is of another type; check the typ of the header"
    case .cryptography(let failure): "a cryptographic operation failed: \(failure)"
    }
  }
}
