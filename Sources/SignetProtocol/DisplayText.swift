/// Rules for text that a person reads before signing it (`docs/protocol.md` section 5).
public enum DisplayText {
  /// Rejects a text of which a screen would show something else than its scalars; it may have several lines.
  ///
  /// The content that the text is part of limits its length further.
  ///
  /// - Parameters:
  ///   - text: The text, 1 to ``TransactionContent/maximumByteCount`` bytes of UTF-8.
  ///   - member: The name of the text in the error.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` naming the rule that is broken.
  public static func check(_ text: String, member: String = "text") throws(WireFailure) {
    guard (1...TransactionContent.maximumByteCount).contains(text.utf8.count) else {
      throw .invalid(
        member: member, reason: "must have 1 to \(TransactionContent.maximumByteCount) bytes of UTF-8")
    }
    guard let forbidden = text.unicodeScalars.first(where: { !isPlain($0) }) else { return }
    let code = String(forbidden.value, radix: 16, uppercase: true)
    throw .invalid(
      member: member, reason: "has U+\(code), which hides or reorders what is shown; remove it")
  }

  /// Rejects a text with more than one line, or one that ``check(_:member:)`` rejects.
  ///
  /// - Parameters:
  ///   - text: The text, not empty.
  ///   - member: The name of the text in the error.
  ///   - limit: The greatest length, in Unicode scalars.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` naming the rule that is broken.
  package static func checkLine(_ text: String, member: String, limit: Int) throws(WireFailure) {
    guard (1...limit).contains(text.unicodeScalars.count) else {
      throw .invalid(member: member, reason: "must have 1 to \(limit) characters")
    }
    try check(text, member: member)
    guard !text.unicodeScalars.contains("\n") else {
      throw .invalid(member: member, reason: "has a line feed; it is one line")
    }
  }

  /// Indicates whether a scalar is displayed as itself: no control but U+000A, and nothing blank, hidden or reordering.
  static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == "\n" || (0x20...0x7E).contains(scalar.value) { return true }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: return false
    default: break
    }
    // Soft hyphens, joiners, fillers, variation selectors, tags and directional controls are all default-ignorable. The
    // Braille blank and the interlinear annotations are the remaining scalars without a visible glyph.
    return !scalar.properties.isDefaultIgnorableCodePoint && scalar.value != 0x2800
      && !(0xFFF9...0xFFFB).contains(scalar.value)
  }
}
