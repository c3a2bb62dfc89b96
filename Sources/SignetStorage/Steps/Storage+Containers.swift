import SignetCrypto
import SignetSQL

extension Storage {
  /// Returns the container with this id in any state; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify.
  package func container(_ id: ContainerID) async throws(StorageFailure) -> ContainerRecord? {
    try await read { try $0.container(id) }
  }

  /// Returns the container with this id in any state, even if its row's MAC does not verify; `nil` for none.
  package func anyContainer(_ id: ContainerID) async throws(StorageFailure) -> ContainerRecord? {
    try await read { try $0.anyContainer(id) }
  }

  /// Returns a user's containers in every state, oldest first, including those whose row MAC does not verify.
  package func containers(user: UserID) async throws(StorageFailure) -> [ContainerRecord] {
    try await read { try $0.containers(of: user) }
  }

  /// Revokes a container permanently and removes its credential; ``ContainerEnd`` defines what ends with it.
  ///
  /// If the row's MAC does not verify, the row is rewritten as revoked.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - audit: The event, whose time is the time of the revocation.
  ///   - lost: Makes the event for each item that is lost with the container.
  /// - Returns: `true` if there is such a container.
  /// - Throws: ``StorageFailure``.
  package func revokeContainer(
    _ id: ContainerID, audit: AuditRecord, lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard let container = try database.anyContainer(id) else { return false }
      let others = try database.containers(of: container.user, "state = 'active'")
      guard let end = ContainerEnd(revoking: container, among: others) else { return true }
      try database.apply(end, after: audit, at: audit.time, lost)
      return true
    }
  }

  /// Claims the id of a request that a container has signed; an id can be claimed once, which prevents a replay.
  ///
  /// - Parameters:
  ///   - id: 16 bytes.
  ///   - container: The container that signed the request.
  ///   - states: The states in which a container may make this request.
  ///   - expires: The time from which the id may be removed, because the request is too old by then.
  ///   - isGranting: True if the user must be active. A request that grants nothing may come from a suspended user's device.
  /// - Returns: The container as this step reads it; `nil` if the id was claimed before.
  /// - Throws: ``StorageFailure``: ``StorageFailure/containerNotInUse`` for a container in another state.
  package func claimRequest(
    _ id: [UInt8], of container: ContainerID, in states: Set<ContainerRecord.State> = [.active],
    expires: Int64,
    isGranting: Bool = true
  ) async throws(StorageFailure) -> ContainerRecord? {
    try await write { database in
      let found =
        isGranting
        ? try database.requireUsable(userOfContainer: container) : try database.container(container)
      guard let found, states.contains(found.state) else { throw StorageFailure.containerNotInUse }
      return try database.claim(id, of: container.text, expires: expires) ? found : nil
    }
  }

  /// Claims the id of a message that is signed by a party other than a container; an id can be claimed once.
  ///
  /// - Parameters:
  ///   - id: 16 bytes.
  ///   - claimant: The owner of the id; it contains a colon, which no container id does, so the two cannot collide.
  ///   - expires: The time from which the id may be removed.
  /// - Returns: `true` if this call is the first.
  /// - Throws: ``StorageFailure``.
  package func claimID(
    _ id: [UInt8], of claimant: String, expires: Int64
  ) async throws(StorageFailure) -> Bool {
    try await write { try $0.claim(id, of: claimant, expires: expires) }
  }
}

extension SQLConnection {
  /// Returns the container with this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify; ``SQLFailure``.
  func container(_ id: ContainerID) throws -> ContainerRecord? { try anyContainer(id)?.checked() }

  // Built once, because each request of a device reads its container.
  private static let containerByID = "SELECT \(ContainerRecord.columns) FROM containers WHERE id = $1"

  /// Returns the container with this id, even if its row's MAC does not verify; `nil` for none.
  func anyContainer(_ id: ContainerID) throws -> ContainerRecord? {
    let mac = try rowMAC
    let found = try row(Self.containerByID, [.of(id)]) {
      try ContainerRecord($0, mac)
    }
    if let found { cache(found) }
    return found
  }

  private static let lastContainer = TransactionLocal<ContainerRecord?>()

  /// Caches a container that was just read, for ``lastContainer(_:)``.
  func cache(_ container: ContainerRecord) { setLocal(Self.lastContainer, to: container) }

  /// Returns the container with this id, from the cache of this commit if it was the last one read.
  ///
  /// It serves to find the user and the device of an event: a step mostly writes about the container that it has just read.
  func lastContainer(_ id: ContainerID) throws -> ContainerRecord? {
    if let last = try local(Self.lastContainer, load: { nil }), last.id == id {
      return last
    }
    return try anyContainer(id)
  }

  /// Clears the cache of ``lastContainer(_:)``; a step calls it when it changes the user or the device of a container.
  func forgetLastContainer() { setLocal(Self.lastContainer, to: nil) }

  /// Returns a user's containers, oldest first, including those whose row MAC does not verify.
  func containers(of user: UserID, _ condition: String = "1 = 1") throws -> [ContainerRecord] {
    try records("WHERE user_id = $1 AND \(condition) ORDER BY created, id", [.of(user)])
  }

  /// Returns a user's containers on the device with this installation id, including those whose row MAC does not verify.
  func containers(on installation: String, of user: UserID) throws -> [ContainerRecord] {
    try containers(of: user).filter { $0.installation == installation }
  }

  /// Returns `true` if any container of any user is active.
  func isAnyContainerInUse() throws -> Bool {
    try exists("SELECT 1 FROM containers WHERE state = 'active' LIMIT 1", [])
  }

  /// Notifies waiting devices that the container's list has changed, or that the container has ended.
  func recordChange(ofContainer id: ContainerID) throws {
    let user = try row("SELECT user_id FROM containers WHERE id = $1", [.of(id)]) { try $0.user(0) }
    if let user { try recordChange(ofUser: user) }
  }

  /// Checks the user of a container in any state, as ``requireUsable(user:)`` does.
  ///
  /// - Returns: The container; `nil` for none.
  @discardableResult
  func requireUsable(userOfContainer id: ContainerID) throws -> ContainerRecord? {
    guard let container = try container(id) else { return nil }
    try requireUsable(owner: container.user)
    return container
  }

  /// Checks that something can be bound to a container; every step that does so calls it before it changes anything.
  ///
  /// The user must be active, and neither the container nor its device may be locked.
  ///
  /// - Returns: The container; `nil` if none is in use, which the step reports with its own outcome.
  /// - Throws: The errors of ``requireUsable(userOfContainer:)`` and ``requireUsable(device:of:)``, and
  ///   ``StorageFailure/containerLocked``.
  func requireUsable(container id: ContainerID) throws -> ContainerRecord? {
    guard let container = try requireUsable(userOfContainer: id), container.isInUse else { return nil }
    if let refusal = container.refusal { throw refusal }
    try requireUsable(device: container.installation, of: container.user)
    return container
  }

  /// Revokes a container in any state, and removes its one-time-password credential.
  func revoke(_ container: ContainerRecord) throws {
    var container = container
    container.state = .revoked
    try update(container)
    try removeCredential(ID(of: container.id))
  }

  func insert(_ new: NewContainer) throws {
    let container = new.container
    try insert(new.credential)
    try insert(container)
    for key in container.keyDigests { try register(key, for: KeyHolder(container)) }
  }
}

// Keys.
extension SQLConnection {
  /// Determines if a key of a new container is already in use, by the rule of ``ContainerRecord/hasTakenKey(among:replacing:)``.
  ///
  /// - Parameters:
  ///   - new: The new container.
  ///   - origin: The column that identifies the pending containers which the new one replaces.
  ///   - id: The value of that column.
  /// - Returns: `true` if one is in use.
  /// - Throws: ``SQLFailure``.
  func hasTakenKey(_ new: NewContainer, replacing origin: String, _ id: SQLValue) throws -> Bool {
    let registeredKeys = try new.container.keyDigests.compactMap { try registered($0) }
    // Usually the register knows none of the keys, which saves the query.
    let pending: [ContainerID] =
      registeredKeys.isEmpty
      ? []
      : try rows("SELECT id FROM containers WHERE \(origin) = $1 AND state = 'pending'", [id]) {
        try $0.id(0)
      }
    return new.container.hasTakenKey(among: registeredKeys, replacing: pending)
  }
}

// Signatures.
extension SQLConnection {
  // Built once, because each decision uses it.
  private static let signerByContainer = """
    SELECT \(ContainerRecord.columns.columns(of: "containers")), containers.failed_signatures,
      \(UserRecord.columns.columns(of: "users"))
    FROM containers LEFT JOIN users ON users.id = containers.user_id WHERE containers.id = $1
    """

  /// Returns the signer's count of consecutive wrong signatures, its lock and its user; `nil` if the keys are no longer the
  /// active container's.
  ///
  /// The user is returned even if its row's MAC does not verify.
  ///
  /// Decisions do not read the device's row, which saves a query for each. The step that locks a device also locks each
  /// active container there (``give(_:on:_:)``), and no container becomes active on a locked device. A report that locks a
  /// device also locks its container. A device can also be locked because the row of an earlier container was altered; the
  /// active container has a row with a valid MAC.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the MAC of the container's row does not verify; ``SQLFailure``.
  func status(
    of signer: SignerRecord
  ) throws -> (failed: Int64, isLocked: Bool, owner: UserRecord?)? {
    let mac = try rowMAC
    let found = try row(Self.signerByContainer, [.of(signer.container)]) { row in
      (
        container: try ContainerRecord(row, mac).checked(),
        failed: try row.integer(ContainerRecord.columnCount),
        owner: try anyUser(in: row, from: ContainerRecord.columnCount + 1)
      )
    }
    guard let (container, failed, owner) = found, container.isInUse,
      SignerRecord(container) == signer
    else { return nil }
    cache(container)  // The decision's event reads the device from the cached container.
    return (failed, container.isLocked, owner)
  }

  /// Counts a wrong signature, or resets the count for a right one, and returns the reason for a rejection.
  ///
  /// The container must have been read in this step.
  func countSignature(of container: ContainerRecord?, isValid: Bool, limit: Int) throws -> DecisionOutcome? {
    guard let container, container.isInUse else { return .unknown }
    let failed = try number(
      "SELECT failed_signatures FROM containers WHERE id = $1", [.of(container.id)])
    return try countSignature(of: container.id, failed: failed ?? 0, isValid: isValid, limit: limit)
  }

  func countSignature(
    of container: ContainerID, failed: Int64, isValid: Bool, limit: Int
  ) throws -> DecisionOutcome? {
    let count = SignatureCount(after: failed, isValid: isValid, limit: limit)
    if let failed = count.failed {
      try execute(
        "UPDATE containers SET failed_signatures = $1 WHERE id = $2", [.integer(failed), .of(container)],
        changing: 1)
    }
    return count.refusal
  }
}

extension ContainerRecord {
  /// The installation id of the container's device, as in ``DeviceRecord/installation``: 32 hexadecimal digits in lower case.
  package var installation: String { Hex.encode(device) }

  /// Indicates whether the user was deleted, and the device's identity was erased with the user.
  package var isErased: Bool { device.isEmpty }

  /// The digests of the container's three public keys.
  var keyDigests: [PublicKeyDigest] { [sessionKey, encryptionKey, signingKey].map(PublicKeyDigest.init) }
}

extension KeyHolder {
  /// Makes the key holder of a container.
  init(_ container: ContainerRecord) {
    self.init(kind: .container, authenticator: container.id.text, user: container.user)
  }
}

extension DeviceRecord {
  /// Makes the device of a container that becomes active.
  init(of container: ContainerRecord, at time: Int64, _ mac: RowMAC) {
    self.init(
      of: container.user, container.installation, name: container.name, platform: container.platform,
      at: time, mac)
  }
}
