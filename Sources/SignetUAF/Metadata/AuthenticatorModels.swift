import SignetCrypto

/// The models that a server knows; all others are refused.
package struct AuthenticatorModels: Sendable {
  private let models: [AAID: AuthenticatorModel]
  /// Which models a trusted key vouches for.
  private let vouched: [[UInt8]: Set<AAID>]

  /// Takes models; of two with one AAID, the later version counts.
  package init(_ models: some Sequence<AuthenticatorModel>) {
    self.models = Dictionary(models.map { ($0.statement.aaid, $0) }) { first, second in
      first.statement.authenticatorVersion < second.statement.authenticatorVersion ? second : first
    }
    var vouched: [[UInt8]: Set<AAID>] = [:]
    for model in self.models.values {
      for key in model.anchors?.publicKeys ?? [] { vouched[key, default: []].insert(model.statement.aaid) }
    }
    self.vouched = vouched
  }

  /// Checks that a model attests in this way, and that its certificates are for it and no other; not who signed.
  ///
  /// A vendor's root may vouch for several models. Then a certificate has to say which one, or an authenticator of one
  /// could pass for another.
  func check(
    _ attestation: Attestation, of model: AuthenticatorModel, at unixTime: Int64
  ) throws(AssertionRefusal) {
    guard let path = try model.check(attestation, at: unixTime) else { return }
    let others = path.publicKeys.flatMap { vouched[$0] ?? [] }.filter { $0 != model.statement.aaid }
    guard others.isEmpty else { throw .certificateModelMissing }
  }

  /// The model with this name.
  package subscript(aaid: AAID) -> AuthenticatorModel? { models[aaid] }

  /// Their names, in order.
  package var aaids: [AAID] { models.keys.sorted() }
}
