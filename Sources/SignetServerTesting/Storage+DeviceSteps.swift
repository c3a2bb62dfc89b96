import SignetCrypto
package import SignetStorage

// Short helpers for the checks of devices.

extension Sample {
  /// The installation ID of the device of ``container(_:activation:user:device:)``.
  static let installation = String(repeating: "07", count: 16)

  static func session(_ id: ID<UAFOperationRecord>, _ operation: String, of user: UserID)
    -> UAFOperationRecord
  {
    var session = UAFOperationRecord(
      id: id, operation: operation, user: user, context: "{}", created: 1000, expires: 1100, state: .requested
    )
    session.request = [1, 2]
    return session
  }

  /// Makes the audit events for objects that are lost with a container or a device, as the server does: each names the
  /// object.
  package static func namedLoss(
    by actor: AuditActor, at time: Int64
  ) -> @Sendable (DeviceLoss) -> AuditRecord {
    { loss in
      let event: AuditEvent =
        switch loss {
        case .container(let id): .containerRevoked(container: id)
        case .key(let user, let aaid, let key): .uafRevoked(user: user, aaid: aaid, key: key)
        case .target(let id): .uafTargetRemoved(target: id)
        }
      return AuditRecord(event, by: actor, at: time)
    }
  }
}

extension Storage {
  // MARK: Orders

  func only(_ user: UserID) async throws -> DeviceRecord {
    try await device(on: Sample.installation, of: user)
  }

  func device(on installation: String, of user: UserID) async throws -> DeviceRecord {
    let found = try await devices(user: user).filter { $0.installation == installation }
    try StorageContract.expect(found.count == 1, "\(user) has \(found.count) devices of this name")
    return found[0]
  }

  private static func order(
    _ action: DeviceCommandRecord.Action
  ) -> @Sendable (ContainerID) -> (DeviceCommandRecord, AuditRecord) {
    {
      (
        DeviceCommandRecord(
          id: ID(random: SystemRandomSource()), container: $0, action: action, reason: "why",
          created: 1010),
        StorageContract.event("order")
      )
    }
  }

  func lockDevice(_ id: ID<DeviceRecord>) async throws(StorageFailure) -> DeviceLockOutcome {
    let event = AuditRecord(.userAdded(user: "locked"), by: .local, at: 1010)
    return try await lockDevice(id, reason: "why", audit: event, order: Self.order(.lock))
  }

  func unlockDevice(_ id: ID<DeviceRecord>) async throws(StorageFailure) -> DeviceLockOutcome {
    let event = AuditRecord(.userAdded(user: "unlocked"), by: .local, at: 1020)
    return try await unlockDevice(id, audit: event, order: Self.order(.unlock))
  }

  /// Locks the only device of a user; returns the lock commands to its containers.
  func lockDevice(of user: UserID) async throws -> [String] {
    guard case .done(let orders) = try await lockDevice(only(user).id) else { return ["not locked"] }
    return orders.map { "l-\($0.container)" }
  }

  func unlockDevice(of user: UserID) async throws -> [String] {
    guard case .done(let orders) = try await unlockDevice(only(user).id) else { return ["not unlocked"] }
    return orders.map { "l-\($0.container)" }
  }

  func order(
    _ action: DeviceCommandRecord.Action, _ container: ContainerID, id: String? = nil
  ) async throws {
    let id = id ?? Base64URL.encode(SystemRandomSource().bytes(8))
    let order = DeviceCommandRecord(
      id: "\(id)", container: container, action: action, reason: "why", created: 1010)
    try await StorageContract.expect(
      addDeviceCommand(order, audit: StorageContract.event("order")), is: .added, "the command")
  }

  func report(_ verdict: ComplianceState, of container: ContainerID) async throws {
    try await setAccountChallenge([1], expires: 2000, of: container, at: 1000)
    let attempt = AccountReportAttempt(
      container: container, challenge: [1], time: 1010, report: "jws", seen: 0, verdict: verdict,
      reason: "found")
    try await StorageContract.expect(
      acceptAccountReport(attempt) { _ in StorageContract.event("report") }, is: true, "the report")
  }

  func end(_ container: ContainerID, as ended: String) async throws(StorageFailure) -> Bool {
    try await endContainer(container, as: ended, audit: StorageContract.event("end"), lost: Sample.lost)
  }

  // MARK: UAF

  func register(
    _ key: String, of user: UserID, on device: String? = Sample.installation, limit: Int = 4
  ) async throws -> UAFOutcome {
    let session: ID<UAFOperationRecord> =
      "r-\(key)-\(user)-\(Base64URL.encode(SystemRandomSource().bytes(8)))"
    try await addUAFOperation(Sample.session(session, "Reg", of: user), audit: nil)
    var credential = UAFCredentialRecord(
      aaid: "7357#0001", keyID: Array(key.utf8), user: user, publicKey: [4] + key.utf8, algorithm: 1,
      keyFormat: 0x100, signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 1000)
    credential.device = device
    return try await finishUAFRegistration(
      session, UAFOperationEnd(status: 1200, time: 1050), adding: [credential.new], limit: limit
    ) { _ in StorageContract.event("uaf") }
  }

  func authenticate(
    _ keys: String..., of user: UserID, _ session: ID<UAFOperationRecord>? = nil, counter: UInt32 = 0,
    at time: Int64 = 1050
  ) async throws -> UAFOutcome {
    let session = session ?? ID(random: SystemRandomSource())
    try await addUAFOperation(Sample.session(session, "Auth", of: user), audit: nil)
    let names = keys.map { #"{"aaid":"7357#0001","keyId":"\#(Base64URL.encode(Array($0.utf8)))"}"# }
    return try await finishUAFAuthentication(
      session, of: user,
      UAFOperationEnd(status: 1200, authenticators: "[\(names.joined(separator: ","))]", time: time),
      uses: keys.map { CounterUpdate(aaid: "7357#0001", keyID: Array($0.utf8), signCounter: counter) }
    ) { _ in StorageContract.event("uaf") }
  }

  /// Returns the basis for alice after an operation; `suffices` tells if its keys are sufficient.
  static func basis(_ operation: ID<UAFOperationRecord>, suffices: Bool = true) -> UAFBasis {
    .operation(operation, of: "alice") { _, _ in suffices }
  }

  func addTarget(
    _ id: ID<UAFTargetRecord>, of user: UserID, on device: String? = Sample.installation,
    by basis: UAFBasis? = nil
  ) async throws -> Bool {
    try await addUAFTarget(
      UAFTargetRecord(
        id: id, user: user, device: device, name: "the device \(id)", dispatcher: nil, sealedTarget: [1],
        signatureKey: [1],
        encryptionKey: nil, created: 1000), by: basis, limit: 100, audit: StorageContract.event("target"))
  }

  func deregister(
    _ session: ID<UAFOperationRecord>, _ selection: UAFKeySelection, by basis: UAFBasis
  ) async throws -> UAFOutcome {
    try await addUAFOperation(Sample.session(session, "Dereg", of: "alice"), audit: nil)
    return try await finishUAFDeregistration(
      session, of: "alice", UAFOperationEnd(status: 1200, time: 1050), removing: [selection], by: basis,
      audit: StorageContract.event("ended")
    ) { _, _ in StorageContract.event("removed") }
  }

  func addToken(
    _ id: ID<UAFOperationRecord>, of user: UserID, for target: ID<UAFTargetRecord>,
    _ operation: String = "Auth"
  ) async throws {
    var session = Sample.session(id, operation, of: user)
    (session.state, session.request, session.target) = (.tokenCreated, nil, target)
    (session.tokenDigest, session.tokenExpires) = (Array(id.text.utf8), 1100)
    try await addUAFOperation(session, audit: nil)
  }

  func redeem(_ id: String) async throws(StorageFailure) -> Bool {
    try await redeemUAFToken(
      Array(id.utf8), request: [1], at: 1050, until: 1170, audit: StorageContract.event("redeemed"))
  }
}
