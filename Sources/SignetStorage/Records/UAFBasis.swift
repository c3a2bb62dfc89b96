/// The authentication of a UAF caller: evaluated when the caller is authenticated, and again in the step that the caller requests.
public enum UAFBasis: Sendable {
  /// An operation that has authenticated an active user; all its keys must be the user's and active.
  ///
  /// The closure returns `true` if the keys suffice, given the operation and the keys as they are in the step. It may run
  /// again if the step is retried.
  case operation(
    ID<UAFOperationRecord>, of: UserID,
    suffices: @Sendable (UAFOperationRecord, [UAFCredentialRecord]) -> Bool)
  /// The target with this id, whose device has signed the request.
  case target(ID<UAFTargetRecord>)
}
