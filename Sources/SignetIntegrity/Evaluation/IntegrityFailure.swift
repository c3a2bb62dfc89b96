/// Why integrity could not be judged, or what was refused because of it.
@nonexhaustive public enum IntegrityFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The list of guards is empty: nothing would ever be found, so that no score would mean anything.
  case noGuards
  /// Two guards have this name.
  case duplicateGuard(String)
  /// The threshold is not above 0 and up to 1: 0 would hold for every device, and more than 1 for none.
  case thresholdOutOfRange(Double)
  /// A weight is outside of 0 to 1.
  case weightOutOfRange(name: String, Double)
  /// Settings that were read have a member that they can't have; the rest of the sentence says what may be there.
  case settings(member: String, String)
  /// The evidence reaches the threshold, and this is what follows.
  case tampered(IntegrityReport)

  /// What happened and what to do.
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
