public import SignetCrypto

/// The present PIN or password and the next.
public struct UAFChangedCredential: Sendable {
  let present: SharedSecretBox
  let next: SharedSecretBox

  /// Takes both: UTF-8 as typed.
  ///
  /// - Parameters:
  ///   - present: What opens it now.
  ///   - next: What is to open it.
  public init(from present: SharedSecretBox, to next: SharedSecretBox) {
    (self.present, self.next) = (present, next)
  }
}
