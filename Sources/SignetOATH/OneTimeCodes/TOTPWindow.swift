/// How far a device's clock may be off, and the decision whether a code is accepted (RFC 6238 section 5.2).
public struct TOTPWindow: Sendable, Hashable {
  /// The steps that may be allowed on one side.
  ///
  /// Each one gives a guesser another code that would pass.
  public static let allowedSteps = 0...20

  /// How many earlier codes are accepted besides the current one.
  public let lookBack: Int
  /// How many later codes are accepted besides the current one.
  public let lookAhead: Int

  /// Sets the width.
  ///
  /// - Parameters:
  ///   - lookBack: Periods a code may be late, in ``allowedSteps``.
  ///   - lookAhead: Periods a code may be early, in ``allowedSteps``.
  /// - Throws: ``OATHFailure/stepsOutOfRange(_:)``.
  public init(lookBack: Int, lookAhead: Int) throws(OATHFailure) {
    for steps in [lookBack, lookAhead] where !Self.allowedSteps.contains(steps) {
      throw .stepsOutOfRange(steps)
    }
    self.lookBack = lookBack
    self.lookAhead = lookAhead
  }

  private init(unchecked steps: Int) {
    lookBack = steps
    lookAhead = steps
  }

  /// One step on either side: RFC 6238 section 5.2 recommends at most one for transmission delay.
  public static let standard = TOTPWindow(unchecked: 1)

  /// Whether `code` is accepted.
  ///
  /// Store the counter of an accepted code as `lastAccepted` in one conditional write, before anything is
  /// granted, or two requests may both be accepted. Codes before ``TOTP/start`` are wrong.
  ///
  /// - Parameters:
  ///   - code: What was typed: exactly as many ASCII digits as a code has.
  ///   - totp: The key.
  ///   - unixTime: Now, in seconds since 1970-01-01T00:00:00Z.
  ///   - lastAccepted: The counter of the last accepted code; nil if there is none.
  /// - Returns: The decision; all candidates are compared, in a time that does not depend on the code.
  public func verdict(
    on code: String, from totp: TOTP, at unixTime: Int64, lastAccepted: UInt64?
  ) -> TOTPVerdict {
    let now: UInt64
    do { now = try totp.counter(at: unixTime) } catch { return .refused(.wrong) }
    let back = UInt64(lookBack)
    let first = now < back ? 0 : now - back
    let (last, isBeyondTime) = now.addingReportingOverflow(UInt64(lookAhead))
    guard let counter = totp.hotp.counter(matching: code, in: first...(isBeyondTime ? .max : last)) else {
      return .refused(.wrong)
    }
    if let lastAccepted, counter <= lastAccepted { return .refused(.alreadyUsed) }
    return .accepted(counter: counter)
  }
}

/// Whether a time-based code is accepted.
public enum TOTPVerdict: Sendable, Hashable {
  /// It is; `counter` is to be stored as the last accepted one.
  case accepted(counter: UInt64)
  /// It is not.
  case refused(Reason)

  /// Why a code is not accepted.
  public enum Reason: Sendable, Hashable {
    /// No code in the window is this one.
    case wrong
    /// The code is right, but it or a later one was accepted before.
    case alreadyUsed
  }
}
