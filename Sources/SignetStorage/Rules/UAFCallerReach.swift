// What a caller of UAF may do, by what it is known by (UAFBasis).

extension UAFOperationRecord {
  /// Whether it has authenticated a user.
  package func hasAuthenticated(_ user: UserID) -> Bool { state == .succeeded && self.user == user }
}

/// Where a caller of UAF acts from.
package struct UAFCallerPlace: Hashable, Sendable {
  /// Who it acts for.
  package let user: UserID
  /// The devices of that user, as they call themselves; none where nobody said.
  package let devices: [String]

  /// The place of a caller that an operation has authenticated; `nil` where that is good for nothing any more.
  ///
  /// - Parameters:
  ///   - session: The operation, which has authenticated the user.
  ///   - user: The user.
  ///   - state: How the user stands; `nil` for one who is not there.
  ///   - found: The keys that the operation was done with, as ``UAFCredentialRecord/inUse(_:by:)`` has them.
  ///   - suffices: Whether the keys suffice.
  package init?(
    by session: UAFOperationRecord, of user: UserID, _ state: UserRecord.State?,
    _ found: [UAFCredentialRecord?],
    suffices: (UAFOperationRecord, [UAFCredentialRecord]) -> Bool
  ) {
    guard state == .active, let keys = UAFCredentialRecord.inUse(found, by: user), suffices(session, keys)
    else { return nil }
    (self.user, devices) = (user, keys.compactMap(\.device))
  }

  /// The place of a target whose device has signed the request.
  package init(of target: UAFTargetRecord) {
    (user, devices) = (target.user, [target.device].compactMap(\.self))
  }
}

/// What a caller of UAF may do.
package enum UAFCallerReach: Hashable, Sendable {
  /// Nothing: what it is known by holds no more.
  case nothing
  /// Whatever it asks for.
  case everything
  /// Only remove what is on these devices: they are locked, and it acts from them.
  case removals(on: Set<String>)

  /// The reach of a caller.
  ///
  /// - Parameter lockedDevices: The locked devices that it acts from; `nil` where what it is known by holds no more.
  package init(lockedDevices: Set<String>?) {
    self = lockedDevices.map { $0.isEmpty ? .everything : .removals(on: $0) } ?? .nothing
  }

  /// Why it adds nothing; `nil` where it may.
  package var refusalToAdd: StorageFailure? {
    switch self {
    case .nothing: .unauthorized
    case .everything: nil
    case .removals: .deviceLocked
    }
  }

  /// Why it does not remove a target on a device, or on none that is known; `nil` where it may.
  package func refusalToRemove(targetOn device: String?) -> StorageFailure? {
    guard case .removals(let devices) = self else { return refusalToAdd }
    return device.map(devices.contains) ?? false ? nil : .deviceLocked
  }

  /// Why it does not remove keys; `nil` where it may.
  ///
  /// - Parameter selected: Each selection, and the key that it names: `nil` where there is none, or it can name several.
  /// - Returns: The refusal. From a locked device each has to name one key, of that device; a key that is not there is on no other.
  package func refusalToRemove(
    _ selected: [(selection: UAFKeySelection, key: UAFCredentialRecord?)]
  ) -> StorageFailure? {
    guard case .removals(let devices) = self else { return refusalToAdd }
    let isConfined = selected.allSatisfy { selection, key in
      guard selection.aaid != nil, selection.keyID != nil else { return false }
      return key?.device.map(devices.contains) ?? (key == nil)
    }
    return isConfined ? nil : .deviceLocked
  }
}
