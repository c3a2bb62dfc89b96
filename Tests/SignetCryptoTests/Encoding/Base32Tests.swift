import SignetCrypto
import Testing

@Suite("Base32 (RFC 4648 section 6)")
struct Base32Tests {
  @Test(
    "RFC 4648 section 10",
    arguments: [
      ("f", "MY======"), ("fo", "MZXQ===="), ("foo", "MZXW6==="), ("foob", "MZXW6YQ="), ("fooba", "MZXW6YTB"),
      ("foobar", "MZXW6YTBOI======"),
    ])
  func vectors(plain: String, encoded: String) throws {
    let bytes = Array(plain.utf8)
    let unpadded = encoded.filter { $0 != "=" }
    #expect(Base32.encode(bytes) == unpadded)
    #expect(try Base32.decode(encoded, mode: .strict) == bytes)
    for mode in Base32.Mode.allCases where mode != .strict {
      #expect(try Base32.decode(encoded, mode: mode) == bytes)
      #expect(try Base32.decode(unpadded, mode: mode) == bytes)
      #expect(try Base32.decode(unpadded.lowercased(), mode: mode) == bytes)
    }
    #expect(try Base32.decode(encoded.lowercased(), mode: .strict) == bytes)
  }

  @Test(
    "lenient",
    arguments: [
      ("", []), (" \t\r\n-", []), ("==", []), ("  MZXW6YQ  ", Array("foob".utf8)),
      ("-MZXW6YQ-", Array("foob".utf8)),
      ("MZXW6YQ===", Array("foob".utf8)), ("=MZXW6YQ", Array("foob".utf8)),
      ("MZXW6YQ= =\n", Array("foob".utf8)),
      ("A", []), ("MZ", [0x66]), ("MZX", [0x66]),
    ])
  func lenient(text: String, bytes: [UInt8]) throws {
    #expect(try Base32.decode(text) == bytes)
  }

  @Test(
    "lenient refusals",
    arguments: [
      ("MZ XW", .symbol(position: 2)), ("MZ-XW", .symbol(position: 2)),
      ("MZ=XW", .misplacedPadding(position: 2)),
      ("0MZX", .symbol(position: 0)), ("MZX1", .symbol(position: 3)), ("MZ8X", .symbol(position: 2)),
      ("MZ9X", .symbol(position: 2)), ("MZ\u{0}X", .symbol(position: 2)), ("MZéX", .symbol(position: 2)),
      ("ＭＺ", .symbol(position: 0)),
    ] as [(String, Base32Failure)])
  func lenientRefusals(text: String, failure: Base32Failure) {
    #expect(throws: failure) { try Base32.decode(text) }
    if case .misplacedPadding = failure { return }
    if text.utf8.contains(where: { $0 == 0x20 || $0 == 0x2D || 0x30...0x38 ~= $0 }) { return }
    #expect(throws: failure) { try Base32.decode(text, mode: .transcribed) }
  }

  @Test(
    "strict",
    arguments: [
      (" MZXW6YQ=\n", nil), ("mzxw6ytb", nil), ("", .empty), (" ", .empty),
      ("MZXW6YQ", .length(symbolCount: 7)),
      ("MZXW6Y==", .length(symbolCount: 8)), ("MZXW6YT=", nil),
      ("MZXW6===", nil),
      ("MZX=====", .length(symbolCount: 8)),
      ("M=======", .length(symbolCount: 8)), ("========", .length(symbolCount: 8)),
      ("MZXW6YQ==", .length(symbolCount: 9)), ("MZXW6=Q=", .misplacedPadding(position: 5)),
      ("MZXW6YTB========", .length(symbolCount: 16)), ("=MZXW6YQ", .misplacedPadding(position: 0)),
      ("MZXW6YQ1", .symbol(position: 7)),
    ] as [(String, Base32Failure?)])
  func strict(text: String, failure: Base32Failure?) throws {
    if let failure {
      #expect(throws: failure) { try Base32.decode(text, mode: .strict) }
    } else {
      #expect(try !Base32.decode(text, mode: .strict).isEmpty)
    }
  }

  @Test(
    "transcribed",
    arguments: [
      ("mzxw 6ytb-oi", Array("foobar".utf8)), ("MZXW\r\n6YTB\tOI======", Array("foobar".utf8)),
      ("MZ=XW6YTBOI", Array("foobar".utf8)), ("0", []), ("", []), ("018", [0x72]),
    ])
  func transcribed(text: String, bytes: [UInt8]) throws {
    #expect(try Base32.decode(text, mode: .transcribed) == bytes)
  }

  @Test("transcribed digits that Base32 lacks are read as the letters they resemble")
  func lookalikes() throws {
    #expect(
      try Base32.decode("0180180180180180", mode: .transcribed) == Base32.decode("OLBOLBOLBOLBOLBO"))
    #expect(throws: Base32Failure.symbol(position: 1)) { try Base32.decode("A9", mode: .transcribed) }
  }

  @Test("surplus bits are dropped", arguments: ["MZ", "M7", "M5"])
  func leftoverBits(text: String) throws {
    #expect(try Base32.decode(text) == Base32.decode(text + "======", mode: .strict))
    #expect(try Base32.decode(text).count == 1)
  }

  @Test("length is bounded", arguments: Base32.Mode.allCases)
  func bounded(mode: Base32.Mode) throws {
    let most = String(repeating: "A", count: Base32.byteCountLimit - 8)
    #expect(try Base32.decode(most, mode: mode).count == 6245)
    let tooLong = String(repeating: "A", count: Base32.byteCountLimit)
    #expect(throws: Base32Failure.tooLong(byteCount: 10_000)) { try Base32.decode(tooLong, mode: mode) }
  }

  @Test("random bytes and secrets survive a round trip in every mode")
  func roundTrip() throws {
    for count in 0..<64 {
      let bytes = SecureRandom.bytes(count)
      let text = Base32.encode(bytes)
      #expect(try Base32.decode(text) == bytes)
      #expect(try Base32.decode(text, mode: .transcribed) == bytes)
      let padded = text + String(repeating: "=", count: (8 - text.utf8.count % 8) % 8)
      if count > 0 { #expect(try Base32.decode(padded, mode: .strict) == bytes) }
      let isSame = try Base32.decodeSecret(text).isEqual(to: SecretBytes(copying: bytes))
      #expect(isSame)
    }
  }
}
