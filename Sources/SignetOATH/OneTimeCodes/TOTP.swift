public import SignetCrypto

/// One-time codes from a secret and the time (RFC 6238).
public struct TOTP: Sendable {
  /// The allowed periods, in seconds.
  public static let allowedPeriods = 1...3600

  /// The underlying counter-based codes; the counter is the number of whole periods since ``start``.
  public let hotp: HOTP
  /// The period of a code, in seconds (X in RFC 6238 section 4.1).
  public let period: Int
  /// The start of counter 0, in seconds since 1970-01-01T00:00:00Z (T0 in RFC 6238 section 4.1).
  public let start: Int64

  /// Prepares a secret, which the caller may wipe afterwards.
  ///
  /// - Parameters:
  ///   - secret: At least 1 byte; RFC 6238 section 3 recommends a random one as long as the hash.
  ///   - algorithm: The hash function.
  ///   - digits: The length of a code, in ``HOTP/allowedDigits``.
  ///   - period: The period of a code, in seconds, in ``allowedPeriods``.
  ///   - start: The start of counter 0, in seconds since 1970-01-01T00:00:00Z.
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

  /// Returns the number of whole periods from ``start`` to `unixTime`.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: The counter (T in RFC 6238 section 4.2).
  /// - Throws: ``OATHFailure/beforeStart(unixTime:start:)``.
  public func counter(at unixTime: Int64) throws(OATHFailure) -> UInt64 {
    guard unixTime >= start else { throw .beforeStart(unixTime: unixTime, start: start) }
    return UInt64(bitPattern: unixTime &- start) / UInt64(period)  // an unsigned difference always fits
  }

  /// Returns the code at `unixTime` with its period of validity.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: The code of the period that contains `unixTime`.
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

/// A time-based one-time code and its period of validity.
public struct TimedCode: Sendable, Hashable {
  /// The ASCII digits, with leading zeros.
  public let code: String
  /// The number of whole periods since the start.
  public let counter: UInt64
  /// The first second of validity, since 1970-01-01T00:00:00Z.
  public let validFrom: Int64
  /// The first second after validity, since 1970-01-01T00:00:00Z.
  public let validUntil: Int64

  /// Creates a code; `validUntil` must be later than `validFrom`.
  package init(code: String, counter: UInt64, validFrom: Int64, validUntil: Int64) {
    self.code = code
    self.counter = counter
    self.validFrom = validFrom
    self.validUntil = validUntil
  }
}

extension TimedCode {
  /// Indicates whether the code is the current one at a time.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: True from ``validFrom`` until just before ``validUntil``.
  public func isValid(at unixTime: Int64) -> Bool { validFrom <= unixTime && unixTime < validUntil }

  /// Returns the remaining time of validity.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: The seconds left: the whole period before ``validFrom``, 0 from ``validUntil`` on.
  public func secondsLeft(at unixTime: Int64) -> Int64 { validUntil - clamped(unixTime) }

  /// Returns the elapsed fraction of the validity, for a progress bar.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: 0 before ``validFrom``, 1 from ``validUntil`` on.
  public func progress(at unixTime: Int64) -> Double {
    Double(clamped(unixTime) - validFrom) / Double(validUntil - validFrom)
  }

  private func clamped(_ unixTime: Int64) -> Int64 { min(max(unixTime, validFrom), validUntil) }
}

extension TimedCode: CustomStringConvertible, CustomReflectable {
  /// The period of validity; never the code.
  public var description: String { "one-time code, valid from \(validFrom) until \(validUntil)" }

  /// An empty mirror, so that a dump does not show the code.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
