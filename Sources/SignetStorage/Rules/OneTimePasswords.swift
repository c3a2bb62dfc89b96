// What makes one-time passwords, and attempts to use them.

extension OTPSnapshot {
  /// What an attempt finds: of a user who is not active, nothing that could be accepted; without a state there is no such user.
  package init(
    _ credentials: [CredentialRecord], of user: UserID?, _ state: UserRecord.State?, wait: WaitRecord?
  ) {
    let isHeld = state.map { $0 != .active } ?? false
    self.init(
      credentials: isHeld ? [] : credentials, wait: wait, isUserHeld: isHeld,
      isUserUnknown: user != nil && state == nil)
  }
}

extension OTPResult {
  /// How it goes into the audit log: a refusal that counted against nobody can be repeated without end, and so can unknown names.
  package func entry(of user: UserID?, _ state: UserRecord.State?, by key: ID<APIKeyRecord>?) -> OutcomeEntry
  {
    guard outcome != .accepted, changed.isEmpty else { return .always }
    guard let user, state != nil else { return .limited(.stranger(key: key)) }
    return .limited(.claimant(user: user))
  }

  /// How an attempt to use a user's own code goes into the audit log: one that was not tried can be repeated without end.
  package func entry(ofCodeOf user: UserID) -> OutcomeEntry {
    [.accepted, .refused].contains(outcome) ? .always : .limited(.claimant(user: user))
  }
}

extension CredentialRecord {
  /// A token that is given to a user, or to nobody: it has to be verified again, and its failures are forgotten, as is its use by another.
  package func assigned(to user: UserID?) -> Self {
    var token = self
    (token.user, token.failures, token.lastUsed) = (user, 0, nil)
    if token.state != .disabled { token.state = .pending }
    return token
  }

  /// A token that is taken out of use, or has to be verified again where it was.
  package func disabled(_ isDisabled: Bool) -> Self {
    var token = self
    token.state = isDisabled ? .disabled : state == .disabled ? .pending : state
    return token
  }

  /// When a code of it was last used up; `nil` for never, and where its row was altered.
  package var knownUse: Int64? { state == .altered ? nil : lastUsed }

  /// Whether it goes back to the stock when its user is deleted; one whose row was altered is good for nothing.
  package var goesBackToStock: Bool { serial != nil && state != .altered }
}
