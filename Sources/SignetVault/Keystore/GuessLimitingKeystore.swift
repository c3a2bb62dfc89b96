public import SignetCrypto

/// A keystore that counts wrong guesses itself, where no program can reach the count.
///
/// Each secret sealed in this way has a count of its own in the hardware. The count and the comparison are one step there: not
/// ending the process, nor racing several, nor going back to older files gives a further guess.
public protocol GuessLimitingKeystore: HardwareKeystore {
  /// Picks a free place in the hardware, without taking it.
  ///
  /// - Returns: What names the place and what will be there: ``discard(_:)`` gives it back, and nothing else that may be there then.
  /// - Throws: ``KeystoreFailure``: `full` if the hardware has no place left.
  func choosePlace() throws(KeystoreFailure) -> [UInt8]

  /// Seals a secret that opens with an authorization value, which may be guessed wrong so many times in a row.
  ///
  /// This takes up the place until ``discard(_:)``, with the name of the place or with the blob.
  ///
  /// - Parameters:
  ///   - secret: At most 128 bytes.
  ///   - context: What the secret is for. The same bytes are needed to open it.
  ///   - authorization: What a guess must meet, such as a key derived from a password.
  ///   - limit: How many wrong guesses in a row lock it for good, 1 to 100.
  ///   - place: As ``choosePlace()`` returned it.
  /// - Returns: A blob; its length and form are the keystore's own.
  /// - Throws: ``KeystoreFailure``: `full` if the hardware has no place left, `busy` if somebody else took this one.
  /// - Precondition: The limit is in range.
  func seal(
    _ secret: borrowing SecretBytes, context: [UInt8], authorization: borrowing SecretBytes, limit: Int,
    at place: [UInt8]
  ) throws(KeystoreFailure) -> [UInt8]

  /// Opens what ``seal(_:context:authorization:limit:)`` returned, if the guess is right and the limit not used up.
  ///
  /// A right guess takes the count back to zero. A blob for another context is refused and counts as no guess.
  ///
  /// - Parameters:
  ///   - blob: What was sealed.
  ///   - context: The context that it was sealed with.
  ///   - authorization: The guess.
  /// - Returns: The secret, or how the guess failed.
  /// - Throws: ``KeystoreFailure``: `countGone` if its count was taken out of the hardware.
  func unseal(
    _ blob: [UInt8], context: [UInt8], authorization: borrowing SecretBytes
  ) throws(KeystoreFailure) -> GuessOutcome

  /// How many wrong guesses are left, without making one; 0 means locked for good.
  ///
  /// - Throws: ``KeystoreFailure``.
  func guessesLeft(_ blob: [UInt8]) throws(KeystoreFailure) -> Int

  /// Gives back the place that a blob takes up in the hardware; the blob never opens again, nor does any copy of it.
  ///
  /// Discarding twice does nothing. A blob that takes up no place is let be.
  ///
  /// - Throws: ``KeystoreFailure``.
  func discard(_ blob: [UInt8]) throws(KeystoreFailure)
}

extension GuessLimitingKeystore {
  /// Seals at any free place.
  ///
  /// - Throws: ``KeystoreFailure``.
  package func seal(
    _ secret: borrowing SecretBytes, context: [UInt8], authorization: borrowing SecretBytes, limit: Int
  ) throws(KeystoreFailure) -> [UInt8] {
    try seal(secret, context: context, authorization: authorization, limit: limit, at: try choosePlace())
  }
}

/// How a guess at what a ``GuessLimitingKeystore`` sealed went.
@nonexhaustive public enum GuessOutcome: ~Copyable, Sendable {
  /// The guess was right; this is the secret.
  case opened(SecretBytes)
  /// The guess was wrong; so many more are allowed, and 0 means that this was the last.
  case wrong(remaining: Int)
  /// The guesses were used up before: this one was not compared, be it right or wrong.
  case lockedOut
}
