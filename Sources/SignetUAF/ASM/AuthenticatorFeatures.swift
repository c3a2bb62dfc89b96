import SignetJSON

/// The members that a module and a client both use to describe an authenticator.
package struct AuthenticatorFeatures: Hashable, Sendable {
  package var aaid: AAID
  package var assertionScheme: String
  package var algorithm: UAFAlgorithm
  package var attestationTypes: [AttestationType]
  package var userVerification: UserVerification
  package var keyProtection: KeyProtection
  package var matcherProtection: MatcherProtection
  package var attachmentHint: AttachmentHint
  package var isSecondFactorOnly: Bool
  package var supportedExtensionIDs: [String]
  package var display: UAFTransactionDisplay
  package var displayContentType: String?
  package var pngCharacteristics: [DisplayPNGCharacteristics]
  package var title: String?
  package var description: String?
  package var icon: String?

  /// Creates the features of an authenticator from its metadata statement.
  package init(_ statement: MetadataStatement, title: String? = nil) {
    aaid = statement.aaid
    assertionScheme = statement.assertionScheme
    algorithm = statement.algorithm
    attestationTypes = statement.attestationTypes
    userVerification = statement.traits.userVerification.first ?? []
    keyProtection = statement.keyProtection
    matcherProtection = statement.matcherProtection
    attachmentHint = statement.attachmentHint
    isSecondFactorOnly = statement.isSecondFactorOnly
    supportedExtensionIDs = []
    display = statement.display
    displayContentType = statement.displayContentType
    pngCharacteristics = statement.pngCharacteristics
    self.title = title
    description = statement.description
    icon = statement.icon
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    guard let aaid = AAID(try reader.string("aaid")) else { throw reader.failure("aaid", .form) }
    self.aaid = aaid
    assertionScheme = try reader.string("assertionScheme", 1...64)
    algorithm = UAFAlgorithm(rawValue: try reader.number("authenticationAlgorithm"))
    attestationTypes = try reader.list("attestationTypes", maximum: 64) {
      value, path throws(MessageFailure) in
      AttestationType(rawValue: try DictionaryReader.number(value, path))
    }
    userVerification = UserVerification(rawValue: try reader.number("userVerification"))
    keyProtection = KeyProtection(rawValue: try reader.number("keyProtection"))
    matcherProtection = MatcherProtection(rawValue: try reader.number("matcherProtection"))
    attachmentHint = AttachmentHint(rawValue: try reader.number("attachmentHint"))
    isSecondFactorOnly = try reader.bool("isSecondFactorOnly")
    supportedExtensionIDs =
      try reader.list("supportedExtensionIDs", minimum: 0, maximum: 64) {
        value, path throws(MessageFailure) in
        try DictionaryReader.text(value, path)
      }
    display = UAFTransactionDisplay(rawValue: try reader.number("tcDisplay"))
    displayContentType = try reader.optionalString("tcDisplayContentType", 1...128)
    pngCharacteristics =
      try reader.optionalList("tcDisplayPNGCharacteristics", minimum: 0, maximum: 64) {
        value, path throws(MessageFailure) in
        try DisplayPNGCharacteristics(DictionaryReader(value, path))
      } ?? []
    title = try reader.optionalString("title", 1...4096)
    description = try reader.optionalString("description", 1...4096)
    icon = try reader.optionalString("icon", 0...(1 << 20))
  }

  /// Writes the members to an object.
  func write(to object: inout JSONObject) {
    object["aaid"] = .string(aaid.text)
    object["assertionScheme"] = .string(assertionScheme)
    object["authenticationAlgorithm"] = .number(algorithm.rawValue)
    object["attestationTypes"] = .numbers(attestationTypes.map(\.rawValue))
    object["userVerification"] = .number(userVerification.rawValue)
    object["keyProtection"] = .number(keyProtection.rawValue)
    object["matcherProtection"] = .number(matcherProtection.rawValue)
    object["attachmentHint"] = .number(attachmentHint.rawValue)
    object["isSecondFactorOnly"] = .bool(isSecondFactorOnly)
    object["supportedExtensionIDs"] = .strings(supportedExtensionIDs)
    object["tcDisplay"] = .number(display.rawValue)
    object.setOptional("tcDisplayContentType", displayContentType.map { .string($0) })
    if !pngCharacteristics.isEmpty {
      object["tcDisplayPNGCharacteristics"] = .dictionaries(pngCharacteristics.map(\.json))
    }
    object.setOptional("title", title.map { .string($0) })
    object.setOptional("description", description.map { .string($0) })
    object.setOptional("icon", icon.map { .string($0) })
  }

  /// The traits that a policy compares.
  package var traits: AuthenticatorTraits {
    AuthenticatorTraits(
      aaid: aaid, userVerification: [userVerification], keyProtection: keyProtection,
      matcherProtection: matcherProtection, attachmentHint: attachmentHint, display: display,
      algorithms: [algorithm], assertionScheme: assertionScheme, attestationTypes: attestationTypes)
  }
}
