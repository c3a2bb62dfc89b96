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
