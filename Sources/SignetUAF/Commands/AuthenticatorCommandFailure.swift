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
