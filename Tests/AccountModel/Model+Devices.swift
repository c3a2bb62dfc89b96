// Steps that concern a device and everything on it.
extension Model {
  mutating func takeOfDevice(_ step: Step) -> String {
    switch step {
    case .end(let id, let isWiped):
      guard let found = containers[id], !found.hasEnded else { return "nothing" }
      containers[id]?.hasEnded = true
      revoke(id)
      guard found.state == .active else { return "done" }
      if isWiped { revokeUAF(on: found.device, of: found.user) }
      // Deleting the container ends no lock, unless the server ordered the deletion.
      let isOrdered = orders.values.contains { $0.container == id && $0.kind == .wipe }
      if found.isLocked, !(isWiped && isOrdered) {
        devices[Device(user: found.user, number: found.device)] = true
      }
      return "done"
    case .lockDevice(let user, let number, let order):
      let device = Device(user: user, number: number)
      guard devices[device] != nil else { return "unknown" }
      let bound = active(on: device)
      guard bound.isEmpty || orders[order] == nil else { return "exists" }
      if !isLocked(number, of: user) { endRegistrations(on: number, of: user) }
      devices[device] = true
      for container in bound { give(order, .lock, to: container) }
      return "done"
    case .unlockDevice(let user, let number, let order):
      let device = Device(user: user, number: number)
      guard devices[device] != nil else { return "unknown" }
      let bound = active(on: device)
      if bound.contains(where: isToBeWiped) { return "to be wiped" }
      let locked = bound.filter { containers[$0]?.isLocked == true }
      guard locked.isEmpty || orders[order] == nil else { return "exists" }
      devices[device] = false
      for container in locked { give(order, .unlock, to: container) }
      return "done"
    case .revokeDevice(let user, let number):
      guard devices[Device(user: user, number: number)] != nil else { return "unknown" }
      for (id, found) in containers
      where found.user == user && found.device == number && found.state != .revoked {
        revoke(id)
        effects.insert("lost \(id)")
      }
      revokeUAF(on: number, of: user)
      return "done"
    default: preconditionFailure("not about a device")
    }
  }

  /// Records that an authenticator is bound to a device.
  mutating func bind(_ number: UInt8, of user: String) {
    let device = Device(user: user, number: number)
    devices[device] = devices[device] ?? false
  }

  /// Indicates whether a device itself is locked, independently of its containers.
  func isLockedItself(_ number: UInt8, of user: String) -> Bool {
    missing != .deviceLocksHold && devices[Device(user: user, number: number)] == true
  }

  /// Indicates whether the device has not yet acknowledged an order to delete the container.
  func isToBeWiped(_ container: String) -> Bool {
    orders.values.contains { $0.container == container && $0.kind == .wipe && !$0.isReceived }
  }

  private func active(on device: Device) -> [String] {
    containers.filter {
      $0.value.user == device.user && $0.value.device == device.number && $0.value.state == .active
    }.map(\.key)
  }

  private mutating func revoke(_ container: String) {
    containers[container]?.state = .revoked
    makers[container] = nil
  }

  private mutating func give(_ order: String, _ kind: Step.OrderKind, to container: String) {
    orders[order] = Order(container: container, kind: kind)
    containers[container]?.isLocked = kind == .lock
    effects.insert("ordered \(order)")
  }
}
