/// Unpredictable bytes from OpenSSL's generator, which the system's entropy source seeds.
public enum SecureRandom {
  /// Returns `count` random bytes for nonces, identifiers and challenges; for keys, use ``SecretBytes/random(byteCount:)``.
  ///
  /// The process ends if the system has no randomness: continuing would not be safe.
  public static func bytes(_ count: Int) -> [UInt8] {
    precondition(count >= 0, "cannot draw \(count) bytes")
    return RandomGenerator.bytes(count)
  }
}

/// A source of random bytes, which a test can replace.
public protocol RandomSource: Sendable {
  /// Returns `count` unpredictable bytes.
  func bytes(_ count: Int) -> [UInt8]
}

/// The random source for production: ``SecureRandom``.
public struct SystemRandomSource: RandomSource {
  /// Creates the source; it is stateless.
  public init() {}

  /// Returns `count` bytes of ``SecureRandom``.
  public func bytes(_ count: Int) -> [UInt8] { SecureRandom.bytes(count) }
}
