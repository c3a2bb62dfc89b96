public import SignetCrypto

/// One-time codes from a secret and a counter (RFC 4226).
///
/// The secret is hashed into its HMAC state once, so that each code costs one message. Values of this type share
/// that state when copied and may be used from any thread.
public struct HOTP: Sendable {
  /// The numbers of digits that are allowed: 6 is the least (RFC 4226 section 5.3), and the truncated value of
  /// 31 bits fills no more than 10.
  public static let allowedDigits = 6...10

  /// The hash function.
  public let algorithm: OATHAlgorithm
  /// The length of a code, in ``allowedDigits``.
  public let digits: Int
  private let key: HMACKey
  private let modulus: UInt64

  /// Prepares a secret; it is not needed afterwards.
  ///
  /// - Parameters:
  ///   - secret: At least 1 byte. RFC 4226 section 4 asks for 16 or more and recommends 20, but what other
  ///     parties hand out is often shorter and has to work.
  ///   - algorithm: The hash function.
  ///   - digits: The length of a code, in ``allowedDigits``.
  /// - Throws: ``OATHFailure/emptySecret`` or ``OATHFailure/digitsOutOfRange(_:)``.
  public init(
    secret: borrowing SecretBytes, algorithm: OATHAlgorithm = .sha1, digits: Int = 6
  ) throws(OATHFailure) {
    guard Self.allowedDigits.contains(digits) else { throw .digitsOutOfRange(digits) }
    guard secret.byteCount > 0 else { throw .emptySecret }
    self.algorithm = algorithm
    self.digits = digits
    key = HMACKey(secret, algorithm.hash)
    modulus = (0..<digits).reduce(1) { power, _ in power * 10 }
  }

  /// The code for `counter` as a number, 0 to 10^digits - 1: RFC 4226 section 5.3, steps 1 to 3.
  public func value(at counter: UInt64) -> UInt32 {
    var message = InlineArray<8, UInt8>(repeating: 0)
    for index in 0..<8 { message[index] = UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * index)) }
    let code = key.authenticationCode(for: message.span.bytes)
    let offset = Int(code[code.count - 1] & 0x0F)
    let truncated =
      UInt32(code[offset] & 0x7F) << 24 | UInt32(code[offset + 1]) << 16
      | UInt32(code[offset + 2]) << 8 | UInt32(code[offset + 3])
    return UInt32(truncatingIfNeeded: UInt64(truncated) % modulus)
  }

  /// The code for `counter`: ASCII digits, with leading zeros.
  public func code(at counter: UInt64) -> String {
    // A code of 10 bytes lies inside the String value itself: nothing is allocated for it.
    String(unsafeUninitializedCapacity: digits) { buffer in
      var rest = value(at: counter)
      for index in (0..<digits).reversed() {
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        buffer[index] = UInt8(truncatingIfNeeded: 0x30 + digit)
        rest = quotient
      }
      return digits
    }
  }

  /// The highest of `counters` whose code is `code`; nil if none is.
  ///
  /// All candidates are computed and compared, whichever matches, so the time tells nothing about where a match
  /// lies. The highest is taken so that one code cannot be accepted twice within a window.
  ///
  /// - Parameters:
  ///   - code: What was typed: exactly ``digits`` ASCII digits.
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
    guard code.utf8.count == digits else { return nil }
    var value: UInt64 = 0
    for byte in code.utf8 {
      guard 0x30...0x39 ~= byte else { return nil }
      value = value * 10 + UInt64(byte - 0x30)
    }
    return UInt32(exactly: value)  // with 10 digits, no code is above 2^31 - 1
  }
}
