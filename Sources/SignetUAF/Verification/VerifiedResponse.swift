/// A verified registration response; only the verification creates one.
package struct VerifiedRegistration: Sendable {
  /// The caller of the client.
  package let facetID: String
  /// The application of the keys.
  package let appID: String
  /// The keys to store, at least one.
  package let keys: [AttestedKey]
  package let refused: [RefusedAssertion]

  init(facetID: String, appID: String, keys: [AttestedKey], refused: [RefusedAssertion]) {
    self.facetID = facetID
    self.appID = appID
    self.keys = keys
    self.refused = refused
  }
}

/// A verified authentication response; only the verification creates one.
package struct VerifiedAuthentication: Sendable {
  /// The caller of the client.
  package let facetID: String
  /// The keys that were used, at least one.
  ///
  /// The caller must store their counters if the stored ones are still lower.
  package let uses: [VerifiedAssertion]
  package let refused: [RefusedAssertion]

  init(facetID: String, uses: [VerifiedAssertion], refused: [RefusedAssertion]) {
    self.facetID = facetID
    self.uses = uses
    self.refused = refused
  }
}

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

package struct RefusedAssertion: Hashable, Sendable {
  /// The claimed key, if it is readable.
  package let key: KeyReference?
  package let reason: AssertionRefusal

  package init(key: KeyReference?, reason: AssertionRefusal) { (self.key, self.reason) = (key, reason) }
}
