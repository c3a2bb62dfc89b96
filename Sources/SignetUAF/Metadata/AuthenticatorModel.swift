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

  /// What a policy looks at in one authenticator, which is older or newer than what the vendor describes.
  package func traits(ofVersion version: UInt16) -> AuthenticatorTraits {
    var traits = traits
    traits.version = version
    return traits
  }

  /// Names the model in an attestation certificate: id-fido-gen-ce-aaid.
  private static let aaidExtension = "1.3.6.1.4.1.45724.1.1.1"

  /// Checks that the model attests in this way, and whom its certificates lead to; not who signed.
  ///
  /// - Parameters:
  ///   - attestation: What vouches for a key.
  ///   - unixTime: When certificates have to be valid, in seconds since 1970.
  /// - Throws: ``AssertionRefusal``.
  /// - Returns: The path of a certificate that does not say which model it is for: whether it can be only this one is
  ///   for ``AuthenticatorModels`` to say. Nil where nothing is left to ask.
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
    // Who could have shown a certificate and does not proves nothing about the model.
    case .basicSurrogate:
      guard anchors == nil else { throw .attestationType(type) }
      return nil
    case .ecdaa: throw .ecdaa
    }
  }

  /// Whether the certificate says that it is for this model; false where it names none.
  private func isNamed(by path: TrustedPath) throws(AssertionRefusal) -> Bool {
    let names: [[UInt8]]
    do throws(CryptoFailure) { names = try path.extensions(Self.aaidExtension) } catch {
      throw .certificate(.malformed)
    }
    for name in names {
      // Nine characters, as they are or in a string of ASN.1: OCTET STRING, UTF8String, PrintableString, IA5String.
      let isWrapped = name.count == 11 && [0x04, 0x0C, 0x13, 0x16].contains(name[0]) && name[1] == 9
      guard AAID(ascii: isWrapped ? name[2...] : name[...]) == statement.aaid else { throw .certificateModel }
    }
    return !names.isEmpty
  }
}
