import SignetSystem

/// The server's id of a user: 1 to 128 characters (`docs/protocol.md` section 2).
public struct UserID: Hashable, Sendable, CustomStringConvertible {
  /// The text, as the operator chose it; for a deleted user the user's subject, as in the audit log.
  public let text: String

  /// Makes an id without validation: one that was validated before, or from a database row, in which an attacker may have
  /// written any text.
  package init(unchecked text: String) { self.text = text }

  /// Compares the bytes, as a database does.
  public static func == (_ one: Self, _ other: Self) -> Bool {
    one.text.hasSameBytes(as: other.text)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The text.
  public var description: String { text }
}
