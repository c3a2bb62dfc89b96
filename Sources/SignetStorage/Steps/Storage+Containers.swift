import SignetCrypto
import SignetSQL

extension Storage {
  /// The container of this id in any state; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func container(_ id: ContainerID) async throws(StorageFailure) -> ContainerRecord? {
    try await read { try $0.container(id) }
  }

  /// The container of this id in any state, also one whose row was altered; `nil` for none.
  public func anyContainer(_ id: ContainerID) async throws(StorageFailure) -> ContainerRecord? {
    try await read { try $0.anyContainer(id) }
  }

  /// A user's containers in every state, oldest first, also those whose rows were altered.
  public func containers(user: UserID) async throws(StorageFailure) -> [ContainerRecord] {
    try await read { try $0.containers(of: user) }
  }

  /// Revokes a container for good, and forgets its credential; what goes with it, ``ContainerEnd`` says.
  ///
  /// The row of one that was altered is written anew as that of a revoked one.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - audit: The event, and when.
  ///   - lost: Makes the event of what goes with it.
  /// - Returns: Whether there is such a container.
  /// - Throws: ``StorageFailure``.
  public func revokeContainer(
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

  /// Claims the id of a request that a container has signed; it can be claimed once.
  ///
  /// - Parameters:
  ///   - id: 16 bytes.
  ///   - container: Whose request it is.
  ///   - states: The states in which it may make this request.
  ///   - expires: When the id may be forgotten, because its request is too old by then.
  ///   - isGranting: Whether the user has to be active: a request that grants nothing may come from the device of a suspended one.
  /// - Returns: The container as it is in this step; `nil` where the id was claimed before.
  /// - Throws: ``StorageFailure``: ``StorageFailure/containerNotInUse`` for a container in another state.
  public func claimRequest(
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

  /// Claims an id that others than containers give what they sign; it can be claimed once.
  ///
  /// - Parameters:
  ///   - id: 16 bytes.
  ///   - claimant: Whose it is; no container has a colon in its id.
  ///   - expires: When the id may be forgotten.
  /// - Returns: Whether this call is the first.
  /// - Throws: ``StorageFailure``.
  public func claimID(
    _ id: [UInt8], of claimant: String, expires: Int64
  ) async throws(StorageFailure) -> Bool {
    try await write { try $0.claim(id, of: claimant, expires: expires) }
  }
}

extension SQLConnection {
  /// The container of an id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func container(_ id: ContainerID) throws -> ContainerRecord? { try anyContainer(id)?.checked() }

  // Put together once: each request of a device reads its container.
  private static let containerByID = "SELECT \(ContainerRecord.columns) FROM containers WHERE id = $1"

  /// The container of an id, also one whose row was altered; `nil` for none.
  func anyContainer(_ id: ContainerID) throws -> ContainerRecord? {
    let mac = try rowMAC
    let found = try row(Self.containerByID, [.of(id)]) {
      try ContainerRecord($0, mac)
    }
    if let found { remember(found) }
    return found
  }

  private static let lastContainer = TransactionLocal<ContainerRecord?>()

  /// Notes a container that was read, for ``lastContainer(_:)``.
  func remember(_ container: ContainerRecord) { setLocal(Self.lastContainer, to: container) }

  /// The container of an id as this commit has read it, for its user and device: a step mostly writes about the one that it has just
  /// read.
  func lastContainer(_ id: ContainerID) throws -> ContainerRecord? {
    if let last = try local(Self.lastContainer, load: { nil }), last.id == id {
      return last
    }
    return try anyContainer(id)
  }

  /// For a step that changes the user or the device of a container: the next one of the same commit reads it again.
  func forgetLastContainer() { setLocal(Self.lastContainer, to: nil) }

  /// A user's containers, oldest first, also those whose rows were altered.
  func containers(of user: UserID, _ condition: String = "1 = 1") throws -> [ContainerRecord] {
    let mac = try rowMAC
    return try rows(
      "SELECT \(ContainerRecord.columns) FROM containers WHERE user_id = $1 AND \(condition) ORDER BY created, id",
      [.of(user)]
    ) { try ContainerRecord($0, mac) }
  }

  /// A user's containers on a device that calls itself so, also those whose rows were altered.
  func containers(on installation: String, of user: UserID) throws -> [ContainerRecord] {
    try containers(of: user).filter { $0.installation == installation }
  }

  /// Whether any container is in use, of whatever user.
  func isAnyContainerInUse() throws -> Bool {
    try exists("SELECT 1 FROM containers WHERE state = 'active' LIMIT 1", [])
  }

  /// Tells who waits that a container's list is another one, or that the container ended.
  func recordChange(ofContainer id: ContainerID) throws {
    let user = try row("SELECT user_id FROM containers WHERE id = $1", [.of(id)]) { try $0.user(0) }
    if let user { try recordChange(ofUser: user) }
  }

  /// As ``requireUsable(user:)``, for the user of a container, of whatever state.
  ///
  /// - Returns: The container; `nil` for none.
  @discardableResult
  func requireUsable(userOfContainer id: ContainerID) throws -> ContainerRecord? {
    guard let container = try container(id) else { return nil }
    try requireUsable(owner: container.user)
    return container
  }

  /// The gate of containers: every step that binds something to one in use asks here before it changes anything.
  ///
  /// The user has to be active, and neither the container nor its device locked.
  ///
  /// - Returns: The container; `nil` for none that is in use: the step says so in its own way.
  /// - Throws: As ``requireUsable(userOfContainer:)`` and ``requireUsable(device:of:)``, and ``StorageFailure/containerLocked``.
  func requireUsable(container id: ContainerID) throws -> ContainerRecord? {
    guard let container = try requireUsable(userOfContainer: id), container.isInUse else { return nil }
    if let refusal = container.refusal { throw refusal }
    try requireUsable(device: container.installation, of: container.user)
    return container
  }

  /// Revokes a container, of whatever state, and forgets what made its codes.
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
  /// Whether a new container cannot have its keys, as ``ContainerRecord/hasTakenKey(among:replacing:)`` says.
  ///
  /// - Parameters:
  ///   - new: The new container.
  ///   - origin: The column by which pending containers are found that it replaces.
  ///   - id: What that column holds.
  /// - Returns: Whether one is taken.
  /// - Throws: ``SQLFailure``.
  func hasTakenKey(_ new: NewContainer, replacing origin: String, _ id: SQLValue) throws -> Bool {
    let known = try new.container.keyDigests.compactMap { try registered($0) }
    // Mostly the register knows none of them.
    let pending: [ContainerID] =
      known.isEmpty
      ? []
      : try rows("SELECT id FROM containers WHERE \(origin) = $1 AND state = 'pending'", [id]) {
        try $0.id(0)
      }
    return new.container.hasTakenKey(among: known, replacing: pending)
  }
}

// Signatures.
extension SQLConnection {
  // Put together once, for each decision.
  private static let signerByContainer = """
    SELECT \(ContainerRecord.columns.columns(of: "containers")), containers.failed_signatures,
      \(UserRecord.columns.columns(of: "users"))
    FROM containers LEFT JOIN users ON users.id = containers.user_id WHERE containers.id = $1
    """

  /// The wrong signatures in a row of an active container, whether the server has locked it, and its user, also one whose row was altered;
  /// `nil` where it is not the signer any more.
  ///
  /// Decisions do not look at the device's row, which saves a query for each: the step that locks a device locks each container in use there
  /// (``give(_:on:_:)``), no container comes into use on a locked one, and a device is locked for a report where its container is. A device can also be
  /// locked for the altered row of an earlier container; the one in use has its own row, whose MAC holds.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for a container that this server has not written so; ``SQLFailure``.
  func standing(
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
    remember(container)  // the event of what is decided names its device
    return (failed, container.isLocked, owner)
  }

  /// Counts a wrong signature of a container that was read in this step, forgets the wrong ones before a good one, and says why nothing
  /// is to be decided.
  func countSignature(of container: ContainerRecord?, isGood: Bool, limit: Int) throws -> DecisionOutcome? {
    guard let container, container.isInUse else { return .unknown }
    let failed = try number(
      "SELECT failed_signatures FROM containers WHERE id = $1", [.of(container.id)])
    return try countSignature(of: container.id, failed: failed ?? 0, isGood: isGood, limit: limit)
  }

  func countSignature(
    of container: ContainerID, failed: Int64, isGood: Bool, limit: Int
  ) throws -> DecisionOutcome? {
    let count = SignatureCount(after: failed, isGood: isGood, limit: limit)
    if let failed = count.failed {
      try execute(
        "UPDATE containers SET failed_signatures = $1 WHERE id = $2", [.integer(failed), .of(container)],
        changing: 1)
    }
    return count.refusal
  }
}

extension ContainerRecord {
  /// What the device of the container calls itself, as ``DeviceRecord/installation`` has it: 32 hexadecimal digits in lower case.
  public var installation: String { Hex.encode(device) }

  /// Whether its user was deleted, and nothing says any more on which device it was.
  package var isErased: Bool { device.isEmpty }

  /// The digests of its public keys of all three uses.
  var keyDigests: [PublicKeyDigest] { [sessionKey, encryptionKey, signingKey].map(PublicKeyDigest.init) }
}

extension KeyHolder {
  /// A container.
  init(_ container: ContainerRecord) {
    self.init(kind: .container, authenticator: container.id.text, user: container.user)
  }
}

extension DeviceRecord {
  /// The device of a container that becomes active.
  init(of container: ContainerRecord, at time: Int64, _ mac: RowMAC) {
    self.init(
      of: container.user, container.installation, name: container.name, platform: container.platform,
      at: time, mac)
  }
}
