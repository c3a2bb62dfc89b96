import SignetCrypto

/// A model of authenticators that a server knows, prepared for verifying.
package struct AuthenticatorModel: Sendable {
  /// What its vendor says.
  package let statement: MetadataStatement
  /// What a policy looks at.
  package let traits: AuthenticatorTraits
  /// The certificates that vouch for it; nil for a model that can only vouch for itself.
  let anchors: TrustAnchors?

  /// Prepares a statement.
  ///
  /// - Throws: ``MessageFailure`` where a root certificate is none.
  package init(_ statement: MetadataStatement) throws(MessageFailure) {
    self.statement = statement
    traits = statement.traits
    let roots = statement.attestationRootCertificates
    do throws(CryptoFailure) {
      anchors = roots.isEmpty ? nil : try TrustAnchors(der: roots)
    } catch {
      throw .member("attestationRootCertificates", .form)
    }
  }
}

/// The models that a server knows; all others are refused.
package struct AuthenticatorModels: Sendable {
  private let models: [AAID: AuthenticatorModel]

  /// Takes models; of two with one AAID, the later version counts.
  package init(_ models: some Sequence<AuthenticatorModel>) {
    self.models = Dictionary(models.map { ($0.statement.aaid, $0) }) { first, second in
      first.statement.authenticatorVersion < second.statement.authenticatorVersion ? second : first
    }
  }

  /// The model with this name.
  package subscript(aaid: AAID) -> AuthenticatorModel? { models[aaid] }

  /// Their names, in order.
  package var aaids: [AAID] { models.keys.sorted() }
}
