public import SignetCrypto

/// A keystore that counts wrong guesses in hardware, where no program can change the count.
///
/// Each secret sealed this way has its own count. The hardware counts and compares in one step. So an attacker gains no
/// further guess by ending the process, by racing several processes, or by restoring older files.
public protocol GuessLimitingKeystore: HardwareKeystore {
  /// Chooses a free location in the hardware, without occupying it.
  ///
  /// - Returns: A blob that names the location and its future content. ``discard(_:)`` frees that content only, not other
  ///   content in the same location.
  /// - Throws: ``KeystoreFailure``: `full` if the hardware has no free location.
  func chooseLocation() throws(KeystoreFailure) -> [UInt8]

  /// Seals a secret under an authorization value, with a limit on consecutive wrong guesses.
  ///
  /// The location stays occupied until ``discard(_:)`` is called with the location or with the blob.
  ///
  /// - Parameters:
  ///   - secret: At most 128 bytes.
  ///   - context: The purpose of the secret. The same bytes are needed to open it.
  ///   - authorization: The value that a guess must equal, such as a key derived from a password.
  ///   - limit: The number of consecutive wrong guesses that locks the secret permanently, 1 to 100.
  ///   - location: A result of ``chooseLocation()``.
  /// - Returns: A blob; its length and form depend on the keystore.
  /// - Throws: ``KeystoreFailure``: `full` if the hardware has no free location, `busy` if another program occupied this one.
  /// - Precondition: The limit is in range.
  func seal(
    _ secret: borrowing SecretBytes, context: [UInt8], authorization: borrowing SecretBytes, limit: Int,
    at location: [UInt8]
  ) throws(KeystoreFailure) -> [UInt8]

  /// Opens a blob of ``seal(_:context:authorization:limit:)`` if the guess is right and the limit is not reached.
  ///
  /// A right guess resets the count to zero. A blob for another context is rejected and does not count as a guess.
  ///
  /// - Parameters:
  ///   - blob: The sealed secret.
  ///   - context: The context that it was sealed with.
  ///   - authorization: The guess.
  /// - Returns: The secret, or the result of the failed guess.
  /// - Throws: ``KeystoreFailure``: `countGone` if its count was removed from the hardware.
  func unseal(
    _ blob: [UInt8], context: [UInt8], authorization: borrowing SecretBytes
  ) throws(KeystoreFailure) -> GuessOutcome

  /// The number of wrong guesses left, without making one; 0 means permanently locked.
  ///
  /// - Throws: ``KeystoreFailure``.
  func guessesLeft(_ blob: [UInt8]) throws(KeystoreFailure) -> Int

  /// Frees the blob's location in the hardware; the blob and its copies never open again.
  ///
  /// A second call does nothing. A blob without a location is ignored.
  ///
  /// - Throws: ``KeystoreFailure``.
  func discard(_ blob: [UInt8]) throws(KeystoreFailure)
}

extension GuessLimitingKeystore {
  /// Seals at any free location.
  ///
  /// - Throws: ``KeystoreFailure``.
  package func seal(
    _ secret: borrowing SecretBytes, context: [UInt8], authorization: borrowing SecretBytes, limit: Int
  ) throws(KeystoreFailure) -> [UInt8] {
    try seal(secret, context: context, authorization: authorization, limit: limit, at: try chooseLocation())
  }
}

/// The result of a guess at a secret that a ``GuessLimitingKeystore`` sealed.
@nonexhaustive public enum GuessOutcome: ~Copyable, Sendable {
  /// The guess was right; this is the secret.
  case opened(SecretBytes)
  /// The guess was wrong; `remaining` more are allowed, and 0 means that this was the last.
  case wrong(remaining: Int)
  /// The limit was reached before; the keystore did not compare this guess.
  case lockedOut
}
