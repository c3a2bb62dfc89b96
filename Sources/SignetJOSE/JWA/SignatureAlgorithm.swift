import SignetCrypto

/// An algorithm that signs or authenticates a JWS (RFC 7518 section 3.1, RFC 8812 section 3.2).
///
/// There is no `none`.
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// ECDSA on P-256 with SHA-256; 64 bytes, R before S.
  case es256 = "ES256"
  /// ECDSA on secp256k1 with SHA-256; 64 bytes, R before S. Verification only.
  case es256k = "ES256K"
  /// HMAC with SHA-256; keys of 32 bytes or more.
  case hs256 = "HS256"
  /// HMAC with SHA-384; keys of 48 bytes or more.
  case hs384 = "HS384"
  /// HMAC with SHA-512; keys of 64 bytes or more.
  case hs512 = "HS512"
  /// RSASSA-PKCS1-v1_5 with SHA-256.
  case rs256 = "RS256"
  /// RSASSA-PKCS1-v1_5 with SHA-384. Verification only.
  case rs384 = "RS384"
  /// RSASSA-PKCS1-v1_5 with SHA-512. Verification only.
  case rs512 = "RS512"
  /// RSASSA-PSS with SHA-256 and a salt of 32 bytes. Verification only.
  case ps256 = "PS256"
  /// RSASSA-PSS with SHA-384 and a salt of 48 bytes. Verification only.
  case ps384 = "PS384"
  /// RSASSA-PSS with SHA-512 and a salt of 64 bytes. Verification only.
  case ps512 = "PS512"

  var hash: HashFunction {
    switch self {
    case .es256, .es256k, .hs256, .rs256, .ps256: .sha256
    case .hs384, .rs384, .ps384: .sha384
    case .hs512, .rs512, .ps512: .sha512
    }
  }

  /// Returns the algorithms for an HMAC key of this length: it must be at least as long as the hash (RFC 7518 section 3.2).
  static func hmac(keyByteCount: Int) -> Set<SignatureAlgorithm> {
    hmac.filter { keyByteCount >= $0.hash.byteCount }
  }

  static let hmac: Set<SignatureAlgorithm> = [.hs256, .hs384, .hs512]

  static let rsa: Set<SignatureAlgorithm> = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
}
