public import SignetCrypto

/// One-time codes from a secret and a counter (RFC 4226).
///
/// The HMAC state of the secret is computed once, so each code costs one message. Copies share that state, and any thread
/// may use them.
public struct HOTP: Sendable {
  /// The allowed numbers of digits: RFC 4226 section 5.3 requires at least 6, and the truncated value of 31 bits has at most
  /// 10.
  public static let allowedDigits = 6...10
  /// The numbers of digits that OATH allows for a truncated value (RFC 6287 section 5.2).
  static let truncatedDigits = 4...10

  /// The hash function.
  public let algorithm: OATHAlgorithm
  /// The length of a code, in ``allowedDigits``.
  public let digits: Int
  /// Indicates whether a check digit follows each code (RFC 4226 appendix C); ``digits`` does not include it.
  public let addsChecksum: Bool
  /// The fixed truncation offset; `nil` if the last byte of the HMAC determines it (RFC 4226 section 5.3).
  public let truncationOffset: Int?
  private let key: HMACKey
  private let modulus: UInt64

  /// Prepares a secret, which the caller may wipe afterwards.
  ///
  /// - Parameters:
  ///   - secret: At least 1 byte. RFC 4226 section 4 requires 16 and recommends 20, but many issuers use shorter secrets,
  ///     which must work.
  ///   - algorithm: The hash function.
  ///   - digits: The length of a code, in ``allowedDigits``.
  ///   - addsChecksum: True if a check digit follows each code.
  ///   - truncationOffset: The fixed truncation offset; an offset outside the HMAC counts as `nil`, as in the reference
  ///     implementation of RFC 4226 appendix C.
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

  /// Returns the code for `counter` as a number, 0 to 10^digits - 1 (RFC 4226 section 5.3, steps 1 to 3).
  public func value(at counter: UInt64) -> UInt32 {
    var message = InlineArray<8, UInt8>(repeating: 0)
    for index in 0..<8 { message[index] = UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * index)) }
    var truncated: UInt32 = 0
    key.withAuthenticationCode(for: message.span.bytes) {
      truncated = Self.truncated($0, at: truncationOffset)
    }
    return UInt32(truncatingIfNeeded: UInt64(truncated) % modulus)
  }

  /// Returns the 31 bits of an HMAC at the offset in its last byte or at a fixed one (RFC 4226 section 5.3).
  static func truncated(_ code: Span<UInt8>, at fixedOffset: Int? = nil) -> UInt32 {
    let offset = fixedOffset ?? Int(code[code.count - 1] & 0x0F)
    return UInt32(code[offset] & 0x7F) << 24 | UInt32(code[offset + 1]) << 16
      | UInt32(code[offset + 2]) << 8 | UInt32(code[offset + 3])
  }

  /// Returns the code for `counter`: ASCII digits with leading zeros, and the check digit if there is one.
  public func code(at counter: UInt64) -> String {
    let value = value(at: counter)
    let code = Self.digits(value, count: digits)
    return addsChecksum ? code + String(Self.checkDigit(of: value)) : code
  }

  /// Returns the last `count` decimal digits of a number, with leading zeros.
  static func digits(_ value: UInt32, count: Int) -> String {
    // A string of 10 bytes is stored inline, without an allocation.
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

  /// Computes the Luhn check digit of payment cards (ISO/IEC 7812-1) as in RFC 4226 appendix C.
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

  /// Returns the highest of `counters` whose code is `code`; `nil` if none matches.
  ///
  /// All candidates are computed and compared in any case, so the time does not disclose which one matches. The highest one
  /// is returned so that one code cannot be accepted twice within a window.
  ///
  /// - Parameters:
  ///   - code: The typed code: exactly ``digits`` ASCII digits, and the check digit if there is one.
  ///   - counters: The candidates. The work is proportional to their number; keep it small.
  /// - Returns: The counter to store as used, so that the next candidates begin after it.
  public func counter(matching code: String, in counters: ClosedRange<UInt64>) -> UInt64? {
    guard let typed = typedValue(code) else { return nil }
    var matched: UInt64 = 0
    var counter: UInt64 = 0
    for candidate in counters {
      let difference = UInt64(typed ^ value(at: candidate))
      let mask = 0 &- ((difference &- 1) >> 63)  // all ones if the difference is 0
      matched |= mask
      counter = (candidate & mask) | (counter & ~mask)
    }
    return matched == 0 ? nil : counter
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
