import SignetTestKit
import Testing

/// Characters of one script, with its marks and signs that all scripts share.
struct ScriptAlphabet: Sendable, CustomTestStringConvertible {
  let name: String
  private let scalars: [Unicode.Scalar]

  private init(_ name: String, _ values: ClosedRange<UInt32>..., and others: [UInt32] = []) {
    self.name = name
    scalars = (values.flatMap { Array($0) } + others).compactMap(Unicode.Scalar.init)
  }

  var testDescription: String { name }

  /// Characters in any order, with marks in unusual places and ASCII signs in between.
  func text(_ generator: inout SplitMix64, upTo count: Int = 16) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<generator.pick(0...count) {
      text.append(generator.chance(15) ? generator.element(Self.shared) : generator.element(scalars))
    }
    return String(text)
  }

  private static let shared: [Unicode.Scalar] = [
    "a", "B", "c", "7", "8", "9", "!", " ", "\u{A0}", "\u{3000}", "\u{E9}", "\u{C5}", "\u{301}", "\u{323}",
    "\u{338}",
    "\u{200C}", "\u{200D}", "\n", "\u{1D165}", "\u{E0100}", "\u{F0000}",
  ]

  static let all = [
    // A few of each, so that joining characters meet.
    ScriptAlphabet(
      "Vietnamese", 0x41...0x7A, 0x300...0x30C, and: [0x31B, 0x323, 0x1A0, 0x1B0, 0x1EC7, 0xEA, 0xC2]),
    ScriptAlphabet(
      "Latin marks", 0x300...0x36F, and: [0x41, 0x61, 0x65, 0x75, 0xFC, 0xE7, 0x1D5, 0x1EC7, 0x212B]),
    ScriptAlphabet(
      "Greek", 0x370...0x3FF, 0x1F00...0x1FFF, and: [0x300, 0x301, 0x308, 0x313, 0x314, 0x342, 0x345]),
    ScriptAlphabet("Cyrillic", 0x400...0x45F, 0x483...0x489, and: [0x306, 0x308, 0x300]),
    ScriptAlphabet("Hebrew with points", 0x591...0x5F4, 0xFB1D...0xFB4F),
    ScriptAlphabet("Hebrew points", 0x5B0...0x5C7, and: [0x5E9, 0x5D0, 0xFB2C]),
    ScriptAlphabet("Arabic with harakat", 0x600...0x6FF, and: [0x653, 0x654, 0x655, 0x627, 0x648, 0x64A]),
    ScriptAlphabet("Arabic marks", 0x64B...0x65F, and: [0x627, 0x648, 0x64A, 0x622, 0x6D5, 0x670]),
    ScriptAlphabet("Devanagari", 0x900...0x97F),
    ScriptAlphabet("Devanagari marks", 0x93A...0x957, and: [0x915, 0x928, 0x929, 0x930, 0x933, 0x958]),
    ScriptAlphabet("Bengali", 0x980...0x9FF),
    ScriptAlphabet("Tamil", 0xB80...0xBFF),
    ScriptAlphabet("Tamil marks", 0xBBE...0xBD7, and: [0xB92, 0xBC6, 0xBC7]),
    ScriptAlphabet("Kannada and Malayalam", 0xCBC...0xCDD, 0xD3B...0xD57),
    ScriptAlphabet("Sinhala", 0xDC0...0xDDF),
    ScriptAlphabet("Thai", 0xE01...0xE5B),
    ScriptAlphabet("Tibetan", 0xF40...0xFBC),
    ScriptAlphabet("Myanmar and Balinese", 0x1025...0x103E, 0x1B05...0x1B44),
    ScriptAlphabet("Japanese", 0x3041...0x30FF, and: [0x3099, 0x309A, 0x4E00, 0xF900, 0x2F800]),
    ScriptAlphabet(
      "Hangul jamo", 0x1100...0x1113, 0x1160...0x1176, 0x11A7...0x11C3, and: [0xAC00, 0xAC01, 0xD7A3]),
    ScriptAlphabet("Hangul", 0xAC00...0xD7A3, and: [0x1100, 0x1161, 0x11A8]),
    ScriptAlphabet("old Hangul", 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7FB),
    ScriptAlphabet("Chinese", 0x4E00...0x9FFF, 0x2_0000...0x2_00FF),
    ScriptAlphabet("Chakma, Grantha, Tirhuta", 0x11100...0x11134, 0x11330...0x11357, 0x114B0...0x114BF),
    ScriptAlphabet("Tulu and Kirat Rai", 0x11380...0x113D5, 0x16D40...0x16D79),
    ScriptAlphabet("musical signs", 0x1D157...0x1D1C0),
    ScriptAlphabet(
      "emoji sequences", 0x1F3FB...0x1F3FF, 0x1F466...0x1F469,
      and: [0x200D, 0xFE0F, 0x2764, 0x1F48B, 0x20E3, 0x23, 0x1F3F4, 0xE0067, 0xE007F]),
    ScriptAlphabet("regional indicators", 0x1F1E6...0x1F1FF),
  ]
}
