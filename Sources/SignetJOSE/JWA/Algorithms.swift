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

/// An algorithm that transports the content key of a JWE to the recipient (RFC 7518 section 4.1).
public enum KeyManagementAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// Ephemeral-static ECDH on P-256; the agreed key is the content key.
  case ecdhES = "ECDH-ES"
  /// Ephemeral-static ECDH on P-256; the agreed key wraps the content key with 128 bits.
  case ecdhESA128KW = "ECDH-ES+A128KW"
  /// Ephemeral-static ECDH on P-256; the agreed key wraps the content key with 192 bits.
  case ecdhESA192KW = "ECDH-ES+A192KW"
  /// Ephemeral-static ECDH on P-256; the agreed key wraps the content key with 256 bits.
  case ecdhESA256KW = "ECDH-ES+A256KW"
  /// A shared key of 16 bytes wraps the content key.
  case a128KW = "A128KW"
  /// A shared key of 24 bytes wraps the content key.
  case a192KW = "A192KW"
  /// A shared key of 32 bytes wraps the content key.
  case a256KW = "A256KW"
  /// The shared key is the content key.
  case direct = "dir"

  /// The length of the wrapping key, in bytes; `nil` if nothing is wrapped.
  var wrappingKeyByteCount: Int? {
    switch self {
    case .ecdhES, .direct: nil
    case .ecdhESA128KW, .a128KW: 16
    case .ecdhESA192KW, .a192KW: 24
    case .ecdhESA256KW, .a256KW: 32
    }
  }

  /// The algorithms that wrap the content key with a shared key.
  static let keyWrapping: Set<KeyManagementAlgorithm> = [.a128KW, .a192KW, .a256KW]

  /// The algorithms with a key agreement.
  static let keyAgreement: Set<KeyManagementAlgorithm> = [
    .ecdhES, .ecdhESA128KW, .ecdhESA192KW, .ecdhESA256KW,
  ]
}

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

/// An algorithm with a name in the JOSE registry.
protocol RegisteredName: RawRepresentable where RawValue == String {}

extension RegisteredName {
  /// Returns the algorithm with exactly this name.
  ///
  /// Names are ASCII and case-sensitive (RFC 7515 section 4.1.1). `==` of `String` alone would accept characters that are
  /// canonically equivalent to ASCII ones, such as the Kelvin sign for "K".
  init?(name: String) {
    guard name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    self.init(rawValue: name)
  }
}

extension SignatureAlgorithm: RegisteredName {}
extension KeyManagementAlgorithm: RegisteredName {}
extension ContentEncryptionAlgorithm: RegisteredName {}
