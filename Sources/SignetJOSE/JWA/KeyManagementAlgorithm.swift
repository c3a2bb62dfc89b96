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
