import SignetSQL

extension Storage {
  /// The container of this id in any state; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func container(_ id: String) async throws(StorageFailure) -> ContainerRecord? {
    try await read { try $0.container(id) }
  }

  /// The container of this id in any state, also one whose row was altered; `nil` for none.
  public func anyContainer(_ id: String) async throws(StorageFailure) -> ContainerRecord? {
    try await read { try $0.anyContainer(id) }
  }

  /// A user's containers in every state, oldest first, also those whose rows were altered.
  public func containers(user: String) async throws(StorageFailure) -> [ContainerRecord] {
    try await read { try $0.containers(of: user) }
  }

  /// Revokes a container for good, and forgets its credential; what UAF has on its device goes with it.
  ///
  /// Nothing else goes where the device has another container in use, which took the place of this one, nor with one that never
  /// was in use. The row of one that was altered is written anew as that of a revoked one.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - audit: The event, and when.
  ///   - lost: Makes the event of what goes with it.
  /// - Returns: Whether there is such a container.
  /// - Throws: ``StorageFailure``.
  public func revokeContainer(
    _ id: String, audit: AuditRecord, lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      guard let container = try database.anyContainer(id) else { return false }
      // What its device has got since is not of this container.
      guard container.state != .revoked else { return true }
      try database.revoke(container)
      try database.noteChange(ofContainer: id)
      try database.appendAudit(audit)
      let isReplaced = try database.containers(of: container.user, "state = 'active'").contains {
        $0.state == .active && $0.device == container.device
      }
      // Of one that was altered nobody knows whether it was in use: what it names goes, and is not left behind.
      if [.active, .altered].contains(container.state), !isReplaced {
        try database.revokeUAF(on: container.installation, of: container.user, at: audit.time, codes, lost)
      }
      try database.settleDevice(of: container, at: audit.time, codes)
      try database.endUnanswerable(of: container.user, after: audit, at: audit.time)
      return true
    }
  }

  /// Claims the id of a signed request, 16 bytes; it can be claimed once.
  ///
  /// - Parameters:
  ///   - id: 16 bytes.
  ///   - container: Whose request it is.
  ///   - expires: When the id may be forgotten, because its request is too old by then.
  ///   - isGranting: Whether the user has to be active: a request that grants nothing may come from the device of a suspended one.
  /// - Returns: Whether this call is the first.
  /// - Throws: ``StorageFailure``.
  public func claimRequest(
    _ id: [UInt8], container: String, expires: Int64, isGranting: Bool = true
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      if isGranting { try database.requireActiveUser(ofContainer: container) }
      return try database.claim(id, container: container, expires: expires)
    }
  }
}

extension SQLConnection {
  /// The container of an id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func container(_ id: String) throws -> ContainerRecord? { try anyContainer(id)?.checked() }

  // Put together once: each request of a device reads its container.
  private static let containerByID = "SELECT \(ContainerRecord.columns) FROM containers WHERE id = $1"

  /// The container of an id, also one whose row was altered; `nil` for none.
  func anyContainer(_ id: String) throws -> ContainerRecord? {
    let codes = try rowCodes
    let found = try row(Self.containerByID, [.text(id)]) {
      try ContainerRecord($0, codes)
    }
    if let found { remember(found) }
    return found
  }

  private static let lastContainer = TransactionLocal<ContainerRecord?>()

  /// Notes a container that was read, for ``lastContainer(_:)``.
  func remember(_ container: ContainerRecord) { setLocal(Self.lastContainer, to: container) }

  /// The container of an id as this commit has read it, for its user and device: a step mostly writes about the one that it has just
  /// read.
  func lastContainer(_ id: String) throws -> ContainerRecord? {
    if let last = try local(Self.lastContainer, load: { nil }), last.id.utf8.elementsEqual(id.utf8) {
      return last
    }
    return try anyContainer(id)
  }

  /// For a step that changes the user or the device of a container: the next one of the same commit reads it again.
  func forgetLastContainer() { setLocal(Self.lastContainer, to: nil) }

  /// A user's containers, oldest first, also those whose rows were altered.
  func containers(of user: String, _ condition: String = "1 = 1") throws -> [ContainerRecord] {
    let codes = try rowCodes
    return try rows(
      "SELECT \(ContainerRecord.columns) FROM containers WHERE user_id = $1 AND \(condition) ORDER BY created, id",
      [.text(user)]
    ) { try ContainerRecord($0, codes) }
  }

  /// Revokes a container, of whatever state, and forgets what made its codes.
  func revoke(_ container: ContainerRecord) throws {
    var container = container
    container.state = .revoked
    try update(container)
    try removeCredential(container.id)
  }

  func insert(_ new: NewContainer) throws {
    let container = new.container
    try insert(new.credential)
    try insert(container)
    for key in container.keyDigests { try register(key, for: KeyHolder(container)) }
  }
}
