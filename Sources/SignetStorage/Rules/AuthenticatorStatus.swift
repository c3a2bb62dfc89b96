// The state of each kind of authenticator, and the reason of a suspension.

extension ContainerRecord {
  /// Returns its state; `reason` is that of the server's lock.
  package func status(lockedBecause reason: String) -> (state: AuthenticatorRecord.State, reason: String) {
    switch state {
    case .pending: (.pending, "")
    case .active: isLocked ? (.suspended, reason) : (.active, "")
    case .revoked: (.revoked, "")
    case .altered: (.altered, AuditEvent.alteredReason)
    }
  }
}

extension CredentialRecord {
  /// Returns the state of a token, given the number of consecutive wrong codes that locks it.
  package func status(attempts: Int) -> (state: AuthenticatorRecord.State, reason: String) {
    switch state {
    case .altered: (.altered, AuditEvent.alteredReason)
    case _ where failures >= attempts:
      (.suspended, "too many wrong codes; unlock it with 'signet-server user unlock'")
    case .pending: (.pending, "")
    case .active: (.active, "")
    case .disabled: (.suspended, "an operator disabled it")
    }
  }
}

extension PushAuthMechanismRecord {
  /// Its state.
  package var status: (state: AuthenticatorRecord.State, reason: String) {
    switch state {
    case .open: (.pending, "")
    case .active: (.active, "")
    case .altered: (.altered, AuditEvent.alteredReason)
    }
  }
}
