/// A verified use of a key; only the verification creates one.
package struct VerifiedAssertion: Sendable {
  package let reference: KeyReference
  /// The whole assertion: the signed data with its signature.
  package let assertion: [UInt8]
  /// The counter to store.
  package let signCounter: UInt32
  /// The transaction that the user confirmed; `nil` if there was none.
  package let transaction: UAFTransaction?
  /// Indicates whether the authenticator is older than its metadata, which is a risk.
  package let isOutdated: Bool
  /// The signed extensions.
  package let extensions: [AssertionExtension]

  init(
    reference: KeyReference, assertion: [UInt8], signCounter: UInt32, transaction: UAFTransaction?,
    isOutdated: Bool, extensions: [AssertionExtension]
  ) {
    self.reference = reference
    self.assertion = assertion
    self.signCounter = signCounter
    self.transaction = transaction
    self.isOutdated = isOutdated
    self.extensions = extensions
  }
}
