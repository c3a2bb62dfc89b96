public import SignetCrypto

/// The current PIN or password together with the new one.
public struct UAFChangedCredential: Sendable {
  let present: SharedSecretBox
  let next: SharedSecretBox

  /// Creates a pair of credentials, both UTF-8 as typed.
  ///
  /// - Parameters:
  ///   - present: The current PIN or password.
  ///   - next: The new PIN or password.
  public init(from present: SharedSecretBox, to next: SharedSecretBox) {
    (self.present, self.next) = (present, next)
  }
}
