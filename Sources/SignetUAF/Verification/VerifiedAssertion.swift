/// A use of a key that its authenticator signed; only verifying makes one.
package struct VerifiedAssertion: Sendable {
  package let reference: KeyReference
  /// What the authenticator has signed, with its signature: the whole assertion.
  package let assertion: [UInt8]
  /// What is to be stored.
  package let signCounter: UInt32
  /// What the user confirmed.
  package let transaction: UAFTransaction?
  /// Whether the authenticator is older than what its metadata describes, which is a risk.
  package let isOutdated: Bool
  /// What the authenticator signed beyond the protocol.
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
