// The states of a UAF key, and their changes.
extension UAFCredentialRecord {
  /// Returns `true` if a use names this key.
  package func isNamed(in use: CounterUpdate) -> Bool { (aaid, keyID) == (use.aaid, use.keyID) }

  /// Returns `true` if it is the user's and active.
  package func isInUse(by user: UserID) -> Bool {
    state == .active && self.user == user
  }

  /// Returns the keys of an operation; `nil` unless there is at least one, and each exists, is the user's and is active.
  package static func inUse(_ found: [Self?], by user: UserID) -> [Self]? {
    let keys = found.compactMap { $0.flatMap { $0.isInUse(by: user) ? $0 : nil } }
    return keys.isEmpty || keys.count < found.count ? nil : keys
  }

  /// Returns `true` if its device allows its use; a key without a device can be used anywhere.
  package func isUsable(on device: DeviceRecord?) -> Bool {
    self.device == nil || device.map { $0.refusal == nil } ?? false
  }

  /// Checks the counter of a use and records it: the counter must grow, or both must be 0; otherwise the key was copied.
  ///
  /// The last use of a key that does not count is not recorded, because its row would be written for that alone.
  ///
  /// - Returns: The reason for the rejection; `nil` if the use is accepted.
  package mutating func count(_ use: CounterUpdate, of user: UserID, at time: Int64) -> UAFOutcome? {
    guard state != .altered else { return .altered(use) }
    guard isInUse(by: user) else { return .keyUnknown }
    guard use.signCounter > signCounter || use.signCounter == 0 && signCounter == 0 else {
      state = .quarantined
      return .clonedAuthenticator(use)
    }
    if use.signCounter > signCounter { (signCounter, lastUsed) = (use.signCounter, time) }
    return nil
  }

  /// The key released from quarantine, with its counter; `nil` for a key that is not in quarantine.
  package var released: UAFCredentialRecord? { state == .quarantined ? with(.active) : nil }

  /// The key revoked; `nil` for a key that is revoked, and for an altered one.
  ///
  /// An altered row is never accepted. Writing it with a valid MAC would make it acceptable.
  package var revoked: UAFCredentialRecord? { state == .revoked || state == .altered ? nil : with(.revoked) }

  private func with(_ state: State) -> UAFCredentialRecord {
    var changed = self
    changed.state = state
    return changed
  }
}

/// The rule for the keys of a registration.
package enum UAFRegistrationRule {
  /// Returns the reason why they may not be added; `nil` if they may.
  ///
  /// - Parameters:
  ///   - new: The keys, of one user.
  ///   - isTaken: True if a key with the same id, or the same public key, exists already.
  ///   - present: The number of the user's keys that are not revoked.
  ///   - limit: The maximum number of keys of a user.
  /// - Returns: The outcome of the operation.
  package static func refusal(
    of new: [NewUAFCredential], isTaken: Bool, beside present: Int, limit: Int
  ) -> UAFOutcome? {
    guard !isTaken, Set(new.map(\.digest)).count == new.count else { return .keyExists }
    return present + new.count <= limit ? nil : .tooMany
  }
}
