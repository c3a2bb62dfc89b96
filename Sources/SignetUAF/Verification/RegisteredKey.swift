/// A key that is registered, as a server stored it.
package struct RegisteredKey: Sendable {
  package let reference: KeyReference
  package let publicKey: UAFPublicKey
  /// The algorithm of its registration, which it keeps.
  package let algorithm: UAFAlgorithm
  /// The last counter, 0 where the authenticator does not count; `nil` where the caller compares counters: none is compared here.
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
  /// Verifies what the key has signed: the final challenge, the transaction and, where it is known, the counter, all under the signature.
  ///
  /// It needs nothing but what the response brought and the registered key, so that it holds as well for an answer of long ago.
  ///
  /// - Parameters:
  ///   - assertion: The assertion, which names this key.
  ///   - hash: SHA-256 of the final challenge's text.
  ///   - transactions: What was to be confirmed, in one or more forms; empty for nothing.
  ///   - isStrict: Whether numbers of signatures have to be minimal in DER.
  /// - Throws: ``AssertionRefusal``.
  /// - Returns: The transaction that was confirmed, or nil where none was asked.
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
