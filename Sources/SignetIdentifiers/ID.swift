public import SignetCrypto
import SignetSystem

/// An identifier that the server generates: 1 to 64 characters from `A-Z a-z 0-9 _ -`.
///
/// `Named` is the type of the named object, so that ids of different kinds cannot be mixed up: a case of ``Entity``, or the
/// record if only the server uses the id.
public struct ID<Named>: Hashable, Sendable, CustomStringConvertible {
  /// The text.
  public let text: String

  /// Validates an identifier from an external source.
  ///
  /// - Returns: `nil` for any other character or length.
  public init?(checking text: String) {
    guard (1...64).contains(text.utf8.count), text.allBytesSatisfy(Self.isAllowed) else { return nil }
    self.text = text
  }

  /// Makes an identifier without validation: from the server's own code, a database row or a path.
  ///
  /// A row may contain any text if an attacker has written it. It must still be readable, so that it can be listed and
  /// revoked; its MAC does not verify.
  package init(unchecked text: String) { self.text = text }

  /// Generates an identifier of 127 random bits, in base64url.
  ///
  /// The top bit is 0, so that it never begins with `-`, which a command line would read as an option.
  public init(random source: some RandomSource) {
    var bytes = source.bytes(16)
    bytes[0] &= 0x7F
    text = Base64URL.encode(bytes)
  }

  /// Compares the bytes, as a database does: for Swift strings, a Kelvin sign equals a K.
  public static func == (_ one: Self, _ other: Self) -> Bool {
    one.text.hasSameBytes(as: other.text)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The format in words, for error texts.
  package static var form: String { "must have 1 to 64 characters from A-Z a-z 0-9 _ -" }

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

/// Type tags of ids that devices and the server both use; they have no instances.
public enum Entity {
  /// A container.
  public enum Container {}
  /// A transaction.
  public enum Transaction {}
  /// A command to a device.
  public enum DeviceCommand {}
  /// A push target.
  public enum PushTarget {}
}

/// The id of a container at its server.
public typealias ContainerID = ID<Entity.Container>
/// The id of a transaction at its server.
public typealias TransactionID = ID<Entity.Transaction>
/// The id of a command to a device.
public typealias DeviceCommandID = ID<Entity.DeviceCommand>
/// The id of a push target.
public typealias PushTargetID = ID<Entity.PushTarget>
