/// An authenticator's description of itself (UAF Authenticator Commands section 6.1.2).
package struct AuthenticatorDescription: Hashable, Sendable {
  /// The flags of an authenticator.
  package struct Kind: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let secondFactor = Kind(rawValue: 0x001)
    package static let roaming = Kind(rawValue: 0x002)
    package static let storesKeyHandles = Kind(rawValue: 0x004)
    package static let hasOwnInterface = Kind(rawValue: 0x008)
    package static let hasSettings = Kind(rawValue: 0x010)
    package static let expectsAppID = Kind(rawValue: 0x020)
    package static let isUserEnrolled = Kind(rawValue: 0x040)
    package static let acceptsUserVerifyTokens = Kind(rawValue: 0x080)
    package static let acceptsTransactionHashOnly = Kind(rawValue: 0x100)
  }

  package var index: UInt8
  package var aaid: AAID
  package var kind: Kind
  /// The largest number of key handles in one command.
  package var maximumKeyHandles: UInt8
  package var userVerification: UserVerification
  package var keyProtection: KeyProtection
  package var matcherProtection: MatcherProtection
  package var display: UAFTransactionDisplay
  package var algorithm: UAFAlgorithm
  package var displayContentType: String?
  package var assertionScheme: String
  package var attestationTypes: [AttestationType]
  package var supportedExtensionIDs: [String]

  /// Creates the description of an authenticator from its metadata statement.
  package init(_ statement: MetadataStatement, index: UInt8, kind: Kind, maximumKeyHandles: UInt8 = 1) {
    self.index = index
    aaid = statement.aaid
    self.kind = kind
    self.maximumKeyHandles = maximumKeyHandles
    userVerification = statement.traits.userVerification.first ?? []
    keyProtection = statement.keyProtection
    matcherProtection = statement.matcherProtection
    display = statement.display
    algorithm = statement.algorithm
    displayContentType = statement.displayContentType
    assertionScheme = statement.assertionScheme
    attestationTypes = statement.attestationTypes
    supportedExtensionIDs = []
  }

  init(_ elements: CommandElements) throws(AuthenticatorCommandFailure) {
    try elements.refuse(except: [
      .authenticatorIndex, .aaid, .authenticatorMetadata, .displayContentType, .displayPNGCharacteristics,
      .assertionScheme, .attestationType, .supportedExtensionID,
    ])
    index = try elements.required(.authenticatorIndex, 1...1)[0]
    guard let aaid = AAID(ascii: try elements.required(.aaid, 9...9)[...]) else { throw .content(.aaid) }
    self.aaid = aaid
    let metadata = try elements.required(.authenticatorMetadata, 15...15)
    kind = Kind(rawValue: CommandElements.number(metadata[0..<2]))
    maximumKeyHandles = metadata[2]
    userVerification = UserVerification(rawValue: CommandElements.number(metadata[3..<7]))
    keyProtection = KeyProtection(rawValue: CommandElements.number(metadata[7..<9]))
    matcherProtection = MatcherProtection(rawValue: CommandElements.number(metadata[9..<11]))
    display = UAFTransactionDisplay(rawValue: CommandElements.number(metadata[11..<13]))
    algorithm = UAFAlgorithm(rawValue: CommandElements.number(metadata[13..<15]))
    displayContentType = try elements.optionalText(.displayContentType, 1...128)
    assertionScheme = try elements.text(.assertionScheme, 1...64)
    attestationTypes = try elements.all(.attestationType, 2...2)
      .map { AttestationType(rawValue: CommandElements.number($0)) }
    supportedExtensionIDs = try elements.all(.supportedExtensionID, 1...32)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  func write(to writer: inout TLVWriter) {
    writer.write(.authenticatorInfo) { writer in
      writer.write(.authenticatorIndex, [index])
      writer.write(.aaid, aaid.text.utf8)
      writer.write(.authenticatorMetadata) { writer in
        writer.write(kind.rawValue)
        writer.write(maximumKeyHandles)
        writer.write(userVerification.rawValue)
        writer.write(keyProtection.rawValue)
        writer.write(matcherProtection.rawValue)
        writer.write(display.rawValue)
        writer.write(algorithm.rawValue)
      }
      writer.writeOptional(.displayContentType, displayContentType.map { Array($0.utf8) })
      writer.write(.assertionScheme, assertionScheme.utf8)
      for type in attestationTypes { writer.write(.attestationType) { $0.write(type.rawValue) } }
      for id in supportedExtensionIDs { writer.write(.supportedExtensionID, id.utf8) }
    }
  }
}
