/// What a caller of UAF is known by: judged when the caller is authenticated, and again in the step of what is done by it.
public enum UAFBasis: Sendable {
  /// An operation that has authenticated a user, who has to be active; all keys that it was done with have to be the user's and in use.
  ///
  /// The closure says whether the keys suffice, by the operation and by the keys as both are at that moment. It may be called again where
  /// the step has to be repeated.
  case operation(
    ID<UAFOperationRecord>, of: UserID,
    suffices: @Sendable (UAFOperationRecord, [UAFCredentialRecord]) -> Bool)
  /// The target of this id, whose device has signed the request.
  case target(ID<UAFTargetRecord>)
}
