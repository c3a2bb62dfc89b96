// Containers, from the invite to their end.
extension Model {
  mutating func takeOfContainer(_ step: Step) -> String {
    switch step {
    case .invite(let invite, let user):
      guard invites[invite] == nil else { return "exists" }
      guard users[user] != nil else { return "unknown" }
      for id in invites.keys where invites[id]?.user == user { invites[id]?.isOpen = false }
      invites[invite] = Invite(user: user)
      return "done"
    case .finish(let invite, let container, let user, let device):
      if isLocked(device, of: user) { return "device locked" }
      guard invites[invite]?.isOpen == true else { return "closed" }
      guard mayHaveItsKeys(container) else { return "keyTaken" }
      replace(by: container) { $0.activation == invite && $0.renews == nil }
      containers[container] = Container(user: user, device: device, activation: invite, renews: nil)
      makers[container] = Maker(user: user)
      return "staged"
    case .confirm(let id): return confirm(id)
    case .stage(let id, let renewed, let activation, let user, let device):
      if let present = containers[renewed], present.state == .active, present.isLocked, missing != .locksHold
      {
        return "container locked"
      }
      // A renewal proves the code secret; the lockout holds here too, so that renewals cannot be used to guess it.
      guard makers[renewed]?.failures ?? 0 < Traits.codeAttempts || missing == .wrongCodesLock else {
        return "locked"
      }
      guard containers[renewed]?.state == .active else { return "gone" }
      makers[renewed]?.failures = 0
      guard mayHaveItsKeys(id) else { return "keyTaken" }
      replace(by: id) { $0.renews == renewed }
      containers[id] = Container(user: user, device: device, activation: activation, renews: renewed)
      makers[id] = Maker(user: user)
      return "staged"
    case .revoke(let id):
      guard let found = containers[id] else { return "nothing" }
      guard found.state != .revoked else { return "done" }
      containers[id]?.state = .revoked
      makers[id] = nil
      // Not if another container on the device is in use, or if this one never was.
      if found.state == .active, !isInUse(found.device, of: found.user) {
        revokeUAF(on: found.device, of: found.user)
      }
      return "done"
    case .order(let order, let id, let kind):
      guard containers[id]?.state == .active else { return "not in use" }
      if kind == .unlock, isToBeWiped(id) { return "to be wiped" }
      if kind == .unlock, let found = containers[id], isLockedItself(found.device, of: found.user) {
        return "device locked"
      }
      guard orders[order] == nil else { return "exists" }
      orders[order] = Order(container: id, kind: kind)
      if let found = containers[id], kind != .unlock, !isLocked(found.device, of: found.user) {
        endRegistrations(on: found.device, of: found.user)
      }
      containers[id]?.isLocked = kind != .unlock
      return "added"
    case .receipt(let order, let id):
      guard let found = orders[order], found.container == id else { return "nothing" }
      guard !found.isReceived else { return "done" }
      orders[order]?.isReceived = true
      if found.kind == .wipe {
        if let wiped = containers[id], !wiped.hasEnded {
          containers[id]?.hasEnded = true
          containers[id]?.state = .revoked
          if wiped.state == .active { revokeUAF(on: wiped.device, of: wiped.user) }
        }
        makers[id] = nil
      }
      return "done"
    default: preconditionFailure("not about a container")
    }
  }

  /// Indicates whether no container that was in use and no other authenticator has these keys.
  func mayHaveItsKeys(_ container: String) -> Bool {
    holders[container] ?? .container == .container && containers[container]?.state ?? .pending == .pending
  }

  /// Removes matching containers that were never confirmed, which frees their keys, and assigns another's keys to this one.
  mutating func replace(by container: String, _ isReplaced: (Container) -> Bool) {
    for id in containers.filter({ $0.value.state == .pending && isReplaced($0.value) }).keys {
      containers[id] = nil
      makers[id] = nil
      holders[id] = nil
    }
    holders[container] = .container
  }

  mutating func confirm(_ id: String) -> String {
    guard let found = containers[id] else { return "gone" }
    switch found.state {
    case .active: return "already active"
    case .revoked: return "gone"
    case .pending: break
    }
    if let renewed = found.renews {
      guard containers[renewed]?.state == .active else { return "gone" }
    } else {
      if isLocked(found.device, of: found.user) { return "device locked" }
      guard invites[found.activation]?.isOpen == true else { return "gone" }
      invites[found.activation]?.isOpen = false
    }
    let others = containers.filter {
      $0.value.user == found.user && $0.value.device == found.device && $0.value.state == .active
    }
    for other in others.keys {
      containers[other]?.state = .revoked
      makers[other] = nil
      if other != found.renews { effects.insert("lost \(other)") }
    }
    containers[id]?.state = .active
    bind(found.device, of: found.user)
    if let renewed = found.renews {
      // A renewal ends no lock, and the new container inherits the orders that the device has not acknowledged.
      let isLocked = containers[renewed]?.isLocked
      containers[id]?.isLocked = isLocked ?? false
      for order in orders.keys where orders[order]?.container == renewed && orders[order]?.isReceived == false
      {
        orders[order]?.container = id
      }
    }
    return "activated"
  }

  /// Indicates whether a device, or the container in use on it, is locked, so that no authenticator on it may accept.
  func isLocked(_ device: UInt8, of user: String) -> Bool {
    missing != .locksHold
      && (isLockedItself(device, of: user)
        || containers.values.contains {
          $0.user == user && $0.device == device && $0.state == .active && $0.isLocked
        })
  }

  /// Indicates whether one of the user's containers or keys on an unlocked device could answer; true for a request without a
  /// user.
  ///
  /// With a time, only operations that have not expired by then count; without one, all open operations do.
  func canAnswer(_ id: String, _ request: Request, at time: Int64? = nil) -> Bool {
    guard let user = request.user, missing != .somebodyCanAnswer else { return true }
    // A UAF operation may name a request to an app, but does not answer it.
    if request.isApps { return hasOpenMessage(id, of: user) }
    if hasOpenContainer(user, for: id, request) { return true }
    return request.isClients
      ? hasWayToAnswer(id, request, of: user, at: time)
      : keys.contains { mayConfirm(id, request, by: $0, $1, of: user) }
  }

  /// Indicates whether a user can use a key.
  func isValid(_ key: Key, of user: String) -> Bool {
    key.user == user && key.state == .active && !(key.device.map { isLocked($0, of: user) } ?? false)
  }

  /// Indicates whether a user can confirm a request with a key that meets its demands.
  ///
  /// UAF answers carry no number.
  func mayConfirm(_ id: String, _ request: Request, by name: String, _ key: Key, of user: String) -> Bool {
    isValid(key, of: user) && !request.hasNumber && isEnough(.key(name, session: ""), for: id, request)
  }

  /// Indicates whether a user has an unlocked container in use that meets the demands of a request.
  func hasOpenContainer(_ user: String, for id: String, _ request: Request) -> Bool {
    containers.contains { name, container in
      container.user == user && container.state == .active && (!container.isLocked || missing == .locksHold)
        && isEnough(.container(name), for: id, request)
    }
  }

  func isInUse(_ device: UInt8, of user: String) -> Bool {
    containers.values.contains { $0.user == user && $0.device == device && $0.state == .active }
  }

  mutating func revokeUAF(on device: UInt8, of user: String) {
    endRegistrations(on: device, of: user)
    for (id, target) in targets where target.user == user && target.device == device {
      remove(target: id)
      effects.insert("lost \(id)")
    }
    for (id, key) in keys where key.user == user && key.device == device && key.state != .revoked {
      keys[id]?.state = .revoked
      effects.insert("lost \(id)")
    }
  }

  /// The device of a registration is known only from the answer, unless the operation was sent to a target.
  mutating func endRegistrations(on device: UInt8, of user: String) {
    for (id, session) in sessions where session.user == user && session.isRegistration {
      let target = session.target.flatMap { targets[$0] }
      guard session.target == nil || target == Target(user: user, device: device) else { continue }
      sessions[id]?.isOpen = false
    }
  }
}
