/// Why a text is not the encoding of bytes.
@nonexhaustive public enum EncodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// No whole number of bytes has an encoding of this many characters.
  case length(Int)
  /// The character at this offset, in UTF-8 bytes, does not belong to the alphabet.
  case character(offset: Int)
  /// The bits that the last character has to spare are not zero, so that another text would mean the same.
  case trailingBits

  /// What happened and what to do; never the text, which may be a secret.
  public var description: String {
    switch self {
    case .length(let count): "\(count) characters encode no whole number of bytes; send the text whole"
    case .character(let offset): "the character at \(offset) is not in the alphabet; remove it"
    case .trailingBits: "the last character has spare bits that are not zero; encode the bytes again"
    }
  }
}
