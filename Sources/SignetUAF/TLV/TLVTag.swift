/// A TLV tag (FIDO UAF Registry of Predefined Values section 5, UAF Authenticator Commands section 4).
package struct TLVTag: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number, little-endian on the wire.
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// Indicates whether the content consists of elements.
  package var isComposite: Bool { rawValue & 0x1000 != 0 }

  /// Indicates whether a verifier that does not know the tag must reject the enclosing element.
  ///
  /// The ignorable extension has the bit too, so it is excluded before the bit is tested.
  package var isCritical: Bool { self != .ignorableExtension && rawValue & 0x2000 != 0 }

  package static let registrationAssertion = TLVTag(0x3E01)
  package static let authenticationAssertion = TLVTag(0x3E02)
  package static let keyRegistrationData = TLVTag(0x3E03)
  package static let signedData = TLVTag(0x3E04)
  package static let attestationCertificate = TLVTag(0x2E05)
  package static let signature = TLVTag(0x2E06)
  package static let attestationBasicFull = TLVTag(0x3E07)
  package static let attestationBasicSurrogate = TLVTag(0x3E08)
  package static let attestationECDAA = TLVTag(0x3E09)
  package static let keyID = TLVTag(0x2E09)
  package static let finalChallengeHash = TLVTag(0x2E0A)
  package static let aaid = TLVTag(0x2E0B)
  package static let publicKey = TLVTag(0x2E0C)
  package static let counters = TLVTag(0x2E0D)
  package static let assertionInfo = TLVTag(0x2E0E)
  package static let authenticatorNonce = TLVTag(0x2E0F)
  package static let transactionContentHash = TLVTag(0x2E10)
  package static let criticalExtension = TLVTag(0x3E11)
  package static let ignorableExtension = TLVTag(0x3E12)
  package static let extensionID = TLVTag(0x2E13)
  package static let extensionData = TLVTag(0x2E14)
  package static let rawUserVerificationIndex = TLVTag(0x0103)
  package static let userVerificationIndex = TLVTag(0x0104)
  package static let rawUserVerificationState = TLVTag(0x0105)
  package static let userVerificationState = TLVTag(0x0106)

  /// The number as in the registry: `0x3E01`.
  package var hex: String { rawValue.registryHex }

  /// The name in the registry; `nil` for a number that is not in it.
  package var name: String? { Self.names[self] ?? Self.commandNames[self] }

  package var description: String { name.map { "\($0) (\(hex))" } ?? hex }

  private static let names: [TLVTag: String] = [
    .registrationAssertion: "TAG_UAFV1_REG_ASSERTION", .authenticationAssertion: "TAG_UAFV1_AUTH_ASSERTION",
    .keyRegistrationData: "TAG_UAFV1_KRD", .signedData: "TAG_UAFV1_SIGNED_DATA",
    .attestationCertificate: "TAG_ATTESTATION_CERT", .signature: "TAG_SIGNATURE",
    .attestationBasicFull: "TAG_ATTESTATION_BASIC_FULL",
    .attestationBasicSurrogate: "TAG_ATTESTATION_BASIC_SURROGATE", .attestationECDAA: "TAG_ATTESTATION_ECDAA",
    .keyID: "TAG_KEYID", .finalChallengeHash: "TAG_FINAL_CHALLENGE_HASH", .aaid: "TAG_AAID",
    .publicKey: "TAG_PUB_KEY", .counters: "TAG_COUNTERS", .assertionInfo: "TAG_ASSERTION_INFO",
    .authenticatorNonce: "TAG_AUTHENTICATOR_NONCE",
    .transactionContentHash: "TAG_TRANSACTION_CONTENT_HASH", .criticalExtension: "TAG_EXTENSION",
    .ignorableExtension: "TAG_EXTENSION (not critical)", .extensionID: "TAG_EXTENSION_ID",
    .extensionData: "TAG_EXTENSION_DATA", .rawUserVerificationIndex: "TAG_RAW_USER_VERIFICATION_INDEX",
    .userVerificationIndex: "TAG_USER_VERIFICATION_INDEX",
    .rawUserVerificationState: "TAG_RAW_USER_VERIFICATION_STATE",
    .userVerificationState: "TAG_USER_VERIFICATION_STATE",
  ]
}
