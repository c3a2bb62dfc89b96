/// The reasons why bytes are no command or no answer.
package enum AuthenticatorCommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes exceed ``CommandElements/maximumByteCount``.
  case tooLong(Int)
  /// The bytes are malformed TLV.
  case tlv(TLVFailure)
  /// The outermost element is unknown, or bytes follow it.
  case notACommand
  /// A required element is missing.
  case missing(TLVTag)
  /// An element that may occur once occurs twice.
  case repeated(TLVTag)
  /// An element has an invalid length or content.
  case content(TLVTag)
  /// A critical element is unknown at its position.
  case unknownCritical(TLVTag)

  package var description: String {
    switch self {
    case .tooLong(let count):
      "the command has \(count) bytes; \(CommandElements.maximumByteCount) are allowed"
    case .tlv(let failure): failure.description
    case .notACommand: "the bytes are not a command"
    case .missing(let tag): "\(tag) is missing"
    case .repeated(let tag): "\(tag) is repeated"
    case .content(let tag): "\(tag) has an invalid content"
    case .unknownCritical(let tag): "the critical tag \(tag) is not known here"
    }
  }
}
