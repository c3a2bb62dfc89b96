import Foundation
import SignetTestKit
import Testing

import SignetPolicy

@Suite("Normalization Form C against a second implementation and the standard library")
struct NormalizationTests {
  @Test("random texts of a script", arguments: ScriptAlphabet.all)
  func random(_ alphabet: ScriptAlphabet) {
    var generator = SplitMix64(seed: 1)
    var changed = 0
    for _ in 0..<1000 {
      let text = alphabet.text(&generator)
      Self.check(text)
      if !Self.ours(text).elementsEqual(text.unicodeScalars) { changed += 1 }
    }
    #expect(changed > 0, "no text was changed, so the test shows little")
  }

  @Test(
    "each single code point is normalized as by the standard library",
    arguments: 0...0x10 as ClosedRange<UInt32>)
  func alone(plane: UInt32) {
    Self.checkPages((plane << 16)..<((plane + 1) << 16), NaiveFormC.library) { [$0] }
  }

  @Test(
    "every code point after a letter and before marks",
    arguments: [
      0x80..<0x3400, 0xA000..<0xB000, 0xD700..<0xE000, 0xF900..<0x1_2000, 0x1_6000..<0x1_7000,
      0x1_D000..<0x1_F200,
      0x2_F800..<0x2_FA00, 0xE_0000..<0xE_0200,
    ] as [Range<UInt32>])
  func amongOthers(range: Range<UInt32>) {
    Self.checkPages(range, NaiveFormC.prepared) { ["a", $0, "\u{301}"] }
    Self.checkPages(range, NaiveFormC.prepared) { [$0, "\u{323}", "\u{302}"] }
  }

  @Test(
    "where the standard library differs, the result follows the standard",
    arguments: [
      // The Unicode Standard section 3.12: 19 leading consonants, 21 vowels, and 27 trailing consonants from U+11A8.
      ([0x1113, 0x1161], [0x1113, 0x1161]), ([0x1110, 0x1176], [0x1110, 0x1176]),
      ([0x1100, 0x1161, 0x11A7], [0xAC00, 0x11A7]), ([0x1100, 0x1161, 0x11C3], [0xAC00, 0x11C3]),
      ([0xAC00, 0x11A8], [0xAC01]),
      // U+10041 is a sign of Linear B, not an A.
      ([0x1_0041, 0x301], [0x1_0041, 0x301]),
      // U+0CCB is U+0CCA with U+0CD5, and U+0CCA is U+0CC6 with U+0CC2 (UnicodeData.txt).
      ([0xCCA, 0xCD5], [0xCCB]), ([0xCC6, 0xCC2, 0xCD5], [0xCCB]),
      // U+0F71 has class 129, U+0F74 132 and U+0F82 230.
      ([0xF82, 0xF75], [0xF71, 0xF74, 0xF82]),
    ] as [([UInt32], [UInt32])])
  func standard(text: [UInt32], expected: [UInt32]) {
    let scalars = String(String.UnicodeScalarView(text.compactMap(Unicode.Scalar.init)))
    #expect(Self.ours(scalars).map(\.value) == expected)
    #expect(NaiveFormC.prepared(scalars).map(\.value) == expected)
  }

  @Test("every character with parts: its parts, with marks before and between them, and in another order")
  func everyComposite() {
    var count = 0
    for scalar in (UInt32(0x80)..<0x3_0000).compactMap(Unicode.Scalar.init) {
      guard let parts = CanonicalForms.all.parts(of: scalar)?.map(\.scalar) else { continue }
      count += 1
      if 0xAC00...0xD7A3 ~= scalar.value, !scalar.value.isMultiple(of: 61) { continue }
      for mark in ["\u{323}", "\u{302}", "\u{338}", "\u{345}", "\u{93C}", "\u{BBE}", "\u{11A8}"]
        as [Unicode.Scalar]
      {
        for place in 0...parts.count {
          var text = parts
          text.insert(mark, at: place)
          Self.check(String(String.UnicodeScalarView(text)))
        }
      }
      Self.check(String(String.UnicodeScalarView([parts[0]] + parts.dropFirst().reversed())))
    }
    #expect(count > 13_000)  // 11,172 syllables and some 2,000 others
  }

  @Test("decomposition at most doubles the bytes, so that the buffer never moves")
  func room() {
    for scalar in (UInt32(0x80)..<0x3_0000).compactMap(Unicode.Scalar.init) {
      let count = CanonicalForms.all.parts(of: scalar)?.count ?? 1
      if count > 2 * UTF8.width(scalar) { Issue.record("U+\(String(scalar.value, radix: 16))") }
    }
  }

  @Test("a wiped text leaves nothing in memory")
  func wiped() {
    let text = "pass\u{915}\u{94D}e\u{302}\u{323}"
    var table = CharacterTable.current
    var form = OpaqueString.mapped(text.utf8Span, &table)
    #expect(Array(form.scalars) == NaiveFormC.prepared(text))
    form.wipe()
    #expect(form.scalars.allSatisfy { $0 == "\0" })
  }

  private static func ours(_ text: String) -> [Unicode.Scalar] {
    var table = CharacterTable.current
    return Array(OpaqueString.mapped(text.utf8Span, &table).scalars)
  }

  /// Compares code points, since strings compare equal when they are only equivalent.
  private static func check(_ text: String) {
    let ours = ours(text)
    if ours != NaiveFormC.prepared(text) { Issue.record("\(points(text))") }
    if NaiveFormC.isMeasured(text), ours != NaiveFormC.library(text) {
      Issue.record("\(points(text)), standard library")
    }
  }

  /// Checks 256 code points in one text, which is much faster: nothing crosses the ends of lines.
  private static func checkPages(
    _ range: Range<UInt32>, _ expected: (String) -> [Unicode.Scalar],
    line: (Unicode.Scalar) -> [Unicode.Scalar]
  ) {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 256) {
      // One by one, since iterating joined sequences uses unspecialized code.
      var page = ""
      for scalar in (start..<(start + 256)).compactMap(Unicode.Scalar.init) {
        for part in line(scalar) { page.unicodeScalars.append(part) }
        page.unicodeScalars.append("\n")
      }
      if ours(page) != expected(page) { Issue.record("U+\(String(start >> 8, radix: 16))xx") }
    }
  }

  private static func points(_ text: String) -> String {
    text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
  }
}
