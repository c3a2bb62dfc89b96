import SignetCrypto
import Testing

@Suite struct Base64URLTests {
  @Test(
    "RFC 4648 section 10, without padding",
    arguments: [
      ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
      ("foobar", "Zm9vYmFy"),
    ])
  func standardVectors(_ plain: String, _ encoded: String) throws {
    #expect(Base64URL.encode(ascii(plain)) == encoded)
    #expect(try Base64URL.decode(encoded) == ascii(plain))
    #expect(try Base64URL.decodeSecret(ascii(encoded)).insecureCopy() == ascii(plain))
    let padded = encoded + String(repeating: "=", count: (4 - encoded.count % 4) % 4)
    #expect(Base64.encode(ascii(plain)) == padded)
    #expect(try Base64.decode(padded) == ascii(plain))
  }

  @Test func usesTheURLSafeAlphabet() throws {
    #expect(Base64URL.encode([0xFB, 0xFF, 0xBF]) == "-_-_")
    #expect(Base64.encode([0xFB, 0xFF, 0xBF]) == "+/+/")
    #expect(Base64URL.insecureEncode(SecretBytes(copying: [0xFB, 0xFF, 0xBF])) == "-_-_")
  }

  @Test("every byte at every length survives a round trip")
  func roundTrips() throws {
    for count in 0..<260 {
      let original = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) }
      #expect(try Base64URL.decode(Base64URL.encode(original)) == original)
      #expect(try Base64.decode(Base64.encode(original)) == original)
      #expect(try Hex.decode(Hex.encode(original)) == original)
    }
  }

  @Test(
    "refusals",
    arguments: [
      ("A", EncodingFailure.length(1)), ("AAAAA", .length(5)), ("Zg==", .character(offset: 2)),
      ("Zm9v\n", .length(5)), ("Zm 9", .character(offset: 2)), ("+/+/", .character(offset: 0)),
      ("Zh", .trailingBits), ("Zm9", .trailingBits), ("Zm9vYmF\u{e9}", .length(9)),
      ("ZZ\0Z", .character(offset: 2)),
    ])
  func refuses(_ text: String, _ failure: EncodingFailure) {
    #expect(throws: failure) { try Base64URL.decode(text) }
    #expect(throws: failure) { _ = try Base64URL.decodeSecret(ascii(text)).byteCount }
  }

  @Test(
    "refusals of the padded form",
    arguments: [
      ("Zg", EncodingFailure.length(2)), ("Zg=", .length(3)), ("Z===", .character(offset: 1)),
      ("====", .character(offset: 0)), ("Zg==Zg==", .character(offset: 2)), ("Zh==", .trailingBits),
      ("-_-_", .character(offset: 0)),
    ])
  func refusesPadded(_ text: String, _ failure: EncodingFailure) {
    #expect(throws: failure) { try Base64.decode(text) }
  }
}

@Suite struct HexTests {
  @Test func encodesInLowerCase() throws {
    #expect(Hex.encode([0x00, 0x9A, 0xFF]) == "009aff")
    #expect(try Hex.decode("009AfF") == [0x00, 0x9A, 0xFF])
    #expect(try Hex.decode("").isEmpty)
  }

  @Test(
    "refusals",
    arguments: [
      ("0", EncodingFailure.length(1)), ("0x", .character(offset: 1)), ("g0", .character(offset: 0)),
      ("00 0", .character(offset: 2)), ("00:0", .character(offset: 2)),
    ])
  func refuses(_ text: String, _ failure: EncodingFailure) {
    #expect(throws: failure) { try Hex.decode(text) }
  }
}
