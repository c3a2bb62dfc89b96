/// The accepted clock difference of a device, and the decision about a code (RFC 6238 section 5.2).
public struct TOTPWindow: Sendable, Hashable {
  /// The allowed numbers of steps on one side.
  ///
  /// Each step gives an attacker who guesses one more code that would be accepted.
  public static let allowedSteps = 0...20

  /// The number of earlier codes that are accepted in addition to the current one.
  public let lookBack: Int
  /// The number of later codes that are accepted in addition to the current one.
  public let lookAhead: Int

  /// Creates a window.
  ///
  /// - Parameters:
  ///   - lookBack: The periods by which a code may be late, in ``allowedSteps``.
  ///   - lookAhead: The periods by which a code may be early, in ``allowedSteps``.
  /// - Throws: ``OATHFailure/stepsOutOfRange(_:)`` if one of them is outside ``allowedSteps``.
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

  /// Decides whether `code` is accepted.
  ///
  /// Store the counter of an accepted code as `lastAccepted` in one conditional write before granting anything. Otherwise
  /// two concurrent requests with the same code may both be accepted. Codes before ``TOTP/start`` are wrong.
  ///
  /// - Parameters:
  ///   - code: The typed code: exactly as many ASCII digits as a code has.
  ///   - totp: The code generator.
  ///   - unixTime: The current time, in seconds since 1970-01-01T00:00:00Z.
  ///   - lastAccepted: The counter of the last accepted code; `nil` if there is none.
  /// - Returns: The decision; all candidates are compared, in a time that does not depend on the code.
  public func verdict(
    on code: String, from totp: TOTP, at unixTime: Int64, lastAccepted: UInt64?
  ) -> TOTPVerdict {
    let currentCounter: UInt64
    do { currentCounter = try totp.counter(at: unixTime) } catch { return .refused(.wrong) }
    let back = UInt64(lookBack)
    let first = currentCounter < back ? 0 : currentCounter - back
    let (last, isBeyondTime) = currentCounter.addingReportingOverflow(UInt64(lookAhead))
    guard let counter = totp.hotp.counter(matching: code, in: first...(isBeyondTime ? .max : last)) else {
      return .refused(.wrong)
    }
    if let lastAccepted, counter <= lastAccepted { return .refused(.alreadyUsed) }
    return .accepted(counter: counter)
  }
}

/// The decision about a time-based code.
public enum TOTPVerdict: Sendable, Hashable {
  /// The code is accepted; store `counter` as the last accepted one.
  case accepted(counter: UInt64)
  /// The code is rejected.
  case refused(Reason)

  /// The reasons to reject a code.
  public enum Reason: Sendable, Hashable {
    /// The code matches none in the window.
    case wrong
    /// The code is right, but it or a later one was already accepted.
    case alreadyUsed
  }
}
