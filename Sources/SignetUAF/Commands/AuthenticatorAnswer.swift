/// What an authenticator answers, as it goes over the wire (UAF Authenticator Commands section 6).
package struct AuthenticatorAnswer: Hashable, Sendable {
  /// What comes with success.
  package enum Payload: Hashable, Sendable {
    case nothing
    case info(apiVersion: UInt8, [AuthenticatorDescription])
    /// A new key: its assertion, and the handle that the module keeps where the authenticator does not.
    case registered(assertion: [UInt8], keyHandle: [UInt8])
    case signed(assertion: [UInt8])
    /// Several keys would do: the user has to choose one, and the command is sent again with its handle alone.
    case choice([Choice])
  }

  /// A key that the user may choose.
  package struct Choice: Hashable, Sendable {
    package let userName: String
    package let keyHandle: [UInt8]

    package init(userName: String, keyHandle: [UInt8]) {
      (self.userName, self.keyHandle) = (userName, keyHandle)
    }
  }

  package let command: AuthenticatorStatus.Command
  /// As it was sent; ``AuthenticatorStatus`` names those that are known.
  package let statusCode: UInt16
  package let payload: Payload

  package init(
    _ command: AuthenticatorStatus.Command, _ status: AuthenticatorStatus, _ payload: Payload = .nothing
  ) {
    (self.command, statusCode, self.payload) = (command, status.rawValue, payload)
  }

  /// The status; one that is not known counts as an unknown failure.
  package var status: AuthenticatorStatus { AuthenticatorStatus(rawValue: statusCode) ?? .unknown }

  /// Reads an answer.
  ///
  /// - Throws: ``AuthenticatorCommandFailure``.
  package init(parsing bytes: [UInt8]) throws(AuthenticatorCommandFailure) {
    let elements = try CommandElements(bytes)
    guard let command = AuthenticatorStatus.Command.allCases.first(where: { $0.answerTag == elements.tag })
    else {
      throw .notACommand
    }
    self.command = command
    try elements.refuse(except: [
      .statusCode, .apiVersion, .authenticatorInfo, .authenticatorAssertion, .keyHandle,
      .userNameAndKeyHandle,
    ])
    statusCode = try elements.number(.statusCode, byteCount: 2)
    payload =
      statusCode == AuthenticatorStatus.ok.rawValue
      ? try Self.readPayload(command, elements) : .nothing
  }

  private static func readPayload(
    _ command: AuthenticatorStatus.Command, _ elements: CommandElements
  ) throws(AuthenticatorCommandFailure) -> Payload {
    switch command {
    case .deregister, .openSettings: return .nothing
    case .getInfo:
      var list: [AuthenticatorDescription] = []
      for content in try elements.all(.authenticatorInfo, 0...65_535) {
        list.append(try AuthenticatorDescription(CommandElements(.authenticatorInfo, content)))
      }
      return .info(apiVersion: try elements.required(.apiVersion, 1...1)[0], list)
    case .register:
      return .registered(
        assertion: try elements.required(.authenticatorAssertion, 1...4096),
        keyHandle: try elements.optional(.keyHandle, 1...4096) ?? [])
    case .sign:
      var choices: [Choice] = []
      for content in try elements.all(.userNameAndKeyHandle, 0...8192) {
        let inner = try CommandElements(.userNameAndKeyHandle, content)
        try inner.refuse(except: [.userName, .keyHandle])
        choices.append(
          Choice(
            userName: try inner.text(.userName, 1...128), keyHandle: try inner.required(.keyHandle, 1...4096))
        )
      }
      guard choices.isEmpty else { return .choice(choices) }
      return .signed(assertion: try elements.required(.authenticatorAssertion, 1...4096))
    }
  }

  /// The answer's bytes.
  package var encoded: [UInt8] {
    var writer = TLVWriter()
    writer.write(command.answerTag) { writer in
      writer.write(.statusCode) { $0.write(statusCode) }
      switch payload {
      case .nothing: break
      case .info(let version, let list):
        writer.write(.apiVersion, [version])
        for item in list { item.write(to: &writer) }
      case .registered(let assertion, let keyHandle):
        writer.write(.authenticatorAssertion, assertion)
        if !keyHandle.isEmpty { writer.write(.keyHandle, keyHandle) }
      case .signed(let assertion): writer.write(.authenticatorAssertion, assertion)
      case .choice(let choices):
        for choice in choices {
          writer.write(.userNameAndKeyHandle) { writer in
            writer.write(.userName, choice.userName.utf8)
            writer.write(.keyHandle, choice.keyHandle)
          }
        }
      }
    }
    return writer.bytes
  }
}

/// An authenticator as it describes itself (UAF Authenticator Commands section 6.1.2).
package struct AuthenticatorDescription: Hashable, Sendable {
  /// What kind of authenticator it is.
  package struct Kind: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let secondFactor = Kind(rawValue: 0x001)
    package static let roaming = Kind(rawValue: 0x002)
    package static let keepsKeyHandles = Kind(rawValue: 0x004)
    package static let hasOwnInterface = Kind(rawValue: 0x008)
    package static let hasSettings = Kind(rawValue: 0x010)
    package static let expectsAppID = Kind(rawValue: 0x020)
    package static let isUserEnrolled = Kind(rawValue: 0x040)
    package static let takesUserVerifyTokens = Kind(rawValue: 0x080)
    package static let takesTransactionHashOnly = Kind(rawValue: 0x100)
  }

  package var index: UInt8
  package var aaid: AAID
  package var kind: Kind
  /// How many key handles one command may hold.
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

  /// Describes the authenticator of a metadata statement.
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
