/// A hash function of FIPS 180-4.
public enum HashFunction: Sendable, Hashable, CaseIterable {
  /// SHA-1, for HMAC in one-time codes only (RFC 4226); signatures with it are rejected.
  case sha1
  /// SHA-224, for imported accounts for one-time codes only.
  case sha224
  /// SHA-256.
  case sha256
  /// SHA-384.
  case sha384
  /// SHA-512.
  case sha512

  /// The length of a digest, in bytes.
  public var byteCount: Int {
    switch self {
    case .sha1: 20
    case .sha224: 28
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  /// Returns the digest of an array.
  public func digest(of message: [UInt8]) -> [UInt8] {
    algorithm.digest(of: message.span, byteCount: byteCount)
  }

  /// Returns the digest of a span.
  public func digest(of message: RawSpan) -> [UInt8] {
    withUInt8Span(of: message) { algorithm.digest(of: $0, byteCount: byteCount) }
  }

  /// Returns the digest of a secret, such as a PIN.
  ///
  /// The digest is secret too: an attacker who has it can guess a short secret.
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

/// A hash of a message that arrives in parts.
public struct IncrementalHash: ~Copyable, Sendable {
  private var context: DigestContext

  /// Starts a hash.
  public init(_ function: HashFunction) {
    context = DigestContext(function)
  }

  /// Adds the next part of the message.
  public mutating func update(_ bytes: [UInt8]) {
    context.update(bytes.span)
  }

  /// Adds the next part of the message.
  public mutating func update(_ bytes: RawSpan) {
    withUInt8Span(of: bytes) { context.update($0) }
  }

  /// Ends the message and returns its digest.
  public consuming func finish() -> [UInt8] {
    context.finish()
  }
}
