/// The traits that a policy compares, from an authenticator's metadata or from its module.
package struct AuthenticatorTraits: Hashable, Sendable {
  package var aaid: AAID
  /// The alternative user verification methods.
  package var userVerification: [UserVerification]
  package var keyProtection: KeyProtection
  package var matcherProtection: MatcherProtection
  package var attachmentHint: AttachmentHint
  package var display: UAFTransactionDisplay
  package var algorithms: [UAFAlgorithm]
  package var assertionScheme: String
  package var attestationTypes: [AttestationType]
  /// The version; `nil` if it is unknown.
  package var version: UInt16?

  package init(
    aaid: AAID, userVerification: [UserVerification], keyProtection: KeyProtection,
    matcherProtection: MatcherProtection, attachmentHint: AttachmentHint, display: UAFTransactionDisplay,
    algorithms: [UAFAlgorithm], assertionScheme: String = ResponseAssertion.tlvScheme,
    attestationTypes: [AttestationType], version: UInt16? = nil
  ) {
    self.aaid = aaid
    self.userVerification = userVerification
    self.keyProtection = keyProtection
    self.matcherProtection = matcherProtection
    self.attachmentHint = attachmentHint
    self.display = display
    self.algorithms = algorithms
    self.assertionScheme = assertionScheme
    self.attestationTypes = attestationTypes
    self.version = version
  }
}
