/// The name by which a server knows a user: 1 to 128 characters (`docs/protocol.md` section 2).
public struct UserID: Hashable, Sendable, CustomStringConvertible {
  /// The text, as the operator gave it; of a deleted user what the audit log calls the user.
  public let text: String

  /// Takes a user's id that was checked before, or that a row of the server's database holds, where any text may stand if somebody else
  /// has written it.
  package init(unchecked text: String) { self.text = text }

  /// Whether two ids are the same bytes, as a database compares them.
  public static func == (_ one: Self, _ other: Self) -> Bool {
    one.text.utf8.elementsEqual(other.text.utf8)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The text.
  public var description: String { text }
}
