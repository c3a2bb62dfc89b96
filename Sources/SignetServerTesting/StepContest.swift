package import SignetStorage

/// Two storage steps that compete: run concurrently, they must have the same result as in one of the two orders.
package struct StepContest: Sendable, CustomStringConvertible {
  /// A step; it returns its outcome as text.
  package typealias Step = @Sendable (Storage) async throws -> String

  package let description: String
  /// The winning outcomes if only one step may win; `nil` if both may succeed in turn.
  package let prizes: Set<String>?
  /// True if both steps are equivalent, so that it does not matter which of them is stopped.
  package let isSymmetric: Bool
  package let prepare: @Sendable (Storage) async throws -> Void
  /// Runs in each process before the steps, so that it caches its reads; it writes nothing, because a write empties other
  /// caches.
  package let reading: (@Sendable (Storage) async throws -> Void)?
  package let steps: [Step]

  init(
    _ description: String, prizes: Set<String>? = nil, isSymmetric: Bool = false, _ steps: [Step],
    reading: (@Sendable (Storage) async throws -> Void)? = nil,
    after prepare: @escaping @Sendable (Storage) async throws -> Void
  ) {
    self.description = description
    self.prizes = prizes
    self.isSymmetric = isSymmetric
    self.steps = steps
    self.reading = reading
    self.prepare = prepare
  }
}

// Steps: each is one storage call, as a service makes it after validating the call's objects.
extension StepContest {
  static func event(_ name: String) -> AuditRecord { StorageContract.event(name) }

  /// Returns the result of `body`, or the storage failure, as text.
  static func step<Outcome>(_ body: @escaping @Sendable (Storage) async throws -> Outcome) -> Step {
    { storage in
      do { return "\(try await body(storage))" } catch let refusal as StorageFailure { return "\(refusal)" }
    }
  }

  static func answer(
    _ state: TransactionRecord.State = .accepted, by container: ContainerID = "c1", device: UInt8 = 7
  ) -> Step {
    let signer = SignerRecord(Sample.container(container, activation: "a-\(container)", device: device))
    let attempt = DecisionAttempt(
      transaction: "t1", by: signer, request: [UInt8](repeating: device, count: 16), expires: 5000)
    let verdict = DecisionVerdict.accept(
      Sample.decision(state, by: container), isSigned: true, hasRightNumber: true)
    return step { try await $0.decide(attempt, verdict) }
  }

  static let withdrawal = step {
    try await $0.end("t1", Sample.end(.withdrawn), isSuspicious: false, limits: Sample.limits)
  }
  static let suspension = step { try await $0.suspend("alice") }
  static let deletion = step { try await $0.delete("alice") }
  static let revocation = step { try await $0.revokeContainer("c1") }

  static let deviceLock = step { storage in
    let device = try await storage.only("alice").id
    return try await storage.lockDevice(device, reason: "why", audit: event("locked")) { container in
      (lockOrder(container), event("order"))
    }
  }
  static let containerLock = step {
    try await $0.addDeviceCommand(lockOrder("c1"), audit: event("order"))
  }

  static func lockOrder(_ container: ContainerID) -> DeviceCommandRecord {
    DeviceCommandRecord(
      id: "l-\(container)", container: container, action: .lock, reason: "why", created: 1010)
  }

  static func code(_ counter: Int64?, key: ID<APIKeyRecord>? = nil) -> Step {
    step { try await $0.submit(counter, key: key) }
  }

  static func registration(
    _ session: ID<UAFOperationRecord>, of user: UserID, key: String, publicKey: [UInt8]
  ) -> Step {
    let credential = UAFCredentialRecord(
      aaid: "7357#0001", keyID: Array(key.utf8), user: user, publicKey: publicKey, algorithm: 1,
      keyFormat: 0x100, signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 1000)
    return step {
      try await $0.finishUAFRegistration(
        session, UAFOperationEnd(status: 1200, time: 1050), adding: [credential.new], limit: 4
      ) { event("uaf \($0)") }
    }
  }

  static func authentication(_ session: ID<UAFOperationRecord>) -> Step {
    let use = CounterUpdate(aaid: "7357#0001", keyID: Array("k1".utf8), signCounter: 6)
    return step {
      try await $0.finishUAFAuthentication(
        session, of: "alice", UAFOperationEnd(status: 1200, time: 1050), uses: [use]
      ) { event("uaf \($0)") }
    }
  }

  static func redemption(_ request: UInt8) -> Step {
    step {
      try await $0.redeemUAFToken(
        Array("s".utf8), request: [request], at: 1050, until: 1170, audit: event("redeemed"))
    }
  }

  static func appAnswer(isYes: Bool) -> Step {
    step {
      try await $0.answerPushAuthMessage(
        "t1", isYes ? .yes : .denied(), at: 1050, audit: event("answered \(isYes)"))
    }
  }

  static let renewal = step { storage in
    var successor = Sample.container("c2", activation: "a-c1")
    (successor.renews, successor.renewals, successor.succession) = ("c1", 1, "signed")
    return try await storage.stageRenewal(
      of: "c1", by: NewContainer(successor, Sample.credential("c2")), limit: 3
    ) { event("renewal \($0)") }
  }

  static func request(_ id: TransactionID) -> Step {
    step {
      try await $0.addTransaction(
        Sample.transaction(id), key: nil, limits: TransactionLimits(pending: 1, challenges: 1000)
      ) { event("asked \($0)") }
    }
  }

  static func keyRevocation(_ key: ID<APIKeyRecord>) -> Step {
    step { try await $0.revokeAPIKey(key, keepingOneOf: "admin", at: 1010, audit: event("revoked")) }
  }

  static let poll = step {
    try await $0.pollBackchannelRequest(Array("alice".utf8), of: "bank-alice", at: 1_100, step: 5, limit: 12)
  }
  static let issue = step {
    try await $0.issueTokens(
      for: Array("alice".utf8), of: "bank-alice", at: 1_200, pushedWithin: 60, audit: event("issued"))
  }
}
