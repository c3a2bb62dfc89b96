import SignetCrypto

extension OCRAChallenge {
  /// The challenge that stands for the fields of a signature, such as an account and an amount.
  ///
  /// The fields follow one another as they were typed, with nothing between them. Where the suite has no room for that, or not
  /// the characters, the digest of it in UTF-8 does, made with the suite's hash function: in hexadecimal, upper case, and in a
  /// numeric suite as a decimal number, in both cases the last digits that fit. Where one field ends and the next begins is not
  /// part of it: both sides have to give each field a form that cannot run into the next.
  ///
  /// - Parameters:
  ///   - fields: What is signed, in an order that both sides know.
  ///   - suite: The suite whose format and length count.
  /// - Throws: ``OCRAFailure/challengeFormat(_:)`` where nothing was typed.
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

  /// Bytes as a decimal number, with as many digits as the largest of their length has.
  private static func decimal(_ bytes: [UInt8]) -> String {
    var digits: [UInt8] = []  // the lowest first
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
