public import SignetCrypto

/// A challenge that is valid for a suite.
public struct OCRAChallenge: Sendable, Hashable {
  /// The challenge as written.
  public let text: String

  /// Validates a challenge.
  ///
  /// - Parameters:
  ///   - text: The typed, scanned or received challenge.
  ///   - suite: The suite that determines format and length.
  ///   - lengths: The lengths that the key accepts, in characters, if they are narrower than the suite's.
  /// - Throws: ``OCRAFailure``: `challengeTooLong`, `challengeTooShort`, `challengeFormat`.
  public init(
    _ text: String, for suite: OCRASuite, lengths: ClosedRange<Int>? = nil
  ) throws(OCRAFailure) {
    let length = text.utf8.count
    let limit = min(lengths?.upperBound ?? .max, suite.maximumChallengeLength)
    guard length <= limit else { throw .challengeTooLong(length: text.count, limit: limit) }
    let allowed = suite.challengeFormat.characters
    guard length > 0, text.utf8.allSatisfy({ allowed.contains($0) }) else {
      throw .challengeFormat(suite.challengeFormat)
    }
    if let minimum = lengths?.lowerBound, length < minimum {
      throw .challengeTooShort(length: length, limit: minimum)
    }
    self.text = text
  }

  /// Creates an unpredictable challenge of full length (RFC 6287 section 7.1).
  ///
  /// - Parameters:
  ///   - suite: The suite that determines format and length.
  ///   - random: The source of randomness.
  /// - Returns: A uniformly random challenge; letters are upper case.
  public static func random(
    for suite: OCRASuite, from random: some RandomSource = SystemRandomSource()
  ) -> OCRAChallenge {
    let characters = Array(suite.challengeFormat.characters.filter { !(0x61...0x7A ~= $0) })
    // Larger bytes are rejected: they would make the first characters more likely than the others.
    let limit = UInt8(256 / characters.count * characters.count - 1)
    var text = ""
    while text.utf8.count < suite.maximumChallengeLength {
      for byte in random.bytes(suite.maximumChallengeLength)
      where byte <= limit && text.utf8.count < suite.maximumChallengeLength {
        text.unicodeScalars.append(Unicode.Scalar(characters[Int(byte) % characters.count]))
      }
    }
    return OCRAChallenge(unchecked: text)
  }

  private init(unchecked text: String) { self.text = text }
}

extension OCRAChallengeFormat {
  /// Returns the 128 bytes of one challenge, or of two in a row (RFC 6287 section 5.1).
  ///
  /// Digits are read as one decimal number and written in hexadecimal. The first hexadecimal digit is the upper half of the
  /// first byte, for even and odd numbers of digits, and zeros follow the last digit.
  func bytes(of text: String) -> [UInt8] {
    var bytes: [UInt8]
    switch self {
    case .alphanumeric: bytes = Array(text.utf8)
    case .hexadecimal: bytes = Self.packed(text.utf8.map { UInt8($0 > 0x39 ? ($0 & 0x1F) + 9 : $0 - 0x30) })
    case .numeric: bytes = Self.packed(Self.hexadecimalDigits(ofDecimal: text))
    }
    bytes += [UInt8](repeating: 0, count: 128 - bytes.count)
    return bytes
  }

  /// Packs two digits into each byte.
  private static func packed(_ digits: [UInt8]) -> [UInt8] {
    stride(from: 0, to: digits.count, by: 2).map { index in
      digits[index] << 4 | (index + 1 < digits.count ? digits[index + 1] : 0)
    }
  }

  /// Converts a decimal number to base 16 without leading zeros.
  private static func hexadecimalDigits(ofDecimal text: String) -> [UInt8] {
    var digits: [UInt8] = [0]  // least significant first
    for character in text.utf8 {
      var carry = character - 0x30
      for index in digits.indices {
        let value = digits[index] * 10 + carry  // at most 15 × 10 + 9
        (digits[index], carry) = (value & 0x0F, value >> 4)
      }
      if carry > 0 { digits.append(carry) }
    }
    return digits.reversed()
  }
}
