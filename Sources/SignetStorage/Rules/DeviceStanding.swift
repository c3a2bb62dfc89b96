// How a device stands, and what an operator may order.

/// How a device stands after something befell what is bound to it: the gravest of its own lock and of what its authenticators let it do.
package struct DeviceSettlement: Hashable, Sendable {
  /// The device as it is to be written; one whose row was altered is written anew.
  package private(set) var device: DeviceRecord
  /// Whether its row is another one then.
  package let isChanged: Bool
  /// The event of a new lock, if an altered authenticator and no order is the reason for it; `nil` otherwise.
  package let alteration: AuditEvent?
  /// What receivers of the outbox are told; `nil` where it stands as before.
  package let news: OutboxEvent.Kind?

  /// Settles a device, with what becomes of its name and its own lock, after its row and what its authenticators let it do.
  package init(_ device: DeviceRecord, before: DeviceRecord, _ bound: [BoundStanding]) {
    var settled = device
    settled.isAltered = false
    let standings = bound.map(\.standing)
    settled.standing =
      device.isOrderedLocked || standings.contains(.locked)
      ? .locked : standings.contains(.stepUp) ? .stepUp : .open
    self.device = settled
    isChanged = settled != before
    let isNewLock = !device.isOrderedLocked && (before.isOrderedLocked || before.standing != .locked)
    alteration = isChanged && isNewLock ? bound.compactMap(\.altered).first : nil
    guard before.isAltered || settled.standing != before.standing else {
      news = nil
      return
    }
    switch settled.standing {
    case .open: news = .deviceUnlocked
    case .stepUp: news = .deviceRestricted
    case .locked: news = .deviceLocked
    }
  }

  /// Whether nothing of what is bound to the device is accepted.
  package var isLocked: Bool { device.standing == .locked }

  /// Whether what is under way on the device ends: it was not locked before.
  package var endsWhatIsUnderWay: Bool { news == .deviceLocked }
}

extension DeviceRecord {
  /// Why nothing of what is bound to the device is accepted; `nil` where it may be.
  package var refusal: StorageFailure? {
    isAltered ? .altered(row: id.text, of: "devices") : standing == .locked ? .deviceLocked : nil
  }

  /// Why no container on the device is unlocked by an order of its own; `nil` where it may be.
  package var refusalToUnlock: StorageFailure? {
    isAltered ? .altered(row: id.text, of: "devices") : isOrderedLocked ? .deviceLocked : nil
  }

  /// The device, locked by an operator.
  package func locked(because reason: String, at time: Int64) -> Self {
    var device = self
    (device.isOrderedLocked, device.orderedReason, device.ordered) = (true, reason, time)
    return device
  }

  /// The device after something befell what is bound to it, with a lock that stays; one that it has keeps its reason.
  ///
  /// It is `nil` where the row was altered, and stays as it is: the gate refuses it, and whatever befell its authenticator must not be undone
  /// by it.
  package func keeping(lock reason: String?, at time: Int64) -> Self? {
    guard !isAltered else { return nil }
    guard let reason, !isOrderedLocked else { return self }
    return locked(because: reason, at: time)
  }

  /// The device without the lock that an operator has set, after what was ordered of its containers in use.
  package func unlocked(after orders: [DeviceCommandRecord], at time: Int64) -> RecordChange<
    Self, DeviceLockOutcome
  > {
    if isAltered { return .refused(.altered) }
    if orders.contains(where: \.isOpenWipe) { return .refused(.toBeWiped) }
    var device = self
    (device.isOrderedLocked, device.orderedReason, device.ordered) = (false, "", time)
    return .made(device)
  }

  /// The device as what is bound to it now describes it: a name or a platform replaces the one before where it says something.
  package func described(by new: DeviceRecord) -> Self {
    var device = self
    if !new.name.isEmpty { device.name = new.name }
    if !new.platform.isEmpty { device.platform = new.platform }
    return device
  }
}

/// Which devices of a user are forgotten: what binds and unbinds under ever new names must not fill the database.
package enum DeviceRetention {
  /// Whether there are so many that those are forgotten that nothing is bound to.
  package static func isCrowded(_ count: Int64) -> Bool { count > 64 }

  /// The ids of those that no authenticator names, whatever its state.
  package static func forgotten(
    among devices: [(id: ID<DeviceRecord>, installation: String)], boundTo installations: [String]
  ) -> [ID<DeviceRecord>] {
    let bound = Set(installations.map { Array($0.utf8) })
    return devices.filter { !bound.contains(Array($0.installation.utf8)) }.map(\.id)
  }
}
