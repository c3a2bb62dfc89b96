/// The reasons why a suite is rejected or a response cannot be computed.
@nonexhaustive public enum OCRAFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The suite is not one of RFC 6287; the reason is a clause.
  case malformedSuite(String)
  /// The challenge is longer than the suite or the key allows; both values in characters.
  case challengeTooLong(length: Int, limit: Int)
  /// The challenge is shorter than the key allows; both values in characters.
  case challengeTooShort(length: Int, limit: Int)
  /// The challenge is empty or has characters outside its format.
  case challengeFormat(OCRAChallengeFormat)
  /// The suite requires an input that was not given.
  case missing(Input)
  /// The suite does not have the given input, so the response would not cover it.
  case unexpected(Input)
  /// The session information is longer than the suite allows; both values in bytes.
  case sessionTooLong(byteCount: Int, limit: Int)
  /// The secret has no bytes.
  case emptySecret
  /// The time is before 1970-01-01T00:00:00Z.
  case timeBeforeStart

  /// The inputs of a response other than the challenge.
  public enum Input: String, Sendable, Hashable, CaseIterable {
    /// The counter.
    case counter
    /// The PIN.
    case pin = "PIN"
    /// The session information.
    case session = "session information"
    /// The time.
    case time
  }

  /// The reason and what to do about it; it never contains a secret.
  public var description: String {
    switch self {
    case .malformedSuite(let reason): "this is not an OCRA suite: \(reason) (RFC 6287 section 6)"
    case .challengeTooLong(let length, let limit):
      "the challenge has \(length) characters; \(limit) are allowed"
    case .challengeTooShort(let length, let limit):
      "the challenge has \(length) characters; at least \(limit) are asked for"
    case .challengeFormat(.alphanumeric): "the challenge must consist of ASCII letters and digits"
    case .challengeFormat(.numeric): "the challenge must consist of digits"
    case .challengeFormat(.hexadecimal): "the challenge must consist of hexadecimal digits"
    case .missing(let input): "the suite requires the \(input.rawValue); give it"
    case .unexpected(let input): "the suite does not use the \(input.rawValue); leave it out"
    case .sessionTooLong(let count, let limit):
      "the session information has \(count) bytes; the suite allows \(limit)"
    case .emptySecret: "the secret is empty; use 16 bytes or more (RFC 4226 section 4)"
    case .timeBeforeStart: "the time lies before 1970; check the clock"
    }
  }
}
