public import SignetCrypto

/// One-time codes from a secret and a counter (RFC 4226).
///
/// The secret is hashed into its HMAC state once, so that each code costs one message. Values of this type share
/// that state when copied and may be used from any thread.
public struct HOTP: Sendable {
  /// The numbers of digits that are allowed: 6 is the least (RFC 4226 section 5.3), and the truncated value of
  /// 31 bits fills no more than 10.
  public static let allowedDigits = 6...10
  /// The numbers of digits that a truncated value is cut to anywhere in OATH (RFC 6287 section 5.2).
  static let truncatedDigits = 4...10

  /// The hash function.
  public let algorithm: OATHAlgorithm
  /// The length of a code, in ``allowedDigits``.
  public let digits: Int
  /// Whether a check digit follows each code (RFC 4226 appendix C); ``digits`` does not count it.
  public let addsChecksum: Bool
  /// Where the value is taken from the HMAC; nil where its last byte says so (RFC 4226 section 5.3).
  public let truncationOffset: Int?
  private let key: HMACKey
  private let modulus: UInt64

  /// Prepares a secret; it is not needed afterwards.
  ///
  /// - Parameters:
  ///   - secret: At least 1 byte. RFC 4226 section 4 asks for 16 or more and recommends 20, but what other
  ///     parties hand out is often shorter and has to work.
  ///   - algorithm: The hash function.
  ///   - digits: The length of a code, in ``allowedDigits``.
  ///   - addsChecksum: Whether a check digit follows.
  ///   - truncationOffset: Where the value is taken from; what lies outside the HMAC stands for nil, as in the
  ///     reference implementation of RFC 4226 appendix C.
  /// - Throws: ``OATHFailure/emptySecret`` or ``OATHFailure/digitsOutOfRange(_:)``.
  public init(
    secret: borrowing SecretBytes, algorithm: OATHAlgorithm = .sha1, digits: Int = 6,
    addsChecksum: Bool = false, truncationOffset: Int? = nil
  ) throws(OATHFailure) {
    guard Self.allowedDigits.contains(digits) else { throw .digitsOutOfRange(digits) }
    guard secret.byteCount > 0 else { throw .emptySecret }
    self.algorithm = algorithm
    self.digits = digits
    self.addsChecksum = addsChecksum
    self.truncationOffset = truncationOffset.flatMap {
      (0...(algorithm.hash.byteCount - 5)).contains($0) ? $0 : nil
    }
    key = HMACKey(secret, algorithm.hash)
    modulus = (0..<digits).reduce(1) { power, _ in power * 10 }
  }

  /// The code for `counter` as a number, 0 to 10^digits - 1: RFC 4226 section 5.3, steps 1 to 3.
  public func value(at counter: UInt64) -> UInt32 {
    var message = InlineArray<8, UInt8>(repeating: 0)
    for index in 0..<8 { message[index] = UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * index)) }
    let code = key.authenticationCode(for: message.span.bytes)
    return UInt32(truncatingIfNeeded: UInt64(Self.truncated(code, at: truncationOffset)) % modulus)
  }

  /// The 31 bits that RFC 4226 section 5.3 takes from an HMAC, where its last byte says or at a fixed place.
  static func truncated(_ code: [UInt8], at fixed: Int? = nil) -> UInt32 {
    let offset = fixed ?? Int(code[code.count - 1] & 0x0F)
    return UInt32(code[offset] & 0x7F) << 24 | UInt32(code[offset + 1]) << 16
      | UInt32(code[offset + 2]) << 8 | UInt32(code[offset + 3])
  }

  /// The code for `counter`: ASCII digits, with leading zeros, and the check digit where there is one.
  public func code(at counter: UInt64) -> String {
    let value = value(at: counter)
    let code = Self.digits(value, count: digits)
    return addsChecksum ? code + String(Self.checkDigit(of: value)) : code
  }

  /// The last decimal digits of a number, with leading zeros.
  static func digits(_ value: UInt32, count: Int) -> String {
    // A code of 10 bytes lies inside the String value itself: nothing is allocated for it.
    String(unsafeUninitializedCapacity: count) { buffer in
      var rest = value
      for index in (0..<count).reversed() {
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        buffer[index] = UInt8(truncatingIfNeeded: 0x30 + digit)
        rest = quotient
      }
      return count
    }
  }

  /// The check digit of credit cards (ISO/IEC 7812-1, Luhn), as RFC 4226 appendix C computes it.
  static func checkDigit(of value: UInt32) -> Int {
    var (rest, sum, doubles) = (Int(value), 0, true)
    while rest > 0 {
      let digit = rest % 10
      sum += doubles ? digit * 2 / 10 + digit * 2 % 10 : digit
      rest /= 10
      doubles.toggle()
    }
    return (10 - sum % 10) % 10
  }

  /// The highest of `counters` whose code is `code`; nil if none is.
  ///
  /// All candidates are computed and compared, whichever matches, so the time tells nothing about where a match
  /// lies. The highest is taken so that one code cannot be accepted twice within a window.
  ///
  /// - Parameters:
  ///   - code: What was typed: exactly ``digits`` ASCII digits, and the check digit where there is one.
  ///   - counters: The candidates. The work grows with their number; keep it small.
  /// - Returns: The counter to store as used, so that the next candidates begin after it.
  public func counter(matching code: String, in counters: ClosedRange<UInt64>) -> UInt64? {
    guard let typed = typedValue(code) else { return nil }
    var found: UInt64 = 0
    var counter: UInt64 = 0
    for candidate in counters {
      let difference = UInt64(typed ^ value(at: candidate))
      let mask = 0 &- ((difference &- 1) >> 63)  // all ones where the difference is 0
      found |= mask
      counter = (candidate & mask) | (counter & ~mask)
    }
    return found == 0 ? nil : counter
  }

  private func typedValue(_ code: String) -> UInt32? {
    guard code.utf8.count == digits + (addsChecksum ? 1 : 0) else { return nil }
    var value: UInt64 = 0
    for byte in code.utf8 {
      guard 0x30...0x39 ~= byte else { return nil }
      value = value * 10 + UInt64(byte - 0x30)
    }
    guard addsChecksum else { return UInt32(exactly: value) }  // with 10 digits, no code is above 2^31 - 1
    guard let typed = UInt32(exactly: value / 10), Self.checkDigit(of: typed) == value % 10 else {
      return nil
    }
    return typed
  }
}
