// How what is bound to an account stands among its authenticators, and why it is out of use.

extension ContainerRecord {
  /// How it stands; the reason is why the server has locked it.
  package func standing(lockedBecause reason: String) -> (state: AuthenticatorRecord.State, reason: String) {
    switch state {
    case .pending: (.pending, "")
    case .active: isLocked ? (.suspended, reason) : (.active, "")
    case .revoked: (.revoked, "")
    case .altered: (.altered, AuditEvent.alteredReason)
    }
  }
}

extension CredentialRecord {
  /// How a token stands, which so many wrong codes in a row lock.
  package func standing(attempts: Int) -> (state: AuthenticatorRecord.State, reason: String) {
    switch state {
    case .altered: (.altered, AuditEvent.alteredReason)
    case _ where failures >= attempts:
      (.suspended, "too many wrong codes; 'signet-server user unlock' ends that")
    case .pending: (.pending, "")
    case .active: (.active, "")
    case .disabled: (.suspended, "an operator took it out of use")
    }
  }
}

extension PushAuthMechanismRecord {
  /// How it stands.
  package var standing: (state: AuthenticatorRecord.State, reason: String) {
    switch state {
    case .open: (.pending, "")
    case .active: (.active, "")
    case .altered: (.altered, AuditEvent.alteredReason)
    }
  }
}
