/// A registration response that holds; only verifying makes one.
package struct VerifiedRegistration: Sendable {
  /// Who called the client.
  package let facetID: String
  /// The application that the keys are for.
  package let appID: String
  /// The keys to store, at least one.
  package let keys: [AttestedKey]
  /// Assertions that were left out.
  package let refused: [RefusedAssertion]

  init(facetID: String, appID: String, keys: [AttestedKey], refused: [RefusedAssertion]) {
    (self.facetID, self.appID, self.keys, self.refused) = (facetID, appID, keys, refused)
  }
}
