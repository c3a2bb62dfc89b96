// Re-exported: users of this module need the identifier types.
@_exported public import SignetIdentifiers
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension ID {
  /// Validates an identifier from an untrusted source.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a character or length that is not allowed.
  public init(_ text: String) throws(WireFailure) {
    guard let id = Self(checking: text) else { throw .invalid(member: "id", reason: Self.form) }
    self = id
  }
}

extension UserID {
  /// Validates a user id.
  ///
  /// A user id has one spelling. Text that is not in Unicode Normalization Form C is rejected: it would look like, and for
  /// Swift be equal to, an id that a database treats as different.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for an empty or overlong text, a control character, a character that
  ///   is invisible or changes the direction of text, a space at either end, another normalization, or `.` and `..`, which
  ///   cannot be a segment of a URL's path (RFC 3986, section 5.2.4).
  public init(_ text: String) throws(WireFailure) {
    guard text.isEmpty || PercentEncoding.isSegment(text) else {
      throw .invalid(
        member: "user", reason: "must not be . or .., which stand for folders in the path of a URL")
    }
    // Fast path: most ids are visible ASCII, for which only the length matters.
    if (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
      self.init(unchecked: text)
      return
    }
    guard !text.isEmpty, text.unicodeScalars.count <= 128 else {
      throw .invalid(member: "user", reason: "must have 1 to 128 characters")
    }
    guard text.unicodeScalars.allSatisfy({ DisplayText.isPlain($0) && $0 != "\n" }) else {
      throw .invalid(member: "user", reason: "has a control or invisible character; remove it")
    }
    guard text.first?.isWhitespace == false, text.last?.isWhitespace == false else {
      throw .invalid(member: "user", reason: "begins or ends with a space; remove it")
    }
    guard Normalization.isFormC(text) else {
      throw .invalid(member: "user", reason: "is not in Unicode Normalization Form C; compose its characters")
    }
    self.init(unchecked: text)
  }
}
