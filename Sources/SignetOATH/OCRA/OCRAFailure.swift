/// Why a suite is refused or a response could not be computed.
@nonexhaustive public enum OCRAFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The suite is none of RFC 6287; the reason is the end of a sentence.
  case malformedSuite(String)
  /// The challenge is longer than the suite, or the key, allows; both in characters.
  case challengeTooLong(length: Int, limit: Int)
  /// The challenge is shorter than the key takes it; both in characters.
  case challengeTooShort(length: Int, limit: Int)
  /// The challenge is empty or has characters that its format has not.
  case challengeFormat(OCRAChallengeFormat)
  /// The suite wants an input that was not given.
  case missing(Input)
  /// An input was given that the suite has no place for: the response would not cover it.
  case unexpected(Input)
  /// The session information is longer than the suite says; both in bytes.
  case sessionTooLong(byteCount: Int, limit: Int)
  /// The secret has no bytes.
  case emptySecret
  /// The time lies before 1970-01-01T00:00:00Z.
  case timeBeforeStart

  /// What enters a response besides the challenge.
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

  /// What is wrong and what to do; never a secret.
  public var description: String {
    switch self {
    case .malformedSuite(let reason): "this is no OCRA suite: \(reason) (RFC 6287 section 6)"
    case .challengeTooLong(let length, let limit):
      "the challenge has \(length) characters; \(limit) are allowed"
    case .challengeTooShort(let length, let limit):
      "the challenge has \(length) characters; at least \(limit) are asked for"
    case .challengeFormat(.alphanumeric): "the challenge must consist of ASCII letters and digits"
    case .challengeFormat(.numeric): "the challenge must consist of digits"
    case .challengeFormat(.hexadecimal): "the challenge must consist of hexadecimal digits"
    case .missing(let input): "the suite wants the \(input.rawValue); give it"
    case .unexpected(let input): "the suite has no place for the \(input.rawValue); leave it out"
    case .sessionTooLong(let count, let limit):
      "the session information has \(count) bytes; the suite allows \(limit)"
    case .emptySecret: "the secret is empty; use 16 bytes or more (RFC 4226 section 4)"
    case .timeBeforeStart: "the time lies before 1970; check the clock"
    }
  }
}
