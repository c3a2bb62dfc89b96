extension PushAuthMechanismRecord {
  /// Returns the mechanism after the registration of an app; `nil` if an app has registered, or the mechanism has expired.
  package func registered(named name: String, sealedDevice: [UInt8], at time: Int64)
    -> PushAuthMechanismRecord?
  {
    guard state == .open, expires > time else { return nil }
    var registered = self
    registered.mechanism = name
    registered.sealedDevice = sealedDevice
    registered.state = .active
    return registered
  }

  /// Returns the mechanism with a new push address; `nil` if it is not active, or if this is one of its last 64 changes.
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

  /// Returns `true` if it is active and the user's.
  package func isInUse(of user: UserID) -> Bool {
    state == .active && self.user == user
  }
}

extension CredentialRecord {
  /// The one-time-password credential of an app that has registered, as active; `nil` if it is not pending.
  ///
  /// An app that answered the challenge of the URI has also read the secret in it, so no first code is needed.
  package var registered: CredentialRecord? {
    guard state == .pending else { return nil }
    var registered = self
    registered.state = .active
    return registered
  }
}
