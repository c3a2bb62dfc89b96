/// The reasons why a one-time code cannot be computed.
@nonexhaustive public enum OATHFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The number of digits is outside 6 to 10.
  case digitsOutOfRange(Int)
  /// The period is outside 1 to 3600 seconds.
  case periodOutOfRange(Int)
  /// The secret has no bytes.
  case emptySecret
  /// The time is before the first period; both values in seconds since 1970-01-01T00:00:00Z.
  case beforeStart(unixTime: Int64, start: Int64)
  /// The number of look-back or look-ahead steps is outside 0 to 20.
  case stepsOutOfRange(Int)

  /// The reason and what to do about it; it never contains a code or a secret.
  public var description: String {
    switch self {
    case .digitsOutOfRange(let digits): "digits is \(digits); use 6 to 10 (RFC 4226 section 5.3)"
    case .periodOutOfRange(let period): "the period is \(period) s; use 1 to 3600"
    case .emptySecret: "the secret is empty; use 16 bytes or more (RFC 4226 section 4)"
    case .beforeStart(let time, let start): "the time \(time) is before the start \(start); check the clock"
    case .stepsOutOfRange(let steps): "the window has \(steps) steps on one side; use 0 to 20"
    }
  }
}
