/// What became of an enrolment.
public struct Enrolment: Sendable {
  /// The account with all that it has now.
  public let account: EnrolledAccount
  /// Whether it was there before, and got what the URI had beside that.
  public let wasThere: Bool
  /// Policies of the URI that differ from those that the account has, which stay: their names.
  public let policyConflicts: [String]
}
