import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The canonical decompositions and compositions of Unicode, read from the system's library once.
package struct CanonicalForms: Sendable {
  package static let all = CanonicalForms()

  /// A character of a text, with its canonical combining class.
  package struct Element: Sendable, Hashable {
    package var scalar: Unicode.Scalar
    /// The canonical combining class: 0 for a starter, otherwise the position of the mark.
    var combiningClass: UInt8

    init(_ scalar: Unicode.Scalar, combiningClass: UInt8) {
      self.scalar = scalar
      self.combiningClass = combiningClass
    }

    fileprivate init(_ scalar: Unicode.Scalar) {
      self.init(scalar, combiningClass: scalar.properties.canonicalCombiningClass.rawValue)
    }
  }

  /// The canonical decompositions, except those of Hangul syllables, which are computed.
  private let parts: [Unicode.Scalar: [Element]]
  /// The character that a pair composes to in Form C.
  private let composites: [Pair: Unicode.Scalar]
  /// All second characters of the pairs.
  private let seconds: Set<Unicode.Scalar>

  private struct Pair: Hashable {
    let first: Unicode.Scalar
    let second: Unicode.Scalar
  }

  /// The ranges that can have decompositions: all but ASCII, ideographs, Hangul, private use and planes without letters.
  private static let scanned: [Range<UInt32>] = [
    0x80..<0x3400, 0xA000..<0xAC00, 0xF900..<0x1_F000, 0x2F800..<0x2FA20,
  ]

  private init() {
    var parts: [Unicode.Scalar: [Element]] = [:]
    for scalar in Self.scanned.joined().lazy.compactMap(Unicode.Scalar.init) {
      parts[scalar] = Normalization.formD(of: scalar)?.map { Element($0) }
    }
    self.parts = parts

    // A pair consists of the composite of all parts but the last, and the last part. Shorter decompositions come first.
    var composites: [Pair: Unicode.Scalar] = [:]
    for (scalar, parts) in parts.sorted(by: { $0.value.count < $1.value.count })
    where !scalar.properties.isFullCompositionExclusion {
      guard parts.count > 1, let first = parts.first, let last = parts.last else { continue }
      let head = parts[1..<(parts.count - 1)].reduce(Optional(first.scalar)) { head, part in
        head.flatMap { composites[Pair(first: $0, second: part.scalar)] }
      }
      if let head { composites[Pair(first: head, second: last.scalar)] = scalar }
    }
    self.composites = composites
    seconds = Set(composites.keys.map(\.second))
  }

  /// The parts of a character in Form D; `nil` if the character does not decompose.
  package func parts(of scalar: Unicode.Scalar) -> [Element]? {
    Hangul.parts(of: scalar)?.map { Element($0, combiningClass: 0) } ?? parts[scalar]
  }

  /// The character that a pair composes to in Form C; `nil` if there is none.
  func composite(of first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
    Hangul.composite(of: first, second) ?? composites[Pair(first: first, second: second)]
  }

  /// True if some character composes with this one as the second of the pair.
  func joins(_ scalar: Unicode.Scalar) -> Bool { seconds.contains(scalar) || Hangul.joins(scalar) }
}

/// The syllables of modern Korean, computed as in the Unicode Standard (section 3.12).
private enum Hangul {
  private static let leading: UInt32 = 0x1100
  private static let vowel: UInt32 = 0x1161
  private static let trailing: UInt32 = 0x11A7  // one below the first trailing consonant
  private static let syllable: UInt32 = 0xAC00
  private static let leadingCount: UInt32 = 19
  private static let vowelCount: UInt32 = 21
  private static let trailingCount: UInt32 = 28
  private static let syllableCount = leadingCount * vowelCount * trailingCount

  static func parts(of scalar: Unicode.Scalar) -> [Unicode.Scalar]? {
    guard syllable..<(syllable + syllableCount) ~= scalar.value else { return nil }
    let index = scalar.value - syllable
    let values = [
      leading + index / (vowelCount * trailingCount), vowel + index / trailingCount % vowelCount,
      trailing + index % trailingCount,
    ]
    return values.filter { $0 != trailing }.compactMap(Unicode.Scalar.init)
  }

  static func composite(of first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
    if leading..<(leading + leadingCount) ~= first.value, isVowel(second) {
      let index = (first.value - leading) * vowelCount + second.value - vowel
      return Unicode.Scalar(syllable + index * trailingCount)
    }
    guard syllable..<(syllable + syllableCount) ~= first.value, isTrailing(second),
      (first.value - syllable).isMultiple(of: trailingCount)
    else { return nil }
    return Unicode.Scalar(first.value + second.value - trailing)
  }

  static func joins(_ scalar: Unicode.Scalar) -> Bool { isVowel(scalar) || isTrailing(scalar) }

  private static func isVowel(_ scalar: Unicode.Scalar) -> Bool {
    vowel..<(vowel + vowelCount) ~= scalar.value
  }

  private static func isTrailing(_ scalar: Unicode.Scalar) -> Bool {
    trailing + 1..<(trailing + trailingCount) ~= scalar.value
  }
}
