import SignetPolicy
import Testing

struct OpaqueStringPiecesTests {
  /// What normalization moves, joins and takes apart, beside what it leaves alone.
  private static let scalars: [Unicode.Scalar] =
    [0x20, 0x41, 0x65, 0x7A, 0xA0, 0xC5, 0xE9, 0x212B, 0x2126, 0x3000, 0x1F600, 0x4E00, 0xF900, 0x200D]
    .compactMap(
      Unicode.Scalar.init)
    + [
      0x300, 0x301, 0x308, 0x30A, 0x323, 0x327, 0x338, 0x345, 0x5B0, 0x64B, 0x93C, 0x9BE, 0x9C7, 0xB3E, 0xB47,
    ]
    .compactMap(Unicode.Scalar.init)
    + [
      0x1100, 0x1161, 0x11A8, 0xAC00, 0xAC01, 0x1025, 0x102E, 0x3099, 0x304B, 0x1B05, 0x1B35, 0x11347,
      0x1133E,
    ]
    .compactMap(Unicode.Scalar.init)
    + [
      0x105D2, 0x307, 0x110B9, 0x110BA, 0x16D63, 0x16D67, 0x1D157, 0x1D165, 0xFB1D, 0xFB4E, 0x344, 0x374,
      0x387,
    ]
    .compactMap(Unicode.Scalar.init)

  private static func text(_ random: inout SystemRandomNumberGenerator) -> String {
    var view = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      if let scalar = scalars.randomElement(using: &random) { view.append(scalar) }
    }
    return String(view)
  }

  @Test("a text prepared in pieces is the text prepared as a whole")
  func random() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let text = Self.text(&random)
      let points = text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
      let inPieces = Self.prepared(Array(text.utf8))
      let asAWhole = Self.prepared(text)
      #expect(inPieces == asAWhole, "\(points)")
    }
  }

  @Test("every code point is prepared as it is in a whole text, after a letter and before a mark")
  func everyScalar() {
    for value in UInt32(0x80)...0x1_FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = "a\(Character(scalar))\u{301}"
      let inPieces = Self.prepared(Array(text.utf8))
      let asAWhole = Self.prepared(text)
      if inPieces != asAWhole { Issue.record("U+\(String(value, radix: 16))") }
    }
  }

  private static func prepared(_ text: [UInt8]) -> [UInt8]? {
    do { return try OpaqueString.prepare(utf8: text) } catch { return nil }
  }

  private static func prepared(_ text: String) -> [UInt8]? {
    do { return try OpaqueString.prepare(text) } catch { return nil }
  }
}
