/// The reasons why a text cannot be decoded.
@nonexhaustive public enum EncodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number of characters encodes no whole number of bytes.
  case length(Int)
  /// The character at this offset, in UTF-8 bytes, is outside the alphabet.
  case character(offset: Int)
  /// The spare bits of the last character are not zero, so that a second text would decode to the same bytes.
  case trailingBits

  /// The reason and what to do about it; it never contains the text, which may be secret.
  public var description: String {
    switch self {
    case .length(let count): "\(count) characters encode no whole number of bytes; send the text whole"
    case .character(let offset): "the character at \(offset) is not in the alphabet; remove it"
    case .trailingBits: "the last character has spare bits that are not zero; encode the bytes again"
    }
  }
}
