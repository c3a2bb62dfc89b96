/// Unpredictable bytes from OpenSSL's generator, which the system's own source seeds.
public enum SecureRandom {
  /// `count` random bytes, for nonces, identifiers and challenges; keys come from ``SecretBytes/random(byteCount:)``.
  ///
  /// The process ends if the system has no randomness: nothing that follows would be safe.
  public static func bytes(_ count: Int) -> [UInt8] {
    precondition(count >= 0, "cannot draw \(count) bytes")
    return RandomGenerator.bytes(count)
  }
}

/// A source of random bytes, so that a test can bring its own.
public protocol RandomSource: Sendable {
  /// `count` bytes that nobody can predict.
  func bytes(_ count: Int) -> [UInt8]
}

/// The random source of a real installation: ``SecureRandom``.
public struct SystemRandomSource: RandomSource {
  /// Creates the source; it has no state of its own.
  public init() {}

  /// `count` bytes of ``SecureRandom``.
  public func bytes(_ count: Int) -> [UInt8] { SecureRandom.bytes(count) }
}
