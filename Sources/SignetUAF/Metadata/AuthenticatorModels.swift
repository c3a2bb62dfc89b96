import SignetCrypto

/// The authenticator models that a server knows; all others are rejected.
package struct AuthenticatorModels: Sendable {
  private let models: [AAID: AuthenticatorModel]
  /// The models that each trusted key can attest.
  private let modelsByAnchor: [[UInt8]: Set<AAID>]

  /// Creates a set of models; of two with the same AAID, the later version counts.
  package init(_ models: some Sequence<AuthenticatorModel>) {
    self.models = Dictionary(models.map { ($0.statement.aaid, $0) }) { first, second in
      first.statement.authenticatorVersion < second.statement.authenticatorVersion ? second : first
    }
    var modelsByAnchor: [[UInt8]: Set<AAID>] = [:]
    for model in self.models.values {
      for key in model.anchors?.publicKeys ?? [] {
        modelsByAnchor[key, default: []].insert(model.statement.aaid)
      }
    }
    self.modelsByAnchor = modelsByAnchor
  }

  /// Verifies that a model uses this attestation type and that the certificates are for this model only; not the signature.
  ///
  /// A vendor's root may attest several models. Its certificates must then name the model, or an authenticator of one model
  /// could pass for another.
  func check(
    _ attestation: Attestation, of model: AuthenticatorModel, at unixTime: Int64
  ) throws(AssertionRefusal) {
    guard let path = try model.check(attestation, at: unixTime) else { return }
    let others = path.publicKeys.flatMap { modelsByAnchor[$0] ?? [] }.filter { $0 != model.statement.aaid }
    guard others.isEmpty else { throw .certificateModelMissing }
  }

  package subscript(aaid: AAID) -> AuthenticatorModel? { models[aaid] }

  /// The AAIDs of all models, in order.
  package var aaids: [AAID] { models.keys.sorted() }
}
