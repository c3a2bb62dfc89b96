import Foundation

/// A second implementation of Form C, as plain as its definition in section 3.11 of the Unicode Standard.
///
/// The standard library is no reference for all texts; for single characters it is right. In Swift 6.3 it has these errors:
///
/// - It joins by the lower 16 bits of a code point.
/// - It treats U+1113, U+1176, U+11A7 and U+11C3 as modern Hangul.
/// - It joins no mark of class 0 with a starter that has parts itself (U+0CCA and U+0CD5, a syllable and its last consonant).
/// - It does not reorder marks before U+0F73, U+0F75 and U+0F81.
/// - It does not know the marks added in Unicode 16.
enum NaiveFormC {
  /// Returns the normalized text, with all spaces replaced by U+0020 first (RFC 8265).
  static func prepared(_ text: String) -> [Unicode.Scalar] { normalized(spaced(text)) }

  /// The standard library's result.
  static func library(_ text: String) -> [Unicode.Scalar] {
    Array(String(String.UnicodeScalarView(spaced(text))).precomposedStringWithCanonicalMapping.unicodeScalars)
  }

  /// Returns whether the standard library is a reference for a text.
  static func isMeasured(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0x1113, 0x1176, 0x11A7, 0x11C3, 0xCD5, 0xF73, 0xF75, 0xF81, 0x1_0000...: false
      case 0xAC00...0xD7A3 where (scalar.value - 0xAC00).isMultiple(of: 28): false
      default: (scalar.properties.age?.major ?? 0) < 16
      }
    }
  }

  private static func spaced(_ text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.map { $0.properties.generalCategory == .spaceSeparator ? " " : $0 }
  }

  private static func normalized(_ text: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var scalars = text.flatMap { $0.isASCII ? [$0] : formD(of: $0) }

    // D109: two neighbors are exchanged as long as a mark follows one of a higher class.
    var isSorted = false
    while !isSorted {
      isSorted = true
      for index in scalars.indices.dropFirst() {
        let (left, right) = (combiningClass(scalars[index - 1]), combiningClass(scalars[index]))
        if right != 0, left > right {
          scalars.swapAt(index - 1, index)
          isSorted = false
        }
      }
    }

    // D117: each character is joined with the last starter before it, unless something between them blocks it (D115).
    var index = 1
    while index < scalars.count {
      let wanted = combiningClass(scalars[index])
      if let starter = scalars[..<index].lastIndex(where: { combiningClass($0) == 0 }),
        !scalars[(starter + 1)..<index].contains(where: { combiningClass($0) >= wanted }),
        let composite = composites[[scalars[starter], scalars[index]]]
      {
        scalars[starter] = composite
        scalars.remove(at: index)
      } else {
        index += 1
      }
    }
    return scalars
  }

  private static func combiningClass(_ scalar: Unicode.Scalar) -> UInt8 {
    scalar.isASCII ? 0 : scalar.properties.canonicalCombiningClass.rawValue
  }

  private static func formD(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    Array(String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars)
  }

  /// The composites of two characters, if the composite's parts normalize to it.
  private static let composites: [[Unicode.Scalar]: Unicode.Scalar] = {
    var composites: [[Unicode.Scalar]: Unicode.Scalar] = [:]
    for scalar in (UInt32(0x80)..<0x3_0000).compactMap(Unicode.Scalar.init)
    where !scalar.properties.isUnifiedIdeograph && scalar.properties.generalCategory != .unassigned {
      let parts = formD(of: scalar)
      guard parts.count > 1, !scalar.properties.isFullCompositionExclusion, let last = parts.last else {
        continue
      }
      let head = Array(
        String(String.UnicodeScalarView(parts.dropLast())).precomposedStringWithCanonicalMapping
          .unicodeScalars)
      composites[head + [last]] = scalar
    }
    return composites
  }()
}
