/// A secret with several users: a box that can be copied, kept in arrays and held by actors.
///
/// The bytes are wiped when the last user releases the box.
public final class SharedSecretBox: Sendable {
  private let secret: SecretBytes

  /// Takes ownership of `secret`.
  public init(_ secret: consuming SecretBytes) {
    self.secret = secret
  }

  /// Lends the secret to `body`.
  public func withSecret<R: ~Copyable, E: Error>(
    _ body: (borrowing SecretBytes) throws(E) -> R
  ) throws(E) -> R {
    try body(secret)
  }
}
