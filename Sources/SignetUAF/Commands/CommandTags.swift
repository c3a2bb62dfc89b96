extension TLVTag {
  // The tags of commands and of what they hold (UAF Authenticator Commands section 4.1).
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
  /// What the command begins with.
  package var tag: TLVTag {
    switch self {
    case .getInfo: .getInfoCommand
    case .register: .registerCommand
    case .sign: .signCommand
    case .deregister: .deregisterCommand
    case .openSettings: .openSettingsCommand
    }
  }

  /// What the answer to the command begins with.
  package var answerTag: TLVTag {
    switch self {
    case .getInfo: .getInfoAnswer
    case .register: .registerAnswer
    case .sign: .signAnswer
    case .deregister: .deregisterAnswer
    case .openSettings: .openSettingsAnswer
    }
  }

  /// The command whose tag, little-endian, bytes begin with; nil for none.
  package init?(beginningOf bytes: [UInt8]) {
    guard bytes.count >= 2 else { return nil }
    let tag = TLVTag(rawValue: UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
    guard let command = Self.allCases.first(where: { $0.tag == tag }) else { return nil }
    self = command
  }
}

/// Why bytes are no command, or no answer to one.
package enum AuthenticatorCommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// There are more bytes than any command has.
  case tooLong(Int)
  /// The bytes are no TLV.
  case tlv(TLVFailure)
  /// The outermost element is none that is known, or bytes follow it.
  case notACommand
  /// An element that has to be there is not.
  case missing(TLVTag)
  /// An element that may be there once is there twice.
  case repeated(TLVTag)
  /// An element has a length or a content that its kind does not have.
  case content(TLVTag)
  /// A critical element is not known at its place.
  case unknownCritical(TLVTag)

  package var description: String {
    switch self {
    case .tooLong(let count):
      "the command has \(count) bytes; \(CommandElements.maximumByteCount) are allowed"
    case .tlv(let failure): failure.description
    case .notACommand: "the bytes are no command"
    case .missing(let tag): "\(tag) is missing"
    case .repeated(let tag): "\(tag) is repeated"
    case .content(let tag): "\(tag) has a content that it cannot have"
    case .unknownCritical(let tag): "the critical tag \(tag) is not known here"
    }
  }
}

/// The elements of a command, an answer, or a composite inside one.
struct CommandElements {
  static let maximumByteCount = 65_535

  let tag: TLVTag
  private let elements: [(tag: TLVTag, content: [UInt8])]

  /// Reads one composite element with nothing behind it.
  init(_ bytes: [UInt8]) throws(AuthenticatorCommandFailure) {
    guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
    var reader = TLVReader(bytes)
    guard let outer = try Self.next(&reader), reader.rest == 0, outer.tag.isComposite else {
      throw .notACommand
    }
    try self.init(outer.tag, Array(bytes[outer.content]))
  }

  /// Reads the content of a composite element.
  init(_ tag: TLVTag, _ content: [UInt8]) throws(AuthenticatorCommandFailure) {
    self.tag = tag
    var reader = TLVReader(content)
    var elements: [(tag: TLVTag, content: [UInt8])] = []
    while let element = try Self.next(&reader) {
      elements.append((element.tag, Array(content[element.content])))
    }
    self.elements = elements
  }

  private static func next(_ reader: inout TLVReader) throws(AuthenticatorCommandFailure) -> TLVElement? {
    do throws(TLVFailure) { return try reader.next() } catch { throw .tlv(error) }
  }

  /// Refuses critical elements that are not known here.
  func refuse(except known: Set<TLVTag>) throws(AuthenticatorCommandFailure) {
    for element in elements where element.tag.isCritical && !known.contains(element.tag) {
      throw .unknownCritical(element.tag)
    }
  }

  /// The contents of all elements with a tag.
  func all(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> [[UInt8]] {
    let found = elements.filter { $0.tag == tag }.map(\.content)
    guard found.allSatisfy({ counts.contains($0.count) }) else { throw .content(tag) }
    return found
  }

  func optional(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> [UInt8]? {
    let found = try all(tag, counts)
    guard found.count <= 1 else { throw .repeated(tag) }
    return found.first
  }

  func required(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> [UInt8] {
    guard let content = try optional(tag, counts) else { throw .missing(tag) }
    return content
  }

  func optionalText(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> String?
  {
    guard let content = try optional(tag, counts) else { return nil }
    guard let text = String(validating: content, as: UTF8.self) else { throw .content(tag) }
    return text
  }

  func text(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> String {
    guard let text = try optionalText(tag, counts) else { throw .missing(tag) }
    return text
  }

  func number(_ tag: TLVTag, byteCount: Int) throws(AuthenticatorCommandFailure) -> UInt16 {
    Self.number(try required(tag, byteCount...byteCount))
  }

  static func number<Number: FixedWidthInteger>(_ bytes: some Collection<UInt8>) -> Number {
    bytes.reversed().reduce(0) { $0 << 8 | Number($1) }
  }
}
