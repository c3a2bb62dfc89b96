extension JSONParser {
  /// Parses a number that starts at `offset` (RFC 8259 section 6).
  mutating func number(_ input: Span<UInt8>) throws(JSONFailure) -> JSONValue {
    let start = offset
    let isNegative = input[offset] == UInt8(ascii: "-")
    if isNegative { offset += 1 }
    let firstDigit = offset
    // Accumulated as a negative number, because the smallest integer has no positive counterpart.
    var negated: Int64 = 0
    var fits = true
    while offset < input.count, let digit = Self.digit(input[offset]) {
      let (tens, overflowed) = negated.multipliedReportingOverflow(by: 10)
      let (sum, underflowed) = tens.subtractingReportingOverflow(digit)
      negated = sum
      fits = fits && !overflowed && !underflowed
      offset += 1
    }
    guard offset > firstDigit else { throw .invalidNumber(offset: start) }
    if input[firstDigit] == UInt8(ascii: "0"), offset - firstDigit > 1 {
      throw .invalidNumber(offset: start)
    }
    let isWhole = try !skipFractionAndExponent(input, start)
    if isWhole, fits {
      if isNegative { return .integer(negated) }
      if negated != .min { return .integer(-negated) }
    }
    return .number(try double(input.extracting(start..<offset), start))
  }

  /// Skips fraction and exponent; returns true if there was either.
  private mutating func skipFractionAndExponent(
    _ input: Span<UInt8>, _ start: Int
  ) throws(JSONFailure) -> Bool {
    let end = offset
    if offset < input.count, input[offset] == UInt8(ascii: ".") {
      offset += 1
      try skipDigits(input, start)
    }
    if offset < input.count, input[offset] | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if offset < input.count, input[offset] == UInt8(ascii: "+") || input[offset] == UInt8(ascii: "-") {
        offset += 1
      }
      try skipDigits(input, start)
    }
    return offset > end
  }

  private mutating func skipDigits(_ input: Span<UInt8>, _ start: Int) throws(JSONFailure) {
    let first = offset
    while offset < input.count, Self.digit(input[offset]) != nil { offset += 1 }
    guard offset > first else { throw .invalidNumber(offset: start) }
  }

  private func double(_ digits: Span<UInt8>, _ start: Int) throws(JSONFailure) -> Double {
    var text = ""
    for index in digits.indices { text.unicodeScalars.append(Unicode.Scalar(digits[index])) }
    guard let value = Double(text), value.isFinite else { throw .numberOutOfRange(offset: start) }
    return value
  }

  @inline(__always)
  private static func digit(_ byte: UInt8) -> Int64? {
    let value = byte &- UInt8(ascii: "0")
    return value < 10 ? Int64(value) : nil
  }
}
