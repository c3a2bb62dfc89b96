// Targets of UAF tokens, and the tokens.
extension Model {
  /// The lifetime of a token, in seconds.
  package static let tokenLifetime: Int64 = 30

  mutating func takeOfTarget(_ step: Step, at time: Int64) -> String {
    switch step {
    case .addTarget(let target, let user, let device):
      if let device, isLocked(device, of: user) { return "device locked" }
      guard targets[target] == nil else { return "exists" }
      guard users[user] != nil else { return "unknown" }
      targets[target] = Target(user: user, device: device)
      if let device { bind(device, of: user) }
      return "done"
    case .removeTarget(let target):
      guard targets[target] != nil else { return "nothing" }
      remove(target: target)
      return "done"
    case .removeUAF(let user, let device):
      let there = targets.filter { $0.value == Target(user: user, device: device) }.keys
      // Revoked keys stay, so that none of them can be registered again.
      let lost = keys.filter {
        $0.value.user == user && $0.value.device == device && $0.value.state != .revoked
      }.keys
      for target in there { remove(target: target) }
      for key in lost { keys[key] = nil }
      return there.isEmpty && lost.isEmpty ? "nothing" : "done"
    case .token(let session, let target, let user, let isRegistration, let request, let party):
      if isOnLockedDevice(target) { return "device locked" }
      return begin(
        session,
        Session(
          user: user, isRegistration: isRegistration, request: request, party: party, isCounted: true,
          target: target, tokenExpires: time + Self.tokenLifetime, expires: time + Self.sessionLifetime,
          policy: Traits.policy(of: session)),
        at: time)
    case .redeem(let session):
      guard let found = sessions[session], found.isOpen, let tokenEnd = found.tokenExpires,
        tokenEnd > time || missing == .tokensExpire, let target = found.target
      else { return "refused" }
      if let request = found.request, requests[request]?.state(at: time) == .expired {
        self.end(request, .expired)
        return "refused"
      }
      if isOnLockedDevice(target) { return "device locked" }
      guard targets[target] != nil else { return "refused" }
      sessions[session]?.tokenExpires = nil
      sessions[session]?.expires = time + Self.sessionLifetime
      return "done"
    case .refuse(let session):
      guard sessions[session]?.isOpen == true else { return "nothing" }
      sessions[session]?.isOpen = false
      return "done"
    default: preconditionFailure("not about a target")
    }
  }

  /// Removes a target and closes the operations that were sent to it.
  mutating func remove(target: String) {
    targets[target] = nil
    for id in sessions.keys where sessions[id]?.target == target { sessions[id]?.isOpen = false }
  }

  private func isOnLockedDevice(_ target: String) -> Bool {
    guard let found = targets[target], let device = found.device else { return false }
    return isLocked(device, of: found.user)
  }

  /// Indicates whether the user's target can receive a message.
  func isReachable(_ target: String, of user: String) -> Bool {
    targets[target]?.user == user && !isOnLockedDevice(target)
  }

  /// Indicates whether one of the user's keys may be reachable at a target; a target without a device may be anywhere.
  func mayAnswer(_ id: String, _ request: Request, at target: String, of user: String) -> Bool {
    guard isReachable(target, of: user) else { return false }
    let device = targets[target]?.device
    return keys.contains { name, key in
      mayConfirm(id, request, by: name, key, of: user)
        && (device == nil || key.device == nil || key.device == device)
    }
  }
}
