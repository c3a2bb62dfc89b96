import SignetCrypto

/// An algorithm that encrypts and authenticates the content of a JWE (RFC 7518 section 5.1).
public enum ContentEncryptionAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// AES-GCM with a key of 16 bytes.
  case a128GCM = "A128GCM"
  /// AES-GCM with a key of 32 bytes.
  case a256GCM = "A256GCM"
  /// AES-CBC with HMAC-SHA-256, each with a key of 16 bytes.
  case a128CBCHS256 = "A128CBC-HS256"
  /// AES-CBC with HMAC-SHA-512, each with a key of 32 bytes.
  case a256CBCHS512 = "A256CBC-HS512"

  /// The length of the content key in bytes.
  public var keyByteCount: Int {
    switch self {
    case .a128GCM: 16
    case .a256GCM, .a128CBCHS256: 32
    case .a256CBCHS512: 64
    }
  }

  /// The length of the initialization vector in bytes.
  var ivByteCount: Int { macHash == nil ? AESGCM.nonceByteCount : 16 }

  /// The length of the authentication tag in bytes.
  var tagByteCount: Int { self == .a256CBCHS512 ? 32 : 16 }

  /// The hash function of the separate MAC; `nil` if the cipher authenticates.
  var macHash: HashFunction? {
    switch self {
    case .a128GCM, .a256GCM: nil
    case .a128CBCHS256: .sha256
    case .a256CBCHS512: .sha512
    }
  }
}
