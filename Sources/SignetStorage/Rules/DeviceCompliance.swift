// The compliance state of a device, and the changes that an operator may order.

/// The compliance state of a device after a change: the strictest of its own lock and the limits of its authenticators.
package struct DeviceSettlement: Hashable, Sendable {
  /// The device as it is to be written; an altered row is rewritten.
  package private(set) var device: DeviceRecord
  /// Indicates whether the row changes.
  package let isChanged: Bool
  /// The event of a new lock, if an altered authenticator and no order is the reason for it; `nil` otherwise.
  package let alteration: AuditEvent?
  /// The event for receivers of the outbox; `nil` if the compliance state does not change.
  package let news: OutboxEvent.Kind?

  /// Derives the compliance state of a device, with its new name and its own lock, from its previous row and the limits of its authenticators.
  package init(_ device: DeviceRecord, before: DeviceRecord, _ bound: [BoundCompliance]) {
    var settled = device
    settled.isAltered = false
    let complianceStates = bound.map(\.compliance)
    settled.compliance =
      device.isOrderedLocked || complianceStates.contains(.locked)
      ? .locked : complianceStates.contains(.stepUp) ? .stepUp : .open
    self.device = settled
    isChanged = settled != before
    let isNewLock = !device.isOrderedLocked && (before.isOrderedLocked || before.compliance != .locked)
    alteration = isChanged && isNewLock ? bound.compactMap(\.altered).first : nil
    guard before.isAltered || settled.compliance != before.compliance else {
      news = nil
      return
    }
    switch settled.compliance {
    case .open: news = .deviceUnlocked
    case .stepUp: news = .deviceRestricted
    case .locked: news = .deviceLocked
    }
  }

  /// Indicates whether nothing that is bound to the device is accepted.
  package var isLocked: Bool { device.compliance == .locked }

  /// Indicates whether pending operations on the device end, because it was not locked before.
  package var endsPendingOperations: Bool { news == .deviceLocked }
}

extension DeviceRecord {
  /// The reason why nothing that is bound to the device is accepted; `nil` if it can be.
  package var refusal: StorageFailure? {
    isAltered ? .altered(row: id.text, of: Self.table) : compliance == .locked ? .deviceLocked : nil
  }

  /// The reason why no order for a container on the device may unlock it; `nil` if one may.
  package var refusalToUnlock: StorageFailure? {
    isAltered ? .altered(row: id.text, of: Self.table) : isOrderedLocked ? .deviceLocked : nil
  }

  /// The device, locked by an operator.
  package func locked(because reason: String, at time: Int64) -> Self {
    var device = self
    device.isOrderedLocked = true
    device.orderedReason = reason
    device.ordered = time
    return device
  }

  /// The device after a change of an authenticator, with a lock that remains; an existing lock keeps its reason.
  ///
  /// `nil` if the row was altered, which is then not written: every check rejects it, and it must not prevent the
  /// authenticator's change.
  package func keeping(lock reason: String?, at time: Int64) -> Self? {
    guard !isAltered else { return nil }
    guard let reason, !isOrderedLocked else { return self }
    return locked(because: reason, at: time)
  }

  /// The device without the operator's lock, given the orders for its active containers.
  package func unlocked(after orders: [DeviceCommandRecord], at time: Int64) -> RecordChange<
    Self, DeviceLockOutcome
  > {
    if isAltered { return .refused(.altered) }
    if orders.contains(where: \.isOpenWipe) { return .refused(.toBeWiped) }
    var device = self
    device.isOrderedLocked = false
    device.orderedReason = ""
    device.ordered = time
    return .made(device)
  }

  /// The device with the name and the platform of a new binding, if they are not empty.
  package func described(by new: DeviceRecord) -> Self {
    var device = self
    if !new.name.isEmpty { device.name = new.name }
    if !new.platform.isEmpty { device.platform = new.platform }
    return device
  }
}

/// The removal of unused devices of a user: binding and unbinding under ever new ids must not fill the database.
package enum DeviceRetention {
  /// Returns `true` if the user has so many devices that unused ones are removed.
  package static func isCrowded(_ count: Int64) -> Bool { count > 64 }

  /// Returns the ids of the devices that no authenticator in any state names.
  package static func forgotten(
    among devices: [(id: ID<DeviceRecord>, installation: String)], boundTo installations: [String]
  ) -> [ID<DeviceRecord>] {
    let bound = Set(installations.map { Array($0.utf8) })
    return devices.filter { !bound.contains(Array($0.installation.utf8)) }.map(\.id)
  }
}
