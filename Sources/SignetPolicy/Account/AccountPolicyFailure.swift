public import SignetJSON

/// Why account policies were refused.
@nonexhaustive public enum AccountPolicyFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text is not a JSON object.
  case malformed(JSONFailure)
  /// The text exceeds the size limit.
  case tooLong(byteCount: Int, limit: Int)
  /// The account has more policies than the limit.
  case tooMany(count: Int, limit: Int)
  /// A name is empty, too long, or has a character that is not visible ASCII.
  case invalidName(String)
  /// A parameter is missing, of the wrong type, or out of range; `parameter` is empty if the whole value is invalid.
  case invalidParameter(policy: String, parameter: String, reason: String)
  /// A policy of this name is registered already.
  case alreadyRegistered(String)
  /// No policy of this name is registered.
  case notRegistered(String)

  /// The cause and the remedy.
  public var description: String {
    switch self {
    case .malformed(let failure): "account policies are a JSON object: \(failure.description)"
    case .tooLong(let count, let limit): "the account policies have \(count) bytes; use at most \(limit)"
    case .tooMany(let count, let limit): "there are \(count) account policies; use at most \(limit)"
    case .invalidName(let name):
      "\"\(AccountPolicySet.shown(name))\" is not an account policy name; use 1 to 64 visible ASCII characters"
    case .invalidParameter(let policy, "", let reason): "account policy \(policy): \(reason)"
    case .invalidParameter(let policy, let parameter, let reason):
      "account policy \(policy): \(parameter) \(reason)"
    case .alreadyRegistered(let name):
      "account policy \"\(AccountPolicySet.shown(name))\" already exists; replace it if that is intended"
    case .notRegistered(let name): "there is no account policy \"\(AccountPolicySet.shown(name))\" to replace"
    }
  }
}
