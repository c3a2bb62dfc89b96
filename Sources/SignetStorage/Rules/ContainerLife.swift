// Rules for the activation, the renewal and the end of containers.

extension ContainerRecord {
  /// Indicates whether it is active.
  package var isInUse: Bool { state == .active }

  /// Indicates whether the server has locked it.
  package var isLocked: Bool { compliance == .locked }

  /// The reason why nothing can be bound to it; `nil` if something can be.
  package var refusal: StorageFailure? { isLocked ? .containerLocked : nil }

  /// The reason why it gets no new keys; `nil` if it may.
  ///
  /// New keys would make a restricted device appear unrestricted.
  package var refusalToRenew: StorageFailure? { compliance == .open ? nil : .containerLocked }

  /// The compliance state that it allows for its device; `nil` if it has no effect: before it is confirmed, and after its end.
  package var boundCompliance: BoundCompliance? {
    switch state {
    case .active: BoundCompliance(compliance)
    // An altered row is not trusted: its container may have been locked.
    case .altered: BoundCompliance(.locked, altered: .containerAltered(user: user, container: id))
    case .pending, .revoked: nil
    }
  }

  /// Returns `true` if the container, or another active one of its device, is active and not locked, so that its answers remain valid.
  package func isProofInUse(among containers: [ContainerRecord]) -> Bool {
    containers.contains { $0.device == device && $0.isInUse && !$0.isLocked }
  }

  /// Returns `true` if it may have one more push target.
  package func hasRoomForTarget(beside count: Int64, limit: Int) -> Bool { state == .active && count < limit }
}

extension ActivationRecord {
  /// Returns the outcome of a *finish* message; a closed activation rejects any proof, so that an attacker learns nothing.
  package func outcome(isProved: Bool, isKeyTaken: Bool, limit: Int, at time: Int64) -> ActivationOutcome {
    guard expires > time, failedAttempts < limit else { return .closed }
    // The MAC does not cover the count.
    guard isProved else { return .wrongProof(remaining: limit - max(0, failedAttempts) - 1) }
    return isKeyTaken ? .keyTaken : .staged
  }
}

extension ActivationOutcome {
  /// Returns the rule for its audit entry: a wrong proof has its own limit, and a caller with the invite can repeat everything else.
  package func entry(of activation: ID<ActivationRecord>) -> OutcomeEntry {
    if case .wrongProof = self { .always } else { .limited(.activation(activation)) }
  }
}

/// The condition under which a container becomes active.
package enum ContainerConfirmation: Hashable, Sendable {
  /// None: the outcome is known.
  case settled(ConfirmationOutcome)
  /// The container that it renews, which must be active, and whose lock is transferred.
  case renewal(of: ContainerID)
  /// Its activation, which must be open, and its device, which must not be locked.
  case activation(ID<ActivationRecord>)

  /// Makes the condition for a container in its present state.
  package init(of container: ContainerRecord) {
    switch container.state {
    case .active: self = .settled(.alreadyActive)
    case .pending: self = container.renews.map { .renewal(of: $0) } ?? .activation(container.activation)
    case .revoked, .altered: self = .settled(.gone)
    }
  }
}

extension ConfirmationOutcome {
  /// Returns the rule for its audit entry; a repeated confirmation changes nothing and makes no event.
  package func entry(of container: ContainerID) -> OutcomeEntry? {
    switch self {
    case .activated: .always
    case .alreadyActive: nil
    case .gone: .limited(.container(container))
    }
  }
}

extension RenewalOutcome {
  /// Makes the outcome of a *finish* message of a renewal, after counts of consecutive wrong codes and signatures.
  ///
  /// The message proves the signing key and the one-time-password secret. An attacker with one of them can reset only one of
  /// the counts.
  package init(
    of container: ContainerRecord?, failed: (codes: Int64, signatures: Int64), isProved: Bool,
    isKeyTaken: Bool, limit: Int
  ) {
    let isInUse = container?.isInUse ?? false
    self =
      failed.codes >= limit || isInUse && failed.signatures >= limit
      ? .locked : !isInUse ? .gone : !isProved ? .notSigned : isKeyTaken ? .keyTaken : .staged
  }

  /// Returns the rule for its audit entry: a device can be rejected, or replace a successor that it never confirmed, without limit.
  package func entry(of container: ContainerID, isReplacing: Bool) -> OutcomeEntry {
    self == .staged && !isReplacing ? .always : .limited(.container(container))
  }
}

/// The effect of a signature on a container's count of consecutive wrong signatures.
package struct SignatureCount: Hashable, Sendable {
  /// The new count; `nil` if it does not change.
  package let failed: Int64?
  /// The reason to reject; `nil` for a right signature.
  package let refusal: DecisionOutcome?

  /// Counts a signature; at the limit a right one is rejected too, so that an attacker learns nothing.
  package init(after failed: Int64, isValid: Bool, limit: Int) {
    switch (failed < limit, isValid) {
    case (false, _): (self.failed, refusal) = (nil, .locked)
    case (true, true): (self.failed, refusal) = (failed > 0 ? 0 : nil, nil)
    case (true, false): (self.failed, refusal) = (failed + 1, .notSigned)
    }
  }
}

/// The end of a container, with its effects.
package struct ContainerEnd: Hashable, Sendable {
  /// The protocol's word for the end of a container that was deleted without its user's consent.
  package static let wiped = "wiped"

  /// The container as it is to be written.
  package private(set) var container: ContainerRecord
  /// Indicates whether the compliance state of its device, and the pending requests to its user, must be checked.
  package let concernsDevice: Bool
  /// Indicates whether everything else that the user has on the device ends with it.
  package let revokesDevice: Bool
  /// The reason of a lock that remains on the device; `nil` for none.
  package private(set) var lock: String?

  /// Makes the end that a device reports; `nil` if it has reported one before.
  ///
  /// If the container was locked, the device stays locked, unless an operator has ordered the wipe. Otherwise a holder of
  /// the device could end the lock by ending the container.
  package init?(
    of container: ContainerRecord, as ended: String, _ state: AccountStateRecord,
    _ orders: [DeviceCommandRecord]
  ) {
    guard container.ended == nil else { return nil }
    self.container = container
    (self.container.state, self.container.ended) = (.revoked, ended)
    concernsDevice = container.isInUse
    revokesDevice = container.isInUse && ended == Self.wiped
    let isOrdered = ended == Self.wiped && orders.contains { $0.action == .wipe && !$0.isAltered }
    if container.isLocked, !isOrdered { lock = state.reason }
  }

  /// Makes the end that an operator orders; `nil` if the container has ended before, because what its device got later
  /// belongs to another container.
  ///
  /// The rest of the device is kept in two cases: another container of the user's is active there and has replaced this one,
  /// or this one was never active.
  package init?(revoking container: ContainerRecord, among containers: [ContainerRecord]) {
    guard container.state != .revoked else { return nil }
    self.container = container
    self.container.state = .revoked
    concernsDevice = true
    let isReplaced = containers.contains {
      $0.isInUse && $0.id != container.id && $0.device == container.device
    }
    // A container whose row was altered may have been active, so everything on the device that it names is revoked.
    revokesDevice = [.active, .altered].contains(container.state) && !isReplaced
  }
}

extension CredentialRecord {
  /// Returns the container's one-time-password credential, disabled, if the container's row was altered or removed; `nil` otherwise.
  ///
  /// The device and the lock of such a container are unknown, so a lock of any of the user's devices applies to its codes.
  package func held(for container: ContainerRecord?) -> Self? {
    guard serial == nil, state == .active, container?.state ?? .altered == .altered else { return nil }
    var credential = self
    credential.state = .disabled
    return credential
  }
}

extension ContainerRecord {
  /// Determines if a key of a new container belongs to another authenticator, of any kind and state, or two of its keys are the same.
  ///
  /// - Parameters:
  ///   - registered: Those of its keys that are in the register.
  ///   - pending: The ids of the pending containers that it replaces, whose keys are free.
  /// - Returns: `true` if a key is in use.
  package func hasTakenKey(among registered: [RegisteredPublicKey], replacing pending: [ContainerID]) -> Bool
  {
    let keys = keyDigests
    return Set(keys).count < keys.count
      || registered.contains { key in
        guard case .held(let holder) = key, holder.kind == .container else { return true }
        return !pending.contains(ID(unchecked: holder.authenticator))
      }
  }
}
