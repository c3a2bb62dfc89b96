extension TLVTag {
  // The tags of commands and of their parts (UAF Authenticator Commands section 4.1).
  package static let getInfoCommand = TLVTag(rawValue: 0x3401)
  package static let registerCommand = TLVTag(rawValue: 0x3402)
  package static let signCommand = TLVTag(rawValue: 0x3403)
  package static let deregisterCommand = TLVTag(rawValue: 0x3404)
  package static let openSettingsCommand = TLVTag(rawValue: 0x3406)
  package static let getInfoAnswer = TLVTag(rawValue: 0x3601)
  package static let registerAnswer = TLVTag(rawValue: 0x3602)
  package static let signAnswer = TLVTag(rawValue: 0x3603)
  package static let deregisterAnswer = TLVTag(rawValue: 0x3604)
  package static let openSettingsAnswer = TLVTag(rawValue: 0x3606)
  package static let keyHandle = TLVTag(rawValue: 0x2801)
  package static let userNameAndKeyHandle = TLVTag(rawValue: 0x3802)
  package static let userVerifyToken = TLVTag(rawValue: 0x2803)
  package static let appID = TLVTag(rawValue: 0x2804)
  package static let keyHandleAccessToken = TLVTag(rawValue: 0x2805)
  package static let userName = TLVTag(rawValue: 0x2806)
  package static let attestationType = TLVTag(rawValue: 0x2807)
  package static let statusCode = TLVTag(rawValue: 0x2808)
  package static let authenticatorMetadata = TLVTag(rawValue: 0x2809)
  package static let assertionScheme = TLVTag(rawValue: 0x280A)
  package static let displayPNGCharacteristics = TLVTag(rawValue: 0x280B)
  package static let displayContentType = TLVTag(rawValue: 0x280C)
  package static let authenticatorIndex = TLVTag(rawValue: 0x280D)
  package static let apiVersion = TLVTag(rawValue: 0x280E)
  package static let authenticatorAssertion = TLVTag(rawValue: 0x280F)
  package static let transactionContent = TLVTag(rawValue: 0x2810)
  package static let authenticatorInfo = TLVTag(rawValue: 0x3811)
  package static let supportedExtensionID = TLVTag(rawValue: 0x2812)
  package static let transactionConfirmationToken = TLVTag(rawValue: 0x2813)

  static let commandNames: [TLVTag: String] = [
    .getInfoCommand: "TAG_UAFV1_GETINFO_CMD", .registerCommand: "TAG_UAFV1_REGISTER_CMD",
    .signCommand: "TAG_UAFV1_SIGN_CMD", .deregisterCommand: "TAG_UAFV1_DEREGISTER_CMD",
    .openSettingsCommand: "TAG_UAFV1_OPEN_SETTINGS_CMD", .getInfoAnswer: "TAG_UAFV1_GETINFO_CMD_RESPONSE",
    .registerAnswer: "TAG_UAFV1_REGISTER_CMD_RESPONSE", .signAnswer: "TAG_UAFV1_SIGN_CMD_RESPONSE",
    .deregisterAnswer: "TAG_UAFV1_DEREGISTER_CMD_RESPONSE",
    .openSettingsAnswer: "TAG_UAFV1_OPEN_SETTINGS_CMD_RESPONSE", .keyHandle: "TAG_KEYHANDLE",
    .userNameAndKeyHandle: "TAG_USERNAME_AND_KEYHANDLE", .userVerifyToken: "TAG_USERVERIFY_TOKEN",
    .appID: "TAG_APPID", .keyHandleAccessToken: "TAG_KEYHANDLE_ACCESS_TOKEN", .userName: "TAG_USERNAME",
    .attestationType: "TAG_ATTESTATION_TYPE", .statusCode: "TAG_STATUS_CODE",
    .authenticatorMetadata: "TAG_AUTHENTICATOR_METADATA", .assertionScheme: "TAG_ASSERTION_SCHEME",
    .displayPNGCharacteristics: "TAG_TC_DISPLAY_PNG_CHARACTERISTICS",
    .displayContentType: "TAG_TC_DISPLAY_CONTENT_TYPE", .authenticatorIndex: "TAG_AUTHENTICATOR_INDEX",
    .apiVersion: "TAG_API_VERSION", .authenticatorAssertion: "TAG_AUTHENTICATOR_ASSERTION",
    .transactionContent: "TAG_TRANSACTION_CONTENT", .authenticatorInfo: "TAG_AUTHENTICATOR_INFO",
    .supportedExtensionID: "TAG_SUPPORTED_EXTENSION_ID",
    .transactionConfirmationToken: "TAG_TRANSACTIONCONFIRMATION_TOKEN",
  ]
}

extension AuthenticatorStatus.Command {
  package var tag: TLVTag {
    switch self {
    case .getInfo: .getInfoCommand
    case .register: .registerCommand
    case .sign: .signCommand
    case .deregister: .deregisterCommand
    case .openSettings: .openSettingsCommand
    }
  }

  /// The tag of the answer to the command.
  package var answerTag: TLVTag {
    switch self {
    case .getInfo: .getInfoAnswer
    case .register: .registerAnswer
    case .sign: .signAnswer
    case .deregister: .deregisterAnswer
    case .openSettings: .openSettingsAnswer
    }
  }

  /// Returns the command for the little-endian tag at the start of the bytes; `nil` if it is unknown.
  package init?(beginningOf bytes: [UInt8]) {
    guard bytes.count >= 2 else { return nil }
    let tag = TLVTag(rawValue: UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
    guard let command = Self.allCases.first(where: { $0.tag == tag }) else { return nil }
    self = command
  }
}
