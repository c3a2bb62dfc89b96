/// The result of an enrollment.
public struct Enrolment: Sendable {
  /// The account with all its parts.
  public let account: EnrolledAccount
  /// Indicates whether the account existed before and received additional parts.
  public let wasThere: Bool
  /// The names of URI policies that conflict with those of the account; the account keeps its own.
  public let policyConflicts: [String]
}
