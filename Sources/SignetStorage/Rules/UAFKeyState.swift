// Whether a UAF key may be used, and what changes that.
extension UAFCredentialRecord {
  /// Whether a use is of this key.
  package func isNamed(in use: CounterUpdate) -> Bool { (aaid, keyID) == (use.aaid, use.keyID) }

  /// Whether it is a user's and may be used.
  package func isInUse(by user: UserID) -> Bool {
    state == .active && self.user == user
  }

  /// The keys that an operation was done with, as they are found under their names; `nil` unless there are any, and each is there, is the
  /// user's, and may be used.
  package static func inUse(_ found: [Self?], by user: UserID) -> [Self]? {
    let keys = found.compactMap { $0.flatMap { $0.isInUse(by: user) ? $0 : nil } }
    return keys.isEmpty || keys.count < found.count ? nil : keys
  }

  /// Whether its device, as the server knows it, lets it be used; one that did not say where it is may be used anywhere.
  package func isUsable(on device: DeviceRecord?) -> Bool {
    self.device == nil || device.map { $0.refusal == nil } ?? false
  }

  /// Holds a use against it, and notes that: a counter grows, or both are 0; otherwise there are two of the key.
  ///
  /// The use of a key that does not count is not noted: its row would be written for that alone.
  ///
  /// - Returns: Why it may not be used so; `nil` where it may.
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

  /// The key out of quarantine, with its counter; `nil` for one that is not there.
  package var released: UAFCredentialRecord? { state == .quarantined ? with(.active) : nil }

  /// The key revoked; `nil` for one that is, and for an altered one.
  ///
  /// An altered row is never accepted. Writing it with a valid MAC would make it acceptable.
  package var revoked: UAFCredentialRecord? { state == .revoked || state == .altered ? nil : with(.revoked) }

  private func with(_ state: State) -> UAFCredentialRecord {
    var changed = self
    changed.state = state
    return changed
  }
}

/// Whether the keys of a registration may be added.
package enum UAFRegistration {
  /// Why they may not; `nil` where they may.
  ///
  /// - Parameters:
  ///   - new: The keys, of one user.
  ///   - isTaken: Whether there is one of their names, or of their public keys, already.
  ///   - present: How many the user has that are not revoked.
  ///   - limit: How many one may have.
  /// - Returns: The outcome of the operation.
  package static func refusal(
    of new: [NewUAFCredential], isTaken: Bool, beside present: Int, limit: Int
  ) -> UAFOutcome? {
    guard !isTaken, Set(new.map(\.digest)).count == new.count else { return .keyExists }
    return present + new.count <= limit ? nil : .tooMany
  }
}
