public import SignetCrypto

/// An identifier that the server makes: 1 to 64 characters from `A-Z a-z 0-9 _ -`.
///
/// `Named` is what it names, so that one id does not stand for another: a case of ``Entity``, or the record where only the server knows it.
public struct ID<Named>: Hashable, Sendable, CustomStringConvertible {
  /// The text.
  public let text: String

  /// Checks an identifier that came from outside.
  ///
  /// - Returns: `nil` for any other character or length.
  public init?(checking text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
    self.text = text
  }

  /// Takes an identifier that the server has made, or that a row of its database holds or a path names, where any text may stand.
  ///
  /// The form is not checked: a row that somebody else has written has to be read, listed and revoked too; its MAC does not match.
  package init(unchecked text: String) { self.text = text }

  /// Makes a fresh identifier of 127 random bits, in base64url.
  ///
  /// The top bit is 0, so that it never begins with `-`: on a command line that would be an option.
  public init(random source: some RandomSource) {
    var bytes = source.bytes(16)
    bytes[0] &= 0x7F
    text = Base64URL.encode(bytes)
  }

  /// Whether two ids are the same bytes, as a database compares them: for Swift a Kelvin sign is a K.
  public static func == (_ one: Self, _ other: Self) -> Bool {
    one.text.utf8.elementsEqual(other.text.utf8)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The form in words, for error texts.
  package static var form: String { "has 1 to 64 characters from A-Z a-z 0-9 _ -" }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// The text.
  public var description: String { text }
}
