/// Rules for text that a person reads before signing it (`docs/protocol.md` section 5).
public enum DisplayText {
  /// The most bytes of UTF-8 that a transaction's text has.
  public static let maximumByteCount = 4096

  /// Checks a transaction's text: what a screen shows must be what the bytes say.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` naming the rule that is broken.
  public static func check(_ text: String) throws(WireFailure) {
    guard (1...maximumByteCount).contains(text.utf8.count) else {
      throw .invalid(member: "text", reason: "has 1 to \(maximumByteCount) bytes of UTF-8")
    }
    guard let odd = text.unicodeScalars.first(where: { !isPlain($0) }) else { return }
    let code = String(odd.value, radix: 16, uppercase: true)
    throw .invalid(
      member: "text", reason: "has U+\(code), which hides or reorders what is shown; remove it")
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
