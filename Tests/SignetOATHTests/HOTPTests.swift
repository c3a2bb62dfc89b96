import SignetCrypto
import SignetOATH
import Testing

@Suite("HOTP (RFC 4226)")
struct HOTPTests {
  static let secret = Array("12345678901234567890".utf8)

  @Test(
    "appendix D, table 2",
    arguments: zip(
      UInt64(0)...9,
      [
        "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
      ]))
  func appendixD(counter: UInt64, code: String) throws {
    let hotp = try HOTP(secret: SecretBytes(copying: Self.secret))
    #expect(hotp.code(at: counter) == code)
    #expect(hotp.value(at: counter) == UInt32(code))
  }

  @Test(
    "appendix D, table 2: the truncated values, which are the codes of ten digits",
    arguments: zip(
      UInt64(0)...9,
      [
        1_284_755_224, 1_094_287_082, 137_359_152, 1_726_969_429, 1_640_338_314, 868_254_676, 1_918_287_922,
        82_162_583, 673_399_871, 645_520_489,
      ] as [UInt32]))
  func truncated(counter: UInt64, value: UInt32) throws {
    let hotp = try HOTP(secret: SecretBytes(copying: Self.secret), digits: 10)
    #expect(hotp.value(at: counter) == value)
    let text = String(value)
    #expect(hotp.code(at: counter) == String(repeating: "0", count: 10 - text.count) + text)
  }

  @Test("each number of digits keeps the last ones", arguments: 6...10)
  func digits(digits: Int) throws {
    let hotp = try HOTP(secret: SecretBytes(copying: Self.secret), digits: digits)
    #expect(hotp.code(at: 0) == String("1284755224".suffix(digits)))
    #expect(hotp.code(at: 7) == String("0082162583".suffix(digits)))
  }

  @Test("other numbers of digits are refused", arguments: [Int.min, -1, 0, 5, 11, Int.max])
  func digitsOutOfRange(digits: Int) {
    #expect(throws: OATHFailure.digitsOutOfRange(digits)) {
      _ = try HOTP(secret: SecretBytes(copying: Self.secret), digits: digits)
    }
  }

  @Test("an empty secret is refused, one byte is not")
  func secretLength() throws {
    #expect(throws: OATHFailure.emptySecret) { _ = try HOTP(secret: SecretBytes(copying: [])) }
    #expect(try HOTP(secret: SecretBytes(copying: [0])).code(at: 0).count == 6)
  }

  @Test("the largest counter has a code")
  func largestCounter() throws {
    let hotp = try HOTP(secret: SecretBytes(copying: Self.secret))
    #expect(hotp.code(at: .max) != hotp.code(at: .max - 1))
  }

  @Test("one key in fifty tasks: every code is correct")
  func concurrent() async throws {
    let hotp = try HOTP(secret: SecretBytes(copying: Self.secret))
    let expected = (UInt64(0)..<100).map { hotp.code(at: $0) }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 {
        group.addTask { (UInt64(0)..<100).map { hotp.code(at: $0) } == expected }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test("matching finds the highest counter, at both ends of the range and nowhere else")
  func matching() throws {
    let hotp = try HOTP(secret: SecretBytes(copying: Self.secret))
    #expect(hotp.counter(matching: "755224", in: 0...9) == 0)
    #expect(hotp.counter(matching: "520489", in: 0...9) == 9)
    #expect(hotp.counter(matching: "520489", in: 0...8) == nil)
    #expect(hotp.counter(matching: "755224", in: 1...9) == nil)
    #expect(hotp.counter(matching: hotp.code(at: .max), in: UInt64.max - 2...UInt64.max) == .max)
  }

  @Test("a code that two counters share matches the higher one")
  func collision() throws {
    let hotp = try HOTP(secret: SecretBytes(copying: Self.secret))
    var seen: [UInt32: UInt64] = [:]
    var pair: (UInt64, UInt64)?
    for counter in UInt64(0)..<20_000 {
      if let earlier = seen.updateValue(counter, forKey: hotp.value(at: counter)) {
        pair = (earlier, counter)
        break
      }
    }
    let (lower, higher) = try #require(pair)
    #expect(hotp.counter(matching: hotp.code(at: lower), in: lower...higher) == higher)
    #expect(hotp.counter(matching: hotp.code(at: lower), in: lower...higher - 1) == lower)
  }

  @Test(
    "only the exact number of ASCII digits can match",
    arguments: [
      "", "75522", "7552240", " 755224", "755224 ", "+75522", "-75522", "75522x", "755 224", "７５５２２４",
      "\u{667}\u{665}\u{665}\u{662}\u{662}\u{664}", "755224\u{0}",
    ])
  func malformedCode(code: String) throws {
    let hotp = try HOTP(secret: SecretBytes(copying: Self.secret))
    #expect(hotp.counter(matching: code, in: 0...0) == nil)
  }

  @Test("ten digits above 32 bits match nothing")
  func beyondRange() throws {
    let hotp = try HOTP(secret: SecretBytes(copying: Self.secret), digits: 10)
    #expect(hotp.counter(matching: "1284755224", in: 0...0) == 0)
    // Larger by 2^32, which is equal in 32 bits.
    #expect(hotp.counter(matching: "5579722520", in: 0...0) == nil)
    #expect(hotp.counter(matching: "9999999999", in: 0...0) == nil)
  }

  @Test("names of algorithms")
  func names() {
    #expect(OATHAlgorithm(name: "sha1") == .sha1)
    #expect(OATHAlgorithm(name: "Sha256") == .sha256)
    #expect(OATHAlgorithm(name: "SHA512") == .sha512)
    for name in ["", "SHA384", "MD5", "SHA-1", "SHA2560", "ſha1"] {
      #expect(OATHAlgorithm(name: name) == nil)
    }
  }

  @Test(
    "appendix C: a check digit is appended",
    arguments: zip(UInt64(0)...9, [3, 2, 6, 0, 8, 0, 9, 9, 3, 6]))
  func checkDigit(counter: UInt64, digit: Int) throws {
    let plain = try HOTP(secret: SecretBytes(copying: Self.secret)).code(at: counter)
    let checked = try HOTP(secret: SecretBytes(copying: Self.secret), addsChecksum: true)
    #expect(checked.code(at: counter) == plain + String(digit))
    #expect(checked.counter(matching: plain + String(digit), in: 0...9) == counter)
    #expect(checked.counter(matching: plain + String((digit + 1) % 10), in: 0...9) == nil)
    #expect(checked.counter(matching: plain, in: 0...9) == nil)
  }

  @Test("a fixed truncation offset is used inside the HMAC; outside it the dynamic one is used")
  func truncationOffset() throws {
    let dynamic = try HOTP(secret: SecretBytes(copying: Self.secret))
    let key = HMACKey(SecretBytes(copying: Self.secret), .sha1)
    let code = key.authenticationCode(for: [UInt8](repeating: 0, count: 8))
    for offset in 0...15 {
      let fixed = try HOTP(secret: SecretBytes(copying: Self.secret), digits: 10, truncationOffset: offset)
      let value = code[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
      #expect(fixed.value(at: 0) == value)
    }
    for offset in [-1, 16, 17, Int.max, Int.min] {
      let outside = try HOTP(secret: SecretBytes(copying: Self.secret), truncationOffset: offset)
      #expect(outside.code(at: 0) == dynamic.code(at: 0))
      #expect(outside.truncationOffset == nil)
    }
  }
}
