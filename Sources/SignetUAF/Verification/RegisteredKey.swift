/// A registered key as stored by a server.
package struct RegisteredKey: Sendable {
  package let reference: KeyReference
  package let publicKey: UAFPublicKey
  /// The algorithm of its registration, which cannot change.
  package let algorithm: UAFAlgorithm
  /// The last counter; 0 if the authenticator does not count, `nil` if the caller compares counters itself.
  package let signCounter: UInt32?

  package init(
    reference: KeyReference, publicKey: UAFPublicKey, algorithm: UAFAlgorithm, signCounter: UInt32?
  ) {
    self.reference = reference
    self.publicKey = publicKey
    self.algorithm = algorithm
    self.signCounter = signCounter
  }
}

extension RegisteredKey {
  /// Verifies an assertion by the key: final challenge, transaction, counter if it is known, and signature.
  ///
  /// It needs only the response and the registered key, so it can also verify old answers.
  ///
  /// - Parameters:
  ///   - assertion: The assertion, which must be by this key.
  ///   - hash: The SHA-256 digest of the final challenge's text.
  ///   - transactions: The forms of the transaction to confirm; empty if there is none.
  ///   - isStrict: True to require minimal DER integers in signatures.
  /// - Throws: ``AssertionRefusal`` if the assertion is rejected.
  /// - Returns: The confirmed transaction; `nil` if none was requested.
  package func verify(
    _ assertion: AuthenticationAssertion, finalChallengeHash hash: [UInt8],
    confirming transactions: [UAFTransaction], isStrict: Bool = false
  ) throws(AssertionRefusal) -> UAFTransaction? {
    let data = assertion.data
    guard data.finalChallengeHash == hash else { throw .finalChallengeHash }
    guard data.algorithm == algorithm else { throw .algorithm(data.algorithm) }
    let transaction = try Self.confirmedTransaction(data, transactions)
    if let signCounter {
      let isCounted = data.signCounter > signCounter || data.signCounter == 0 && signCounter == 0
      guard isCounted else { throw .counter(stored: signCounter, received: data.signCounter) }
    }
    guard
      publicKey.isValidSignature(
        assertion.signature, data.algorithm, of: assertion.bytes, in: assertion.signedRange,
        isStrict: isStrict)
    else { throw .signature }
    return transaction
  }

  private static func confirmedTransaction(
    _ data: SignedData, _ transactions: [UAFTransaction]
  ) throws(AssertionRefusal) -> UAFTransaction? {
    switch AuthenticationMode(rawValue: data.mode) {
    case .userVerified:
      guard data.transactionHash.isEmpty else { throw .transactionHashUnexpected }
      guard transactions.isEmpty else { throw .transactionNotConfirmed }
      return nil
    case .transactionConfirmed:
      guard !transactions.isEmpty else { throw .transactionHashUnexpected }
      guard !data.transactionHash.isEmpty else { throw .transactionHashMissing }
      guard let transaction = transactions.first(where: { $0.hash == data.transactionHash }) else {
        throw .transactionHash
      }
      return transaction
    case nil: throw .mode(data.mode)
    }
  }
}
