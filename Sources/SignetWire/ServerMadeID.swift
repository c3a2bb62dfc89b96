public import SignetCrypto

/// An identifier that the server makes: 1 to 64 characters from `A-Z a-z 0-9 _ -`.
public struct ServerMadeID: Hashable, Sendable, CustomStringConvertible {
  /// The text.
  public let text: String

  /// Checks an identifier that came from outside.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for any other character or length.
  public init(_ text: String) throws(WireFailure) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
      throw .invalid(member: "id", reason: "has 1 to 64 characters from A-Z a-z 0-9 _ -")
    }
    self.text = text
  }

  /// Makes a fresh identifier of 127 random bits, in base64url.
  ///
  /// The top bit is 0, so that it never begins with `-`: on a command line that would be an option.
  public init(random source: some RandomSource) {
    var bytes = source.bytes(16)
    bytes[0] &= 0x7F
    text = Base64URL.encode(bytes)
  }

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

/// Names a container at its server.
public typealias ContainerID = ServerMadeID
/// Names a transaction at its server.
public typealias TransactionID = ServerMadeID
