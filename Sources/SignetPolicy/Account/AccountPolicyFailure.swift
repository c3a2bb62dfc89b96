public import SignetJSON

/// Why account policies were refused.
@nonexhaustive public enum AccountPolicyFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text is no JSON object.
  case malformed(JSONFailure)
  /// The text is longer than account policies may be.
  case tooLong(byteCount: Int, limit: Int)
  /// There are more policies than an account may have.
  case tooMany(count: Int, limit: Int)
  /// A name is empty, too long, or has a character that is not visible ASCII.
  case invalidName(String)
  /// A parameter is missing, of the wrong type, or out of range; `parameter` is empty where it is all of them.
  case invalidParameter(policy: String, parameter: String, reason: String)
  /// There is a policy of this name already.
  case alreadyRegistered(String)
  /// There is no policy of this name.
  case notRegistered(String)

  /// What is wrong and what to do.
  public var description: String {
    switch self {
    case .malformed(let failure): "account policies are a JSON object: \(failure.description)"
    case .tooLong(let count, let limit): "the account policies have \(count) bytes; use at most \(limit)"
    case .tooMany(let count, let limit): "there are \(count) account policies; use at most \(limit)"
    case .invalidName(let name):
      "the account policy name \"\(AccountPolicySet.shown(name))\" is not one; use 1 to 64 visible ASCII characters"
    case .invalidParameter(let policy, "", let reason): "account policy \(policy): \(reason)"
    case .invalidParameter(let policy, let parameter, let reason):
      "account policy \(policy): \(parameter) \(reason)"
    case .alreadyRegistered(let name):
      "there is an account policy \"\(AccountPolicySet.shown(name))\" already; replace it if that is meant"
    case .notRegistered(let name): "there is no account policy \"\(AccountPolicySet.shown(name))\" to replace"
    }
  }
}
