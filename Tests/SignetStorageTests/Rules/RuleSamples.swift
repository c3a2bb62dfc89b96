import SignetStorage

extension ContainerRecord {
  /// A container of alice's.
  static func rule(
    _ id: String = "c", _ state: State = .active, standing: ComplianceState = .open, device: UInt8 = 1,
    renews: String? = nil, ended: String? = nil
  ) -> Self {
    var container = Self(
      id: id, user: "alice", activation: "a", device: [device], name: "", platform: "", keystore: "",
      sessionKey: [1], encryptionKey: [2], signingKey: [3], profile: [], created: 1, state: state)
    (container.standing, container.renews, container.ended) = (standing, renews, ended)
    return container
  }
}

extension CredentialRecord {
  /// What makes the codes of container `c`, or of a token.
  static func rule(_ state: State = .active, serial: String? = nil, user: String? = "alice") -> Self {
    Self(
      id: "c", user: user, serial: serial, kind: .totp, algorithm: "SHA1", digits: 6, period: 30,
      sealedSecret: [], created: 1, state: state)
  }
}

extension DeviceCommandRecord {
  /// An order to container `c`.
  static func rule(_ action: Action, done: Bool = false, altered: Bool = false) -> Self {
    var order = Self(id: "o", container: "c", action: action, reason: "ordered", created: 1)
    order.receipt = done ? "jws" : nil
    order.isAltered = altered
    return order
  }
}

extension AccountStateRecord {
  /// A state that has come about in other ways than by an order.
  static func rule(
    verdict: ComplianceState = .open, orderedLock: Bool = false, revision: Int64 = 7
  ) -> Self {
    var state = Self()
    (state.verdict, state.verdictReason) = (verdict, verdict == .open ? "" : "reported")
    (state.isOrderedLocked, state.orderedReason) = (orderedLock, orderedLock ? "ordered" : "")
    (state.challenge, state.challengeExpires, state.revision) = ([9], 100, revision)
    return state
  }
}

extension DeviceRecord {
  /// A device of alice's.
  static func rule(
    _ standing: ComplianceState = .open, orderedLock: Bool = false, altered: Bool = false
  ) -> Self {
    var device = Self(
      id: "d", user: "alice", installation: "01", name: "phone", platform: "Linux", created: 1)
    (device.standing, device.isOrderedLocked, device.isAltered) = (standing, orderedLock, altered)
    if orderedLock { (device.orderedReason, device.ordered) = ("ordered", 1) }
    return device
  }
}
