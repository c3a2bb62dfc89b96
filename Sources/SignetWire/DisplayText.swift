/// Rules for text that a person reads before signing it (`docs/protocol.md` section 5).
public enum DisplayText {
  /// Checks a text of any number of lines: what a screen shows must be what the bytes say.
  ///
  /// How long it may be is bounded by the content that it is in.
  ///
  /// - Parameters:
  ///   - text: The text, not empty.
  ///   - member: What the message calls it.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` naming the rule that is broken.
  public static func check(_ text: String, member: String = "text") throws(WireFailure) {
    guard (1...TransactionContent.maximumByteCount).contains(text.utf8.count) else {
      throw .invalid(
        member: member, reason: "has 1 to \(TransactionContent.maximumByteCount) bytes of UTF-8")
    }
    guard let odd = text.unicodeScalars.first(where: { !isPlain($0) }) else { return }
    let code = String(odd.value, radix: 16, uppercase: true)
    throw .invalid(
      member: member, reason: "has U+\(code), which hides or reorders what is shown; remove it")
  }

  /// Checks a text of one line.
  ///
  /// - Parameters:
  ///   - text: The text, not empty.
  ///   - member: What the message calls it.
  ///   - limit: The most characters.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` naming the rule that is broken.
  package static func checkLine(_ text: String, member: String, limit: Int) throws(WireFailure) {
    guard (1...limit).contains(text.unicodeScalars.count) else {
      throw .invalid(member: member, reason: "has 1 to \(limit) characters")
    }
    try check(text, member: member)
    guard !text.unicodeScalars.contains("\n") else {
      throw .invalid(member: member, reason: "has a line feed; it is one line")
    }
  }

  /// Whether a scalar shows what it is: no control but U+000A, nothing that is blank, hides or reorders text.
  static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == "\n" { return true }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: return false
    default: break
    }
    // Soft hyphens, joiners, fillers, variation selectors, tags and the controls of direction are all default-ignorable; the
    // Braille blank and the interlinear annotations are the rest of what shows nothing.
    return !scalar.properties.isDefaultIgnorableCodePoint && scalar.value != 0x2800
      && !(0xFFF9...0xFFFB).contains(scalar.value)
  }
}
