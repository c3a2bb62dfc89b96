// Rules for one-time-password credentials and attempts with them.

extension OTPSnapshot {
  /// Makes the snapshot of an attempt: for a user who is not active, it has no credentials; without a state there is no such user.
  package init(
    _ credentials: [CredentialRecord], of user: UserID?, _ state: UserRecord.State?, wait: WaitRecord?
  ) {
    let isHeld = state.map { $0 != .active } ?? false
    self.init(
      credentials: isHeld ? [] : credentials, wait: wait, isUserInactive: isHeld,
      isUserUnknown: user != nil && state == nil)
  }
}

extension OTPResult {
  /// Returns the rule for its audit entry: rejections without a count, and attempts for unknown users, can be repeated without limit.
  package func entry(of user: UserID?, _ state: UserRecord.State?, by key: ID<APIKeyRecord>?) -> OutcomeEntry
  {
    guard outcome != .accepted, changed.isEmpty else { return .always }
    guard let user, state != nil else { return .limited(.stranger(key: key)) }
    return .limited(.claimant(user: user))
  }

  /// Returns the rule for the audit entry of an attempt with a user code: one that was not evaluated can be repeated without limit.
  package func entry(ofCodeOf user: UserID) -> OutcomeEntry {
    [.accepted, .refused].contains(outcome) ? .always : .limited(.claimant(user: user))
  }
}

extension CredentialRecord {
  /// Returns a token after its assignment to a user, or to none: it must be verified again, and its failures and last use are reset.
  package func assigned(to user: UserID?) -> Self {
    var token = self
    token.user = user
    token.failures = 0
    token.lastUsed = nil
    if token.state != .disabled { token.state = .pending }
    return token
  }

  /// Returns a token after it was disabled, or enabled, in which case a disabled one must be verified again.
  package func disabled(_ isDisabled: Bool) -> Self {
    var token = self
    token.state = isDisabled ? .disabled : state == .disabled ? .pending : state
    return token
  }

  /// When one of its codes was last used, in seconds since 1970; `nil` for never, and if its row was altered.
  package var knownUse: Int64? { state == .altered ? nil : lastUsed }

  /// Indicates whether it becomes unassigned when its user is deleted; a credential whose row was altered is removed instead.
  package var goesBackToStock: Bool { serial != nil && state != .altered }
}
