extension PushAuthMechanismRecord {
  /// The mechanism as an app registers it; `nil` where one has, or its time is over.
  package func registered(named name: String, sealedDevice: [UInt8], at time: Int64)
    -> PushAuthMechanismRecord?
  {
    guard state == .open, expires > time else { return nil }
    var registered = self
    (registered.mechanism, registered.sealedDevice, registered.state) = (name, sealedDevice, .active)
    return registered
  }

  /// The mechanism when its pushes go elsewhere; `nil` where it is not active, or this is one of its last 64 changes.
  package func moved(to sealedDevice: [UInt8], by digest: [UInt8]) -> PushAuthMechanismRecord? {
    let isSeen = stride(from: 0, to: seenChanges.count, by: digest.count).contains {
      seenChanges[$0...].prefix(digest.count).elementsEqual(digest)
    }
    guard state == .active, !isSeen else { return nil }
    var moved = self
    moved.sealedDevice = sealedDevice
    moved.seenChanges = Array((seenChanges + digest).suffix(64 * digest.count))
    return moved
  }

  /// Whether it may be asked, or has answered, for a user.
  package func isInUse(of user: UserID) -> Bool {
    state == .active && self.user == user
  }
}

extension CredentialRecord {
  /// What makes the codes of an app that has registered: who has answered the challenge of the URI has read the secret in it; `nil` where
  /// that has changed since.
  package var registered: CredentialRecord? {
    guard state == .pending else { return nil }
    var registered = self
    registered.state = .active
    return registered
  }
}
