// How containers come into use, are renewed, and end.

extension ContainerRecord {
  /// Whether it is in use.
  package var isInUse: Bool { state == .active }

  /// Whether the server has locked it.
  package var isLocked: Bool { standing == .locked }

  /// Why nothing is bound to it; `nil` where something may be.
  package var refusal: StorageFailure? { isLocked ? .containerLocked : nil }

  /// Why it gets no new keys; `nil` where it may: those would make a device look as it should be that is not.
  package var refusalToRenew: StorageFailure? { standing == .open ? nil : .containerLocked }

  /// What it lets its device do; `nil` where it has no say: before it is confirmed, and after its end.
  package var boundStanding: BoundStanding? {
    switch state {
    case .active: BoundStanding(standing)
    // What a row says that was altered is not believed: its container may have been locked.
    case .altered: BoundStanding(.locked, altered: .containerAltered(user: user, container: id))
    case .pending, .revoked: nil
    }
  }
}

extension ActivationRecord {
  /// How a *finish* message ends: a closed activation refuses whatever the proof was, so that nothing is learnt from it.
  package func outcome(isProved: Bool, isKeyTaken: Bool, limit: Int, at time: Int64) -> ActivationOutcome {
    guard expires > time, failedAttempts < limit else { return .closed }
    // No MAC covers the count.
    guard isProved else { return .wrongProof(remaining: limit - max(0, failedAttempts) - 1) }
    return isKeyTaken ? .keyTaken : .staged
  }
}

extension ActivationOutcome {
  /// How it goes into the audit log: a wrong proof is counted by itself, and who knows the invite can repeat all else.
  package func entry(of activation: ID<ActivationRecord>) -> OutcomeEntry {
    if case .wrongProof = self { .always } else { .limited(.activation(activation)) }
  }
}

/// What decides whether a container becomes active.
package enum ContainerConfirmation: Hashable, Sendable {
  /// Nothing more.
  case settled(ConfirmationOutcome)
  /// The container that it renews: a renewal goes on from one in use, and takes over its lock.
  case renewal(of: ContainerID)
  /// Its activation, which has to be open, and its device, which must not be locked.
  case activation(ID<ActivationRecord>)

  /// What decides it of a container in its present state.
  package init(of container: ContainerRecord) {
    switch container.state {
    case .active: self = .settled(.alreadyActive)
    case .pending: self = container.renews.map { .renewal(of: $0) } ?? .activation(container.activation)
    case .revoked, .altered: self = .settled(.gone)
    }
  }
}

extension ConfirmationOutcome {
  /// How it goes into the audit log; a repeated confirmation changes nothing, and is no event.
  package func entry(of container: ContainerID) -> OutcomeEntry? {
    switch self {
    case .activated: .always
    case .alreadyActive: nil
    case .gone: .limited(.container(container))
    }
  }
}

extension RenewalOutcome {
  /// How a *finish* message of a renewal ends, after wrong codes and signatures in a row.
  ///
  /// It proves the signing key and the secret of codes. Who has one of them can set back one count, not both.
  package init(
    of container: ContainerRecord?, failed: (codes: Int64, signatures: Int64), isProved: Bool,
    isKeyTaken: Bool, limit: Int
  ) {
    let isInUse = container?.isInUse ?? false
    self =
      failed.codes >= limit || isInUse && failed.signatures >= limit
      ? .locked : !isInUse ? .gone : !isProved ? .notSigned : isKeyTaken ? .keyTaken : .staged
  }

  /// How it goes into the audit log: a device can be refused, and take the place of a successor that it never confirmed, without end.
  package func entry(of container: ContainerID, isReplacing: Bool) -> OutcomeEntry {
    self == .staged && !isReplacing ? .always : .limited(.container(container))
  }
}

/// What a signature does to the wrong ones in a row of a container.
package struct SignatureCount: Hashable, Sendable {
  /// How many there are then; `nil` where that stays.
  package let failed: Int64?
  /// Why nothing is to be decided; `nil` for a good signature.
  package let refusal: DecisionOutcome?

  /// Counts a signature; at the limit it makes no difference whether it is good, so that nothing is learnt from it.
  package init(after failed: Int64, isGood: Bool, limit: Int) {
    switch (failed < limit, isGood) {
    case (false, _): (self.failed, refusal) = (nil, .locked)
    case (true, true): (self.failed, refusal) = (failed > 0 ? 0 : nil, nil)
    case (true, false): (self.failed, refusal) = (failed + 1, .notSigned)
    }
  }
}

/// How a container ends, and what goes with it.
package struct ContainerEnd: Hashable, Sendable {
  /// What the protocol calls the end of a container that was deleted against its user's will.
  package static let wiped = "wiped"

  /// The container as it is to be written.
  package private(set) var container: ContainerRecord
  /// Whether how its device stands, and what waits for its user, have to be looked at.
  package let concernsDevice: Bool
  /// Whether what else the user has on the device ends with it.
  package let takesDevice: Bool
  /// The reason of a lock that stays on the device; `nil` for none.
  package private(set) var lock: String?

  /// The end that a device tells; `nil` where it has told one before.
  ///
  /// Where one ends that was locked, the device stays locked, unless an operator has ordered the wipe: otherwise who holds it would end the
  /// lock with the container.
  package init?(
    of container: ContainerRecord, as ended: String, _ state: AccountStateRecord,
    _ orders: [DeviceCommandRecord]
  ) {
    guard container.ended == nil else { return nil }
    self.container = container
    (self.container.state, self.container.ended) = (.revoked, ended)
    concernsDevice = container.isInUse
    takesDevice = container.isInUse && ended == Self.wiped
    let isOrdered = ended == Self.wiped && orders.contains { $0.action == .wipe && !$0.isAltered }
    if container.isLocked, !isOrdered { lock = state.reason }
  }

  /// The end that an operator orders; `nil` where it has ended before: what its device has got since is not of this container.
  ///
  /// What else is on the device stays where another container of the user's is in use there, which took the place of this one, and where
  /// this one never was in use.
  package init?(revoking container: ContainerRecord, among containers: [ContainerRecord]) {
    guard container.state != .revoked else { return nil }
    self.container = container
    self.container.state = .revoked
    concernsDevice = true
    let isReplaced = containers.contains {
      $0.isInUse && $0.id != container.id && $0.device == container.device
    }
    // Of one that was altered nobody knows whether it was in use: what it names goes, and is not left behind.
    takesDevice = [.active, .altered].contains(container.state) && !isReplaced
  }
}

extension CredentialRecord {
  /// What makes a container's codes, out of use, where the row of that was altered or removed; `nil` where it stays.
  ///
  /// Such a container does not say on which device it is, or that it was locked: the lock of any device of the user's holds for its codes.
  package func held(for container: ContainerRecord?) -> Self? {
    guard serial == nil, state == .active, container?.state ?? .altered == .altered else { return nil }
    var credential = self
    credential.state = .disabled
    return credential
  }
}
