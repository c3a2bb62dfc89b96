public import SignetCrypto

/// One-time codes from a secret and the time (RFC 6238).
public struct TOTP: Sendable {
  /// The periods that are allowed, in seconds.
  public static let allowedPeriods = 1...3600

  /// The counter-based codes under this one; the counter is the number of whole periods since ``start``.
  public let hotp: HOTP
  /// How long a code is valid, in seconds (X in RFC 6238 section 4.1).
  public let period: Int
  /// When counter 0 began, in seconds since 1970-01-01T00:00:00Z (T0 in RFC 6238 section 4.1).
  public let start: Int64

  /// Prepares a secret; it is not needed afterwards.
  ///
  /// - Parameters:
  ///   - secret: At least 1 byte; RFC 6238 section 3 asks for a random one as long as the hash.
  ///   - algorithm: The hash function.
  ///   - digits: The length of a code, in ``HOTP/allowedDigits``.
  ///   - period: How long a code is valid, in seconds, in ``allowedPeriods``.
  ///   - start: When counter 0 begins, in seconds since 1970-01-01T00:00:00Z.
  /// - Throws: ``OATHFailure/emptySecret``, ``OATHFailure/digitsOutOfRange(_:)`` or
  ///   ``OATHFailure/periodOutOfRange(_:)``.
  public init(
    secret: borrowing SecretBytes, algorithm: OATHAlgorithm = .sha1, digits: Int = 6, period: Int = 30,
    start: Int64 = 0
  ) throws(OATHFailure) {
    guard Self.allowedPeriods.contains(period) else { throw .periodOutOfRange(period) }
    hotp = try HOTP(secret: secret, algorithm: algorithm, digits: digits)
    self.period = period
    self.start = start
  }

  /// The number of whole periods from ``start`` to `unixTime`.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: The counter (T in RFC 6238 section 4.2).
  /// - Throws: ``OATHFailure/beforeStart(unixTime:start:)``.
  public func counter(at unixTime: Int64) throws(OATHFailure) -> UInt64 {
    guard unixTime >= start else { throw .beforeStart(unixTime: unixTime, start: start) }
    return UInt64(bitPattern: unixTime &- start) / UInt64(period)  // the distance fits 64 bits without sign
  }

  /// The code at `unixTime`, with the time in which it is valid.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: The code of the period that `unixTime` lies in.
  /// - Throws: ``OATHFailure/beforeStart(unixTime:start:)``.
  public func code(at unixTime: Int64) throws(OATHFailure) -> TimedCode {
    let counter = try counter(at: unixTime)
    let elapsed = Int64(UInt64(bitPattern: unixTime &- start) % UInt64(period))
    let validFrom = unixTime - elapsed
    let (validUntil, isBeyondTime) = validFrom.addingReportingOverflow(Int64(period))
    return TimedCode(
      code: hotp.code(at: counter), counter: counter, validFrom: validFrom,
      validUntil: isBeyondTime ? .max : validUntil)
  }
}

/// A time-based one-time code and when it is valid.
public struct TimedCode: Sendable, Hashable {
  /// ASCII digits, with leading zeros.
  public let code: String
  /// Whole periods since the start.
  public let counter: UInt64
  /// The first second of validity, since 1970-01-01T00:00:00Z.
  public let validFrom: Int64
  /// The first second after validity, since 1970-01-01T00:00:00Z.
  public let validUntil: Int64

  /// A code that is valid from one second up to another, which is later.
  package init(code: String, counter: UInt64, validFrom: Int64, validUntil: Int64) {
    (self.code, self.counter, self.validFrom, self.validUntil) = (code, counter, validFrom, validUntil)
  }
}

extension TimedCode {
  /// Whether a server that knows the right time takes it for the code of now.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: Whether it is valid; its first second counts, the first after it does not.
  public func isValid(at unixTime: Int64) -> Bool { validFrom <= unixTime && unixTime < validUntil }

  /// How long it is valid yet.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: Seconds: the whole period before it begins, 0 from its end on.
  public func secondsLeft(at unixTime: Int64) -> Int64 { validUntil - clamped(unixTime) }

  /// How much of its time is over, for a bar beside the code.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: 0 before it begins, 1 from its end on.
  public func progress(at unixTime: Int64) -> Double {
    Double(clamped(unixTime) - validFrom) / Double(validUntil - validFrom)
  }

  private func clamped(_ unixTime: Int64) -> Int64 { min(max(unixTime, validFrom), validUntil) }
}

extension TimedCode: CustomStringConvertible, CustomReflectable {
  /// The times; never the code.
  public var description: String { "one-time code, valid from \(validFrom) until \(validUntil)" }

  /// No parts, so that a dump does not show the code.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
