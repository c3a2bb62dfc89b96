package import SignetJSON

/// Criteria for an authenticator; every present member has to match.
package struct MatchCriteria: Hashable, Sendable {
  package var aaids: [AAID]?
  package var vendors: [UInt16]?
  package var keyIDs: [KeyID]?
  package var userVerification: UserVerification?
  package var keyProtection: KeyProtection?
  package var matcherProtection: MatcherProtection?
  package var attachmentHint: AttachmentHint?
  package var display: UAFTransactionDisplay?
  package var algorithms: [UAFAlgorithm]?
  package var assertionSchemes: [String]?
  /// The attestation types in the server's order of preference.
  package var attestationTypes: [AttestationType]?
  /// The lowest accepted version; deprecated.
  package var authenticatorVersion: UInt16?
  package var extensions: [UAFExtension]

  /// Creates criteria that every authenticator matches.
  package init() { extensions = [] }

  /// Creates criteria for models, and optionally for certain keys.
  package init(aaids: [AAID], keyIDs: [KeyID]? = nil) {
    self.init()
    self.aaids = aaids
    self.keyIDs = keyIDs
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    aaids = try reader.optionalList("aaid") { value, path throws(MessageFailure) in
      try DictionaryReader.aaid(value, path)
    }
    vendors = try reader.optionalList("vendorID") { value, path throws(MessageFailure) in
      guard let vendor = AAID.number(try DictionaryReader.text(value, path).utf8) else {
        throw .member(path, .form)
      }
      return vendor
    }
    keyIDs = try reader.optionalList("keyIDs") { value, path throws(MessageFailure) in
      try DictionaryReader.keyID(value, path)
    }
    userVerification = try reader.optionalNumber("userVerification").map(UserVerification.init(rawValue:))
    keyProtection = try reader.optionalNumber("keyProtection").map(KeyProtection.init(rawValue:))
    matcherProtection = try reader.optionalNumber("matcherProtection").map(MatcherProtection.init(rawValue:))
    attachmentHint = try reader.optionalNumber("attachmentHint").map(AttachmentHint.init(rawValue:))
    display = try reader.optionalNumber("tcDisplay").map(UAFTransactionDisplay.init(rawValue:))
    algorithms = try reader.optionalList("authenticationAlgorithms") { value, path throws(MessageFailure) in
      UAFAlgorithm(rawValue: try DictionaryReader.number(value, path))
    }
    assertionSchemes = try reader.optionalList("assertionSchemes") { value, path throws(MessageFailure) in
      try DictionaryReader.text(value, path)
    }
    attestationTypes = try reader.optionalList("attestationTypes") { value, path throws(MessageFailure) in
      AttestationType(rawValue: try DictionaryReader.number(value, path))
    }
    authenticatorVersion = try reader.optionalNumber("authenticatorVersion")
    extensions = try reader.extensions()
  }

  package var json: JSONObject {
    var object = JSONObject()
    object.setOptional("aaid", aaids.map { .strings($0.map(\.text)) })
    object.setOptional("vendorID", vendors.map { .strings($0.map { AAID(vendor: $0, model: 0).vendorID }) })
    object.setOptional("keyIDs", keyIDs.map { .strings($0.map(\.text)) })
    object.setOptional("userVerification", userVerification.map { .number($0.rawValue) })
    object.setOptional("keyProtection", keyProtection.map { .number($0.rawValue) })
    object.setOptional("matcherProtection", matcherProtection.map { .number($0.rawValue) })
    object.setOptional("attachmentHint", attachmentHint.map { .number($0.rawValue) })
    object.setOptional("tcDisplay", display.map { .number($0.rawValue) })
    object.setOptional("authenticationAlgorithms", algorithms.map { .numbers($0.map(\.rawValue)) })
    object.setOptional("assertionSchemes", assertionSchemes.map { .strings($0) })
    object.setOptional("attestationTypes", attestationTypes.map { .numbers($0.map(\.rawValue)) })
    object.setOptional("authenticatorVersion", authenticatorVersion.map { .number($0) })
    if !extensions.isEmpty { object["exts"] = extensions.json }
    return object
  }

  /// Indicates whether a server may send the criteria.
  ///
  /// The protocol allows few other members next to a list of models, and requires algorithms and schemes without one. Its
  /// own examples violate that, so parsing does not check it.
  package var isWellFormed: Bool {
    guard aaids != nil else { return algorithms != nil && assertionSchemes != nil }
    return vendors == nil && userVerification == nil && keyProtection == nil && matcherProtection == nil
      && display == nil && algorithms == nil && assertionSchemes == nil && attestationTypes == nil
  }

  /// Indicates whether an authenticator matches these criteria.
  ///
  /// - Parameters:
  ///   - authenticator: The traits of the authenticator.
  ///   - presentKeys: The keys that it would be used with; `nil` if keys do not matter.
  ///   - knownExtensions: The ids of extensions that the caller evaluates.
  /// - Returns: True if every present member matches.
  package func matches(
    _ authenticator: AuthenticatorTraits, keyIDs presentKeys: [KeyID]? = nil,
    knownExtensions: Set<String> = []
  ) -> Bool {
    guard extensions.firstUnknown(except: knownExtensions) == nil else { return false }
    if let aaids, !aaids.contains(authenticator.aaid) { return false }
    if let vendors, !vendors.contains(authenticator.aaid.vendor) { return false }
    if let keyIDs, let presentKeys, !presentKeys.contains(where: keyIDs.contains) { return false }
    if let userVerification, !authenticator.userVerification.contains(where: userVerification.matches) {
      return false
    }
    if let keyProtection, keyProtection.isDisjoint(with: authenticator.keyProtection) { return false }
    if let matcherProtection, matcherProtection.isDisjoint(with: authenticator.matcherProtection) {
      return false
    }
    if let attachmentHint, attachmentHint.isDisjoint(with: authenticator.attachmentHint) { return false }
    if let display, display.isDisjoint(with: authenticator.display) { return false }
    if let algorithms, !algorithms.contains(where: authenticator.algorithms.contains) { return false }
    if let assertionSchemes, !assertionSchemes.contains(authenticator.assertionScheme) { return false }
    if let attestationTypes, !attestationTypes.contains(where: authenticator.attestationTypes.contains) {
      return false
    }
    if let authenticatorVersion, let version = authenticator.version, version < authenticatorVersion {
      return false
    }
    return true
  }

  /// Returns the server's most preferred attestation type that the authenticator supports.
  package func preferredAttestation(of authenticator: AuthenticatorTraits) -> AttestationType? {
    (attestationTypes ?? authenticator.attestationTypes).first(where: authenticator.attestationTypes.contains)
  }

  /// Indicates whether a candidate used the preferred attestation; true if it did not attest or the server has no
  /// preference.
  func prefersAttestation(of candidate: Policy.Candidate) -> Bool {
    guard attestationTypes != nil, let attestation = candidate.attestation else { return true }
    return preferredAttestation(of: candidate.traits) == attestation
  }
}
