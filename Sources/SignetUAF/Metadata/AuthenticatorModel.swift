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

  /// Checks that the model attests in this way, and whom its certificates lead to; not who signed.
  func check(_ attestation: Attestation, at unixTime: Int64) throws(AssertionRefusal) {
    let type = attestation.type
    guard type != .ecdaa else { throw .ecdaa }
    guard statement.attestationTypes.contains(type) else { throw .attestationType(type) }
    switch attestation {
    case .basicFull(_, let certificates):
      guard let anchors else { throw .attestationType(type) }
      do throws(TrustAnchors.Refusal) {
        try anchors.check(certificates, at: unixTime)
      } catch {
        throw .certificate(error)
      }
    // Who could have shown a certificate and does not proves nothing about the model.
    case .basicSurrogate: guard anchors == nil else { throw .attestationType(type) }
    case .ecdaa: throw .ecdaa
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
