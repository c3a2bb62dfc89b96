import SignetCrypto

/// A known authenticator model, prepared for verification.
package struct AuthenticatorModel: Sendable {
  package let statement: MetadataStatement
  /// The traits that a policy compares.
  package let traits: AuthenticatorTraits
  /// The trusted attestation certificates; `nil` for a model with surrogate attestation only.
  let anchors: TrustAnchors?

  /// Prepares a metadata statement.
  ///
  /// - Throws: ``MessageFailure`` if a root certificate is malformed.
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

  /// Returns the traits of an authenticator whose version differs from the statement's.
  package func traits(ofVersion version: UInt16) -> AuthenticatorTraits {
    var traits = traits
    traits.version = version
    return traits
  }

  /// The extension of an attestation certificate that names the model: id-fido-gen-ce-aaid.
  private static let aaidExtension = "1.3.6.1.4.1.45724.1.1.1"

  /// Verifies that the model uses this attestation type, and that the certificates lead to a trusted one; not the signature.
  ///
  /// - Parameters:
  ///   - attestation: The attestation of a key.
  ///   - unixTime: The time at which certificates must be valid, in seconds since 1970.
  /// - Throws: ``AssertionRefusal`` if the attestation is rejected.
  /// - Returns: The path of a certificate that does not name its model: ``AuthenticatorModels`` has to decide whether it can
  ///   only be this model's. `nil` if there is nothing left to check.
  func check(_ attestation: Attestation, at unixTime: Int64) throws(AssertionRefusal) -> TrustedPath? {
    let type = attestation.type
    guard type != .ecdaa else { throw .ecdaa }
    guard statement.attestationTypes.contains(type) else { throw .attestationType(type) }
    switch attestation {
    case .basicFull(_, let certificates):
      guard let anchors else { throw .attestationType(type) }
      let path: TrustedPath
      do throws(TrustAnchors.Refusal) {
        path = try anchors.check(certificates, at: unixTime)
      } catch {
        throw .certificate(error)
      }
      guard path.isForSignatures else { throw .certificateUsage }
      guard !path.isAuthority else { throw .certificateAuthority }
      return try isNamed(by: path) ? nil : path
    // A surrogate proves nothing about the model, so it is rejected for a model that has certificates.
    case .basicSurrogate:
      guard anchors == nil else { throw .attestationType(type) }
      return nil
    case .ecdaa: throw .ecdaa
    }
  }

  /// Indicates whether the certificate names this model; false if it names none, and throws if it names another.
  private func isNamed(by path: TrustedPath) throws(AssertionRefusal) -> Bool {
    let names: [[UInt8]]
    do throws(CryptoFailure) { names = try path.extensions(Self.aaidExtension) } catch {
      throw .certificate(.malformed)
    }
    for name in names {
      // Nine characters, plain or in an ASN.1 string: OCTET STRING, UTF8String, PrintableString, IA5String.
      let isWrapped = name.count == 11 && [0x04, 0x0C, 0x13, 0x16].contains(name[0]) && name[1] == 9
      guard AAID(ascii: isWrapped ? name[2...] : name[...]) == statement.aaid else { throw .certificateModel }
    }
    return !names.isEmpty
  }
}
