import SignetCrypto
import Testing

@Suite("Crockford's Base32")
struct CrockfordBase32Tests {
  @Test(
    "numbers as the specification writes them",
    arguments: [
      ([0x04, 0xD2], "016J", "D"),  // 1234 is 16JD with its check symbol
      ([0x00], "00", "0"), ([0x1F], "0Z", "Z"), ([0x20], "10", "*"), ([0x21], "11", "~"), ([0x22], "12", "$"),
      ([0x23], "13", "="), ([0x24], "14", "U"), ([0x25], "15", "0"), ([0xFF], "7Z", "~"),
      ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "ZZZZZZZZ", "F"), ([], "", "0"),
    ] as [([UInt8], String, String)])
  func vectors(bytes: [UInt8], text: String, check: String) throws {
    let number = bytes.reduce(0) { ($0 * 256 + Int($1)) % 37 }
    #expect(Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U")[number] == Character(check))
    #expect(CrockfordBase32.encode(bytes, withCheckSymbol: false) == text)
    #expect(CrockfordBase32.encode(bytes, withCheckSymbol: true) == text + check)
    #expect(
      try CrockfordBase32.decode(text, byteCount: bytes.count, withCheckSymbol: false) == bytes)
    #expect(
      try CrockfordBase32.decode(text + check, byteCount: bytes.count, withCheckSymbol: true) == bytes)
  }

  @Test("look-alikes, case, hyphens and spaces do not matter")
  func forgiving() throws {
    let bytes: [UInt8] = [0x08, 0x42, 0x10, 0x84, 0x20]  // 11111110 in symbols
    #expect(CrockfordBase32.encode(bytes, withCheckSymbol: false) == "11111110")
    for text in ["iIlL1iLo", "1111-111O", "1-1-1-1-1-1-1-0", " 1111 1110 "] {
      #expect(try CrockfordBase32.decode(text, byteCount: 5, withCheckSymbol: false) == bytes)
    }
    let code = CrockfordBase32.encode([0x24], withCheckSymbol: true)
    #expect(code == "14U")
    #expect(try CrockfordBase32.decode("l4u", byteCount: 1, withCheckSymbol: true) == [0x24])
  }

  @Test("groups")
  func groups() {
    let bytes: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    #expect(CrockfordBase32.encode(bytes, withCheckSymbol: true, groupSize: 4) == "ZZZZ-ZZZZ-F")
    #expect(CrockfordBase32.encode(bytes, withCheckSymbol: false, groupSize: 4) == "ZZZZ-ZZZZ")
  }

  @Test("random bytes survive a round trip")
  func roundTrip() throws {
    for count in 0..<40 {
      let bytes = SecureRandom.bytes(count)
      for isChecked in [true, false] {
        let text = CrockfordBase32.encode(bytes, withCheckSymbol: isChecked, groupSize: 5)
        let decoded = try CrockfordBase32.decode(
          text.lowercased(), byteCount: count, withCheckSymbol: isChecked)
        #expect(decoded == bytes)
      }
    }
  }

  @Test("the check symbol detects every wrong symbol and every swap of neighbours")
  func typingErrors() throws {
    let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U")
    let bytes: [UInt8] = [0xC3, 0x17, 0x5E, 0x09, 0xA8, 0x44, 0xF1, 0x6B, 0x20, 0xD7]
    let code = Array(CrockfordBase32.encode(bytes, withCheckSymbol: true))
    for position in code.indices {
      for symbol in alphabet where symbol != code[position] {
        var wrong = code
        wrong[position] = symbol
        #expect(throws: CrockfordBase32Failure.self) {
          try CrockfordBase32.decode(String(wrong), byteCount: 10, withCheckSymbol: true)
        }
      }
    }
    for position in code.indices.dropLast() where code[position] != code[position + 1] {
      var wrong = code
      wrong.swapAt(position, position + 1)
      #expect(throws: CrockfordBase32Failure.self) {
        try CrockfordBase32.decode(String(wrong), byteCount: 10, withCheckSymbol: true)
      }
    }
  }

  @Test(
    "a typing error and a wrong length have different errors",
    arguments: [
      ("ZZZZZZZZC", .checkSymbol), ("ZZZZZZZZ", .length(expected: 9, actual: 8)),
      ("ZZZZZZZZZZ", .length(expected: 9, actual: 10)), ("", .length(expected: 9, actual: 0)),
      ("ZZZ!ZZZZF", .symbol(position: 3)), ("ZZZ-*ZZZZF", .symbol(position: 4)),
      ("ZUZZZZZZF", .symbol(position: 1)),
      ("ZZZZZZZ*", .length(expected: 9, actual: 8)), ("ZZZZZZZZé", .symbol(position: 8)),
    ] as [(String, CrockfordBase32Failure)])
  func failures(text: String, failure: CrockfordBase32Failure) {
    #expect(throws: failure) { try CrockfordBase32.decode(text, byteCount: 5, withCheckSymbol: true) }
  }

  @Test("numbers beyond the bytes and impossible texts are refused")
  func outOfRange() {
    #expect(throws: CrockfordBase32Failure.tooLarge) {
      try CrockfordBase32.decode("80", byteCount: 1, withCheckSymbol: false)
    }
    let huge = String(repeating: "-", count: 1_000_000)
    #expect(throws: CrockfordBase32Failure.length(expected: 2, actual: 1_000_000)) {
      try CrockfordBase32.decode(huge, byteCount: 1, withCheckSymbol: false)
    }
  }
}
