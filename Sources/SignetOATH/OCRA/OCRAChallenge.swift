public import SignetCrypto

/// A challenge that a suite allows.
public struct OCRAChallenge: Sendable, Hashable {
  /// The challenge as it was written.
  public let text: String

  /// Checks a challenge.
  ///
  /// - Parameters:
  ///   - text: What was typed, scanned or received.
  ///   - suite: The suite whose format and length count.
  ///   - lengths: What the key takes, in characters, where that is less than the suite allows.
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
    if let least = lengths?.lowerBound, length < least {
      throw .challengeTooShort(length: length, limit: least)
    }
    self.text = text
  }

  /// A challenge of full length that nobody can predict (RFC 6287 section 7.1).
  ///
  /// - Parameters:
  ///   - suite: The suite whose format and length count.
  ///   - random: Where the challenge comes from.
  /// - Returns: A challenge in which every character is as likely as any other; letters are upper case.
  public static func random(
    for suite: OCRASuite, from random: some RandomSource = SystemRandomSource()
  ) -> OCRAChallenge {
    let characters = Array(suite.challengeFormat.characters.filter { !(0x61...0x7A ~= $0) })
    // Above the limit the first characters would be likelier than the others.
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
  /// The 128 bytes that stand for a challenge, or for two that follow each other (RFC 6287 section 5.1).
  ///
  /// Digits are one decimal number, which is written in hexadecimal. The first hexadecimal digit is the upper half of the
  /// first byte, whether their number is even or not, and zeros follow the last.
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

  /// Two digits a byte.
  private static func packed(_ digits: [UInt8]) -> [UInt8] {
    stride(from: 0, to: digits.count, by: 2).map { index in
      digits[index] << 4 | (index + 1 < digits.count ? digits[index + 1] : 0)
    }
  }

  /// The digits of a decimal number in base 16, without leading zeros.
  private static func hexadecimalDigits(ofDecimal text: String) -> [UInt8] {
    var digits: [UInt8] = [0]  // the lowest first
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
