/// An authentication response that holds; only verifying makes one.
package struct VerifiedAuthentication: Sendable {
  /// Who called the client.
  package let facetID: String
  /// Which keys were used, at least one.
  ///
  /// Their counters are to be stored, where the stored ones are still lower.
  package let uses: [VerifiedAssertion]
  /// Assertions that were left out.
  package let refused: [RefusedAssertion]

  init(facetID: String, uses: [VerifiedAssertion], refused: [RefusedAssertion]) {
    (self.facetID, self.uses, self.refused) = (facetID, uses, refused)
  }
}
