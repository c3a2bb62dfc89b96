/// What a policy looks at: an authenticator as its metadata or its module describes it.
package struct AuthenticatorTraits: Hashable, Sendable {
  package var aaid: AAID
  /// What the user has to do: one of these.
  package var userVerification: [UserVerification]
  package var keyProtection: KeyProtection
  package var matcherProtection: MatcherProtection
  package var attachmentHint: AttachmentHint
  package var display: UAFTransactionDisplay
  package var algorithms: [UAFAlgorithm]
  package var assertionScheme: String
  package var attestationTypes: [AttestationType]
  /// Nil where it is not known.
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
