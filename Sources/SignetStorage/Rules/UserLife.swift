extension UserRecord {
  /// Why nothing of the user is accepted; `nil` for an active user.
  package var refusal: StorageFailure? {
    switch state {
    case .active: nil
    case .suspended, .deleted: .userNotActive(state)
    case .altered: .altered(row: id.text, of: "users")
    }
  }

  /// The user, suspended; a row that was altered loses the code that clients have to name, and gets another subject.
  package func suspended(
    because reason: String, calling subject: String, at time: Int64
  ) -> RecordChange<Self, UserChangeOutcome> {
    var user = self
    switch state {
    case .deleted: return .refused(.unknown)
    case .suspended: return .refused(.unchanged)
    // Nobody knows whose the subject in it is.
    case .altered: (user.codeDigest, user.subject) = (nil, subject)
    case .active: break
    }
    (user.state, user.stateReason, user.stateSince) = (.suspended, reason, time)
    return .made(user)
  }

  /// The user, active again.
  package func resumed(at time: Int64) -> RecordChange<Self, UserChangeOutcome> {
    switch state {
    case .deleted: return .refused(.unknown)
    case .active: return .refused(.unchanged)
    case .altered: return .refused(.altered)
    case .suspended:
      var user = self
      (user.state, user.stateReason, user.stateSince) = (.active, "", time)
      return .made(user)
    }
  }

  /// The user, deleted; a row that was altered gets another subject.
  package func deleted(calling subject: String, at time: Int64) -> RecordChange<Self, UserChangeOutcome> {
    guard state != .deleted else { return .refused(.unchanged) }
    var user = self
    if state == .altered { user.subject = subject }
    (user.state, user.stateReason, user.stateSince, user.codeDigest) = (.deleted, "", time, nil)
    return .made(user)
  }
}
