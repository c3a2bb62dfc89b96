/// Why integrity could not be evaluated, or an operation was refused.
@nonexhaustive public enum IntegrityFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The list of guards is empty: no guard could find anything, so the score would be meaningless.
  case noGuards
  /// Two guards have this name.
  case duplicateGuard(String)
  /// The threshold is not above 0 and at most 1: every device would reach 0, and none more than 1.
  case thresholdOutOfRange(Double)
  /// A weight is outside of 0 to 1.
  case weightOutOfRange(name: String, Double)
  /// A member of the settings is invalid; the text names the allowed values.
  case settings(member: String, String)
  /// The score reaches the threshold, and the operation is refused.
  case tampered(IntegrityReport)

  /// The cause and the remedy.
  public var description: String {
    switch self {
    case .noGuards: "there are no guards; name at least one, or use the standard ones"
    case .duplicateGuard(let name): "two guards are called \(name); give each a name of its own"
    case .thresholdOutOfRange(let threshold): "the threshold is \(threshold); use one above 0 and up to 1"
    case .weightOutOfRange(let name, let weight): "the weight of \(name) is \(weight); use 0 to 1"
    case .settings(let member, let reason): "\"\(member)\" \(reason)"
    case .tampered(let report): report.refusal
    }
  }
}
