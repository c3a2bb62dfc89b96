import SignetCrypto

extension OCRAChallenge {
  /// Derives the challenge for the fields of a signature, such as an account and an amount.
  ///
  /// The fields are concatenated as typed, without separators. If the result is too long for the suite or has other
  /// characters, its UTF-8 digest by the suite's hash function replaces it: in upper-case hexadecimal, or in a numeric suite
  /// as a decimal number. Of both, the last digits that fit are used. The boundaries between fields are not signed: both
  /// sides must give each field a form that cannot run into the next.
  ///
  /// - Parameters:
  ///   - fields: The signed fields, in an order that both sides know.
  ///   - suite: The suite that determines format and length.
  /// - Throws: ``OCRAFailure/challengeFormat(_:)`` if all fields are empty.
  public init(signing fields: [String], for suite: OCRASuite) throws(OCRAFailure) {
    let text = fields.joined()
    guard !text.isEmpty else { throw .challengeFormat(suite.challengeFormat) }
    let allowed = suite.challengeFormat.characters
    if text.utf8.count <= suite.maximumChallengeLength, text.utf8.allSatisfy({ allowed.contains($0) }) {
      try self.init(text, for: suite)
      return
    }
    let digest = suite.algorithm.hash.digest(of: Array(text.utf8))
    let digits =
      suite.challengeFormat == .numeric ? Self.decimal(digest) : Hex.encode(digest).uppercased()
    try self.init(String(digits.suffix(suite.maximumChallengeLength)), for: suite)
  }

  /// Converts bytes to a decimal number with a fixed number of digits, which depends on the number of bytes only.
  private static func decimal(_ bytes: [UInt8]) -> String {
    var digits: [UInt8] = []  // least significant first
    for byte in bytes {
      var carry = UInt16(byte)
      for index in digits.indices {
        let value = UInt16(digits[index]) * 256 + carry  // at most 9 × 256 + 255, carry included
        (digits[index], carry) = (UInt8(value % 10), value / 10)
      }
      while carry > 0 {
        digits.append(UInt8(carry % 10))
        carry /= 10
      }
    }
    let count = bytes.count * 5 / 2 + 1
    while digits.count < count { digits.append(0) }
    return String(decoding: digits.reversed().map { $0 + 0x30 }, as: UTF8.self)
  }
}
