extension UserRecord {
  /// The reason why nothing of the user is accepted; `nil` for an active user.
  package var refusal: StorageFailure? {
    switch state {
    case .active: nil
    case .suspended, .deleted: .userNotActive(state)
    case .altered: .altered(row: id.text, of: "users")
    }
  }

  /// Returns the user, suspended; if the row was altered, it loses the display name and the user code, and gets a new subject.
  package func suspended(
    because reason: String, calling subject: String, at time: Int64
  ) -> RecordChange<Self, UserChangeOutcome> {
    var user = self
    switch state {
    case .deleted: return .refused(.unknown)
    case .suspended: return .refused(.unchanged)
    // The subject and the name in it may be those of another user.
    case .altered: (user.codeDigest, user.displayName, user.subject) = (nil, nil, subject)
    case .active: break
    }
    user.state = .suspended
    user.stateReason = reason
    user.stateSince = time
    return .made(user)
  }

  /// Returns the user, active again.
  package func resumed(at time: Int64) -> RecordChange<Self, UserChangeOutcome> {
    switch state {
    case .deleted: return .refused(.unknown)
    case .active: return .refused(.unchanged)
    case .altered: return .refused(.altered)
    case .suspended:
      var user = self
      user.state = .active
      user.stateReason = ""
      user.stateSince = time
      return .made(user)
    }
  }

  /// Returns the user with another display name, or none.
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

  /// Returns the user, deleted; if the row was altered, it gets a new subject.
  package func deleted(calling subject: String, at time: Int64) -> RecordChange<Self, UserChangeOutcome> {
    guard state != .deleted else { return .refused(.unchanged) }
    var user = self
    if state == .altered { user.subject = subject }
    user.state = .deleted
    user.stateReason = ""
    user.stateSince = time
    (user.codeDigest, user.displayName) = (nil, nil)
    return .made(user)
  }
}
