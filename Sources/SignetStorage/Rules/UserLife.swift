extension UserRecord {
  /// Why nothing of the user is accepted; `nil` for an active user.
  package var refusal: StorageFailure? {
    switch state {
    case .active: nil
    case .suspended, .deleted: .userNotActive(state)
    case .altered: .altered(row: id.text, of: "users")
    }
  }

  /// The user, suspended; a row that was altered loses the display name and the code that clients have to name, and gets another subject.
  package func suspended(
    because reason: String, calling subject: String, at time: Int64
  ) -> RecordChange<Self, UserChangeOutcome> {
    var user = self
    switch state {
    case .deleted: return .refused(.unknown)
    case .suspended: return .refused(.unchanged)
    // Nobody knows whose the subject and the name in it are.
    case .altered: (user.codeDigest, user.displayName, user.subject) = (nil, nil, subject)
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

  /// The user under another display name, or none.
  package func renamed(to displayName: String?) -> RecordChange<Self, UserChangeOutcome> {
    switch state {
    case .deleted: return .refused(.unknown)
    case .altered: return .refused(.altered)
    case .active, .suspended: break
    }
    guard displayName != self.displayName else { return .refused(.unchanged) }
    var user = self
    user.displayName = displayName
    return .made(user)
  }

  /// The user, deleted; a row that was altered gets another subject.
  package func deleted(calling subject: String, at time: Int64) -> RecordChange<Self, UserChangeOutcome> {
    guard state != .deleted else { return .refused(.unchanged) }
    var user = self
    if state == .altered { user.subject = subject }
    (user.state, user.stateReason, user.stateSince) = (.deleted, "", time)
    (user.codeDigest, user.displayName) = (nil, nil)
    return .made(user)
  }
}
