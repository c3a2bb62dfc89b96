import SignetServerTesting
import SignetStorage

// Rows for tests of rules: alice's, with requests made at 1000 and open until 1300, and the container `c`.

extension TransactionLimits {
  static let rule = Self(
    pending: 5, challenges: 4, wait: 60, longestWait: 200, wrongNumbers: 3, initiated: 3)
}

extension TransactionRecord {
  /// A request, for one kind of authenticator if one is named.
  static func rule(
    user: UserID? = "alice", _ state: State = .pending, of kind: AuthenticatorRecord.Kind? = nil
  ) -> Self {
    var transaction = Self(id: "t", user: user, content: "Pay", created: 1000, expires: 1300, state: state)
    transaction.soleKind = kind
    return transaction
  }

  /// A request after a decision of `c`.
  static func rule(decided state: State) -> Self {
    var transaction = rule(state)
    transaction.decision = .rule(state)
    return transaction
  }

  /// A request after an end without a decision.
  static func rule(ended state: State, by container: ContainerID? = nil) -> Self {
    var transaction = rule(state)
    transaction.end = .rule(state, by: container)
    return transaction
  }
}

extension DecisionRecord {
  static func rule(
    _ state: TransactionRecord.State = .accepted, by container: ContainerID = "c", at time: Int64 = 1100
  ) -> Self {
    Self(state: state, jws: "jws", container: container, time: time)
  }
}

extension EndRecord {
  static func rule(
    _ state: TransactionRecord.State, by container: ContainerID? = nil, at time: Int64 = 1100
  ) -> Self {
    Self(state: state, reason: "reason", container: container, time: time)
  }
}

extension ContainerRecord {
  static func rule(
    _ id: ContainerID = "c", _ state: State = .active, compliance: ComplianceState = .open,
    user: UserID = "alice",
    device: UInt8 = 1, renews: ContainerID? = nil, ended: String? = nil
  ) -> Self {
    var container = Self(
      id: id, user: user, activation: "a", device: [device], name: "", platform: "", keystore: "",
      sessionKey: [1], encryptionKey: [2], signingKey: [3], profile: [], created: 1, state: state)
    (container.compliance, container.renews, container.ended) = (compliance, renews, ended)
    return container
  }
}

extension CredentialRecord {
  /// The credential of container `c`, or of a token.
  static func rule(
    _ state: State = .active, serial: String? = nil, user: UserID? = "alice", failures: Int = 0
  ) -> Self {
    var credential = Self(
      id: "c", user: user, serial: serial, kind: .totp, algorithm: "SHA1", digits: 6, period: 30,
      sealedSecret: [], created: 1, state: state)
    credential.failures = failures
    return credential
  }
}

extension PushAuthMessageRecord {
  static func rule(_ state: State = .pending) -> Self {
    var message = Self(
      id: "p", of: "t", mechanism: "m", kind: "default", challenge: [1], created: 1000, expires: 1200,
      state: state)
    message.sealedToken = [9]
    return message
  }
}

extension PushAuthMechanismRecord {
  static func rule(_ state: State = .active) -> Self {
    Self(
      id: "m", user: "alice", sealedSecret: [1], challenge: [2], created: 900, expires: 1200, state: state)
  }
}

extension UAFOperationRecord {
  /// An operation that began at 1000 and accepts responses, and its token, until 1100.
  static func rule(
    _ kind: String = "Auth", _ state: State = .requested, for transaction: TransactionID? = nil,
    target: ID<UAFTargetRecord>? = nil, by requester: String? = nil
  ) -> Self {
    var operation = Self(
      id: "s1", operation: kind, user: "alice", created: 1000, expires: 1100, state: state)
    (operation.transaction, operation.target, operation.requester) = (transaction, target, requester)
    if state == .tokenCreated { operation.tokenExpires = 1100 }
    return operation
  }
}

extension UAFCredentialRecord {
  static func rule(
    _ number: UInt8 = 1, counter: UInt32 = 0, _ state: State = .active, of user: UserID = "alice",
    usedAt lastUsed: Int64? = nil
  ) -> Self {
    var key = Self(
      aaid: "7357#0001", keyID: [number], user: user, publicKey: [4, number], algorithm: 1, keyFormat: 0x100,
      signCounter: counter, registrationCounter: 1, authenticatorVersion: 1, created: 900)
    (key.state, key.lastUsed) = (state, lastUsed)
    return key
  }
}

extension CounterUpdate {
  static func rule(_ number: UInt8 = 1, counter: UInt32) -> Self {
    Self(aaid: "7357#0001", keyID: [number], signCounter: counter)
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
  /// A state with other causes than an order.
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
  static func rule(
    _ compliance: ComplianceState = .open, orderedLock: Bool = false, altered: Bool = false
  ) -> Self {
    var device = Self(
      id: "d", user: "alice", installation: "01", name: "phone", platform: "Linux", created: 1)
    (device.compliance, device.isOrderedLocked, device.isAltered) = (compliance, orderedLock, altered)
    if orderedLock { (device.orderedReason, device.ordered) = ("ordered", 1) }
    return device
  }
}
