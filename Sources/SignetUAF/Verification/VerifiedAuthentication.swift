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
