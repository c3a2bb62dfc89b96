/// A hash function of FIPS 180-4.
public enum HashFunction: Sendable, Hashable, CaseIterable {
  /// SHA-1, only for HMAC in one-time codes (RFC 4226); it is refused in signatures.
  case sha1
  /// SHA-224, only for one-time codes of accounts that are imported with it.
  case sha224
  /// SHA-256.
  case sha256
  /// SHA-384.
  case sha384
  /// SHA-512.
  case sha512

  /// The bytes of a digest.
  public var byteCount: Int {
    switch self {
    case .sha1: 20
    case .sha224: 28
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  /// The digest of `message`.
  public func digest(of message: [UInt8]) -> [UInt8] {
    algorithm.digest(of: message.span, byteCount: byteCount)
  }

  /// The digest of `message`.
  public func digest(of message: RawSpan) -> [UInt8] {
    withUInt8Span(of: message) { algorithm.digest(of: $0, byteCount: byteCount) }
  }

  /// The digest of a secret, such as a PIN that enters a message only hashed; it can be guessed from, so it is one too.
  public func secretDigest(of secret: borrowing SecretBytes) -> SecretBytes {
    secret.withUInt8Span { algorithm.secretDigest(of: $0, byteCount: byteCount) }
  }

  var algorithm: DigestAlgorithm {
    switch self {
    case .sha1: .sha1
    case .sha224: .sha224
    case .sha256: .sha256
    case .sha384: .sha384
    case .sha512: .sha512
    }
  }

  var macPrototype: MACPrototype {
    switch self {
    case .sha1: .sha1
    case .sha224: .sha224
    case .sha256: .sha256
    case .sha384: .sha384
    case .sha512: .sha512
    }
  }
}
