import SignetPolicy
import Testing

@Suite("OpaqueString (RFC 8265 section 4.2)")
struct OpaqueStringTests {
  /// The legal examples of RFC 8265 section 4.3, with their results.
  @Test(
    "RFC 8265 section 4.3, table 3",
    arguments: [
      ("correct horse battery staple", "correct horse battery staple"),
      ("Correct Horse Battery Staple", "Correct Horse Battery Staple"),
      ("\u{3C0}\u{DF}\u{E5}", "\u{3C0}\u{DF}\u{E5}"),
      ("Jack of \u{2666}s", "Jack of \u{2666}s"),
      ("foo\u{1680}bar", "foo bar"),
    ])
  func legalExamples(input: String, output: String) throws {
    #expect(try OpaqueString.prepare(input) == Array(output.utf8))
    #expect(try OpaqueString.prepare(utf8: Array(input.utf8)) == Array(output.utf8))
  }

  @Test("RFC 8265 section 4.3, table 4: what is refused")
  func illegalExamples() {
    #expect(throws: OpaqueStringFailure.empty) { try OpaqueString.prepare("") }
    #expect(throws: OpaqueStringFailure.empty) { try OpaqueString.prepare(utf8: []) }
    #expect(throws: OpaqueStringFailure.disallowedCharacter) {
      try OpaqueString.prepare("my cat is a \u{9}by")
    }
  }

  @Test(
    "every space becomes U+0020",
    arguments: [0xA0, 0x1680, 0x2000, 0x2001, 0x2003, 0x2007, 0x200A, 0x202F, 0x205F, 0x3000])
  func spaces(codePoint: UInt32) throws {
    let space = try #require(Unicode.Scalar(codePoint))
    #expect(try OpaqueString.prepare("a\(space)b") == [0x61, 0x20, 0x62])
  }

  @Test(
    "composed and decomposed spellings become one",
    arguments: [
      ("e\u{301}", "\u{E9}"), ("A\u{30A}", "\u{C5}"), ("\u{212B}", "\u{C5}"),
      ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("o\u{323}\u{302}", "\u{1ED9}"),
      ("o\u{302}\u{323}", "\u{1ED9}"),
    ])
  func normalization(input: String, output: String) throws {
    #expect(try OpaqueString.prepare(utf8: Array(input.utf8)) == Array(output.utf8))
    #expect(try OpaqueString.prepare(utf8: Array(output.utf8)) == Array(output.utf8))
  }

  @Test(
    "case, width and compatibility forms are preserved",
    arguments: ["Ab\u{FF21}", "\u{FB01}", "\u{2460}", "\u{130}"])
  func unchanged(text: String) throws {
    #expect(try OpaqueString.prepare(text) == Array(text.utf8))
  }

  @Test(
    "refused code points",
    arguments: [
      0x0, 0x9, 0xA, 0x1F, 0x7F, 0x80, 0x9F, 0xAD, 0x200B, 0x200E, 0x202E, 0x2028, 0x2029, 0x2060, 0xFE0F,
      0xFEFF,
      0xFDD0, 0xFFFE, 0xFFFF, 0xE000, 0xF0000, 0x378, 0x1100, 0x640, 0x303B, 0xE0001, 0x10FFFF,
    ])
  func refused(codePoint: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(codePoint))
    #expect(throws: OpaqueStringFailure.disallowedCharacter) { try OpaqueString.prepare("pass\(scalar)word") }
  }

  @Test(
    "contextual characters are allowed anywhere", arguments: [0x200C, 0x200D, 0xB7, 0x30FB, 0x661, 0x6F1])
  func contextual(codePoint: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(codePoint))
    #expect(try OpaqueString.prepare("a\(scalar)b") == Array("a\(scalar)b".utf8))
  }

  @Test(
    "bytes that are not UTF-8",
    arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x61, 0xE2, 0x82]]
      as [[UInt8]])
  func invalid(bytes: [UInt8]) {
    #expect(throws: OpaqueStringFailure.notUTF8) { try OpaqueString.prepare(utf8: bytes) }
  }

  @Test("length is bounded")
  func bounded() throws {
    let most = [UInt8](repeating: 0x61, count: OpaqueString.maximumByteCount)
    #expect(try OpaqueString.prepare(utf8: most) == most)
    #expect(throws: OpaqueStringFailure.tooLong) { try OpaqueString.prepare(utf8: most + [0x61]) }
    #expect(throws: OpaqueStringFailure.tooLong) {
      try OpaqueString.prepare(String(decoding: most + [0x61], as: UTF8.self))
    }
  }

  @Test("preparing twice changes nothing, for every allowed code point of two planes")
  func idempotent() throws {
    for codePoint in UInt32(0x20)..<0x20000 {
      guard let scalar = Unicode.Scalar(codePoint) else { continue }
      let once: [UInt8]
      do { once = try OpaqueString.prepare("a\(scalar)") } catch { continue }
      let twice = try OpaqueString.prepare(utf8: once)
      if once != twice { Issue.record("U+\(String(codePoint, radix: 16))") }
    }
  }
}

@Suite("Character classes")
struct CharacterClassTests {
  @Test("every code point of two planes is exactly one of letter, digit and neither; case is among letters")
  func partition() {
    for codePoint in UInt32(0)..<0x20000 {
      guard let scalar = Unicode.Scalar(codePoint) else { continue }
      let letter = CharacterClass.letter.contains(scalar)
      let digit = CharacterClass.digit.contains(scalar)
      let neither = CharacterClass.nonAlphanumeric.contains(scalar)
      let upper = CharacterClass.uppercase.contains(scalar)
      let lower = CharacterClass.lowercase.contains(scalar)
      let isSound =
        [letter, digit, neither].count { $0 } == 1 && (letter || !upper && !lower) && !(upper && lower)
      if !isSound { Issue.record("U+\(String(codePoint, radix: 16))") }
    }
  }

  @Test("names of rules")
  func names() {
    #expect(
      CharacterClass.allCases.map(\.minimumRule)
        == ["minUppercase", "minLowercase", "minLetters", "minDigits", "minNonAlphanumeric"])
    #expect(
      CharacterClass.allCases.map(\.maximumRule)
        == ["maxUppercase", "maxLowercase", "maxLetters", "maxDigits", "maxNonAlphanumeric"])
  }
}
