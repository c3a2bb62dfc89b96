/// The authentication of a UAF caller: evaluated when the caller is authenticated, and again in the step that the caller requests.
package enum UAFBasis: Sendable {
  /// An operation that has authenticated an active user; all its keys must be the user's and active.
  ///
  /// The closure returns `true` if the keys suffice, given the operation and the keys as they are in the step. It may run
  /// again if the step is retried.
  case operation(
    ID<UAFOperationRecord>, of: UserID,
    suffices: @Sendable (UAFOperationRecord, [UAFCredentialRecord]) -> Bool)
  /// The target with this id, whose device has signed the request.
  case target(ID<UAFTargetRecord>)
}

// The reach of a UAF caller, by its authentication (UAFBasis).

extension UAFOperationRecord {
  /// Returns `true` if it has authenticated the user.
  package func hasAuthenticated(_ user: UserID) -> Bool { state == .succeeded && self.user == user }
}

/// The user and the devices of a UAF caller.
package struct UAFCallerIdentity: Hashable, Sendable {
  /// The user for whom it acts.
  package let user: UserID
  /// The installation ids of the devices from which it acts; empty if they are unknown.
  package let devices: [String]

  /// Creates the identity of a caller that an operation has authenticated; `nil` if that is no longer valid.
  ///
  /// - Parameters:
  ///   - session: The operation, which has authenticated the user.
  ///   - user: The user.
  ///   - state: The state of the user; `nil` for an unknown user.
  ///   - found: The present records of the operation's keys, for ``UAFCredentialRecord/inUse(_:by:)``.
  ///   - suffices: Returns `true` if the keys suffice.
  package init?(
    by session: UAFOperationRecord, of user: UserID, _ state: UserRecord.State?,
    _ found: [UAFCredentialRecord?],
    suffices: (UAFOperationRecord, [UAFCredentialRecord]) -> Bool
  ) {
    guard state == .active, let keys = UAFCredentialRecord.inUse(found, by: user), suffices(session, keys)
    else { return nil }
    (self.user, devices) = (user, keys.compactMap(\.device))
  }

  /// Creates the identity of a target whose device has signed the request.
  package init(of target: UAFTargetRecord) {
    (user, devices) = (target.user, [target.device].compactMap(\.self))
  }
}

/// The operations that a UAF caller may request.
package enum UAFCallerReach: Hashable, Sendable {
  /// None: its authentication is no longer valid.
  case nothing
  /// All.
  case everything
  /// Only removals on these devices, which are locked, and from which it acts.
  case removals(on: Set<String>)

  /// Makes the reach of a caller.
  ///
  /// - Parameter lockedDevices: The locked devices from which it acts; `nil` if its authentication is no longer valid.
  package init(lockedDevices: Set<String>?) {
    self = lockedDevices.map { $0.isEmpty ? .everything : .removals(on: $0) } ?? .nothing
  }

  /// The reason why it may add nothing; `nil` if it may.
  package var refusalToAdd: StorageFailure? {
    switch self {
    case .nothing: .unauthorized
    case .everything: nil
    case .removals: .deviceLocked
    }
  }

  /// Returns the reason why it may not remove a target on a device; `nil` if it may.
  ///
  /// `nil` as the device is an unknown one.
  package func refusalToRemove(targetOn device: String?) -> StorageFailure? {
    guard case .removals(let devices) = self else { return refusalToAdd }
    return device.map(devices.contains) ?? false ? nil : .deviceLocked
  }

  /// Returns the reason why it may not remove keys; `nil` if it may.
  ///
  /// - Parameter selected: Each selection, and the key that it names: `nil` if there is none, or the selection can match several.
  /// - Returns: The reason. From a locked device each selection has to name one key, of that device. A selection whose key
  ///   does not exist is allowed.
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
