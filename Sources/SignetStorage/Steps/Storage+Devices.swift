import SignetCrypto
import SignetSQL

extension Storage {
  /// Returns a user's devices, oldest first, including those whose row MAC does not verify.
  package func devices(user: UserID) async throws(StorageFailure) -> [DeviceRecord] {
    try await read { try $0.devices(user: user) }
  }

  /// Returns the device with this id, even if its row's MAC does not verify; `nil` for none.
  package func device(_ id: ID<DeviceRecord>) async throws(StorageFailure) -> DeviceRecord? {
    try await read { try $0.device(id: id) }
  }

  /// Locks a device, and orders its container to lock too, which informs the user.
  ///
  /// If the row's MAC does not verify, the row is rewritten as locked, which grants nothing. If the row names another user
  /// or installation than the id was derived from, the device to lock is unknown, and the step throws.
  ///
  /// - Parameters:
  ///   - id: The device.
  ///   - reason: The reason in the operator's words; may be empty.
  ///   - audit: The event, whose time is the time of the lock.
  ///   - order: Makes the order for a container id, with its event.
  /// - Returns: The outcome; never ``DeviceLockOutcome/toBeWiped`` or ``DeviceLockOutcome/altered``.
  /// - Throws: ``StorageFailure/altered(row:of:)`` for a row with another user or installation.
  package func lockDevice(
    _ id: ID<DeviceRecord>, reason: String, audit: AuditRecord,
    order: @escaping @Sendable (ContainerID) -> (DeviceCommandRecord, AuditRecord)
  ) async throws(StorageFailure) -> DeviceLockOutcome {
    try await write { [mac] database in
      guard let device = try database.device(id: id)?.identified(mac) else { return .unknown }
      try database.settle(device.locked(because: reason, at: audit.time), at: audit.time)
      try database.appendAudit(audit)
      let orders = try database.give(.lock, on: device, order)
      try database.endUnanswerable(of: device.user, after: audit, at: audit.time)
      return .done(orders)
    }
  }

  /// Ends the locks that operators have set on a device and on its container.
  ///
  /// A lock that a report caused remains.
  ///
  /// - Returns: The outcome.
  package func unlockDevice(
    _ id: ID<DeviceRecord>, audit: AuditRecord,
    order: @escaping @Sendable (ContainerID) -> (DeviceCommandRecord, AuditRecord)
  ) async throws(StorageFailure) -> DeviceLockOutcome {
    try await write { database in
      guard let device = try database.device(id: id) else { return .unknown }
      switch device.unlocked(after: try database.deviceCommands(on: device), at: audit.time) {
      case .refused(let outcome): return outcome
      case .made(let unlocked):
        try database.settle(unlocked, at: audit.time)
        try database.appendAudit(audit)
        return .done(try database.give(.unlock, on: device, order))
      }
    }
  }

  /// Revokes everything that is bound to the account on a device, permanently; a lock of the device remains.
  ///
  /// A row whose MAC does not verify remains too, because it may have been locked.
  ///
  /// - Parameters:
  ///   - id: The device.
  ///   - audit: The event, whose time is the time of the revocation.
  ///   - lost: Makes the event for each item that is lost.
  /// - Returns: `true` if there is such a device.
  /// - Throws: ``StorageFailure/altered(row:of:)`` for a row with another user or installation.
  package func revokeDevice(
    _ id: ID<DeviceRecord>, audit: AuditRecord, lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { [mac] database in
      guard let device = try database.device(id: id)?.identified(mac) else { return false }
      try database.appendAudit(audit)
      try database.revoke(on: device.installation, of: device.user, at: audit.time, lost)
      try database.settleDevice(device.installation, of: device.user, at: audit.time)
      try database.recordChange(ofUser: device.user)
      try database.endUnanswerable(of: device.user, after: audit, at: audit.time)
      return true
    }
  }
}

// The check of devices.
extension SQLConnection {
  /// Checks that a device is not locked; every step that accepts input of an authenticator, or binds one, calls it before it
  /// changes anything.
  ///
  /// - Parameters:
  ///   - installation: The installation id of the device; `nil` passes.
  ///   - user: The user of the device.
  /// - Throws: ``StorageFailure/deviceLocked``, ``StorageFailure/altered(row:of:)``, ``SQLFailure``.
  func requireUsable(device installation: String?, of user: UserID) throws {
    guard let installation else { return }
    if let device = try anyDevice(installation, of: user) {
      if let refusal = device.refusal { throw refusal }
    } else if try hasBoundAuthenticators(to: installation, of: user) {
      // A row existed and has been removed; it may have been locked.
      throw StorageFailure.altered(row: installation, of: "devices")
    }
  }

  private func hasBoundAuthenticators(to installation: String, of user: UserID) throws -> Bool {
    try AuthenticatorRecord.Kind.boundToDevices.contains {
      try $0.isBound(to: installation, of: user, in: self)
    }
  }

  /// Returns `true` if nothing that is bound to a device is accepted: it is locked, or its row was altered or removed.
  func isLocked(_ installation: String?, of user: UserID) throws -> Bool {
    guard let installation else { return false }
    guard let device = try anyDevice(installation, of: user) else { return true }
    return device.refusal != nil
  }

  /// Adds or updates the device to which a step binds something.
  ///
  /// - Parameter new: The device; its name and its platform replace the known ones if they are not empty.
  /// - Throws: ``SQLFailure``, ``StorageFailure/altered(row:of:)``.
  func bind(_ new: DeviceRecord) throws {
    // Two concurrent steps may both find no row; the second then keeps the row of the first.
    try insert(new)
    guard let device = try device(new.installation, of: new.user) else {
      throw StorageFailure.failed(detail: "a device was not written")
    }
    try settle(device.described(by: new), at: new.created)
    try removeUnusedDevices(of: new.user, but: device.id)
  }

  /// Removes a user's devices that have no bound authenticators and were never locked, once the user has many devices.
  private func removeUnusedDevices(of user: UserID, but current: ID<DeviceRecord>) throws {
    let count = try number("SELECT count(*) FROM devices WHERE user_id = $1", [.of(user)])
    guard let count, DeviceRetention.isCrowded(count) else { return }
    let bound = try AuthenticatorRecord.Kind.boundToDevices.flatMap {
      try $0.installations(of: user, in: self)
    }
    let unordered = try rows(
      """
      SELECT id, installation FROM devices
      WHERE user_id = $1 AND id <> $2 AND standing = $3 AND ordered IS NULL
      """, [.of(user), .of(current), .of(ComplianceState.open)]
    ) { (id: try $0.id(0) as ID<DeviceRecord>, installation: try $0.text(1)) }
    for id in DeviceRetention.forgotten(among: unordered, boundTo: bound) {
      try execute("DELETE FROM devices WHERE id = $1", [.of(id)], changing: 1)
    }
  }
}

// The compliance state of a device.
extension SQLConnection {
  /// Returns a user's devices, oldest first, including those whose row MAC does not verify.
  func devices(user: UserID) throws -> [DeviceRecord] {
    try records("WHERE user_id = $1 ORDER BY created, id", [.of(user)])
  }

  /// Returns the device with this id, even if its row's MAC does not verify.
  fileprivate func device(id: ID<DeviceRecord>) throws -> DeviceRecord? {
    try record("WHERE id = $1", [.of(id)])
  }

  /// Returns the user's device with this installation id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify; ``SQLFailure``.
  func device(_ installation: String, of user: UserID) throws -> DeviceRecord? {
    try anyDevice(installation, of: user)?.checked()
  }

  /// Returns the user's device with this installation id, even if its row's MAC does not verify.
  func anyDevice(_ installation: String, of user: UserID) throws -> DeviceRecord? {
    try record("WHERE user_id = $1 AND installation = $2", [.of(user), .text(installation)])
  }

  /// Updates the compliance state of a device after a change of an authenticator that is bound to it.
  ///
  /// - Parameters:
  ///   - installation: The installation id of the device.
  ///   - user: The user of the device.
  ///   - lock: The reason of a new lock of the device itself; `nil` keeps the present one.
  ///   - time: The time of the change.
  /// - Throws: ``SQLFailure``.
  func settleDevice(
    _ installation: String, of user: UserID, locking lock: String? = nil, at time: Int64
  ) throws {
    let device = try anyDevice(installation, of: user)
    guard let updated = device?.keeping(lock: lock, at: time) else { return }
    try settle(updated, at: time)
  }

  /// Writes a device with the compliance state that ``DeviceSettlement`` derives.
  ///
  /// If an altered authenticator is the reason for the lock, the lock is recorded, and requests that no other authenticator
  /// can answer end.
  fileprivate func settle(_ device: DeviceRecord, at time: Int64) throws {
    guard let before = try anyDevice(device.installation, of: device.user) else { return }
    let tables = AuthenticatorRecord.Kind.boundToDevices
    let settlement = DeviceSettlement(
      device, before: before, try tables.flatMap { try $0.complianceStates(on: device, in: self) })
    let device = settlement.device
    if settlement.isLocked {
      for table in tables { try table.disableLocked(device, in: self) }
    }
    guard settlement.isChanged else { return }
    try execute(
      """
      UPDATE devices SET name = $1, platform = $2, standing = $3, ordered_lock = $4, ordered_reason = $5, ordered = $6,
        code = $7
      WHERE id = $8
      """,
      [
        .text(device.name), .text(device.platform), .of(device.compliance),
        .int(device.isOrderedLocked ? 1 : 0), .text(device.orderedReason), .optional(device.ordered),
        .optional(rowMAC.mac(of: device.image)), .of(device.id),
      ], changing: 1)
    if let alteration = settlement.alteration {
      let event = AuditRecord(alteration, by: .server, at: time)
      // The row of the authenticator is not trusted, so the event's device is passed explicitly.
      try appendAudit(event, on: device.id)
      try endUnanswerable(of: device.user, after: event, at: time)
    }
    guard let news = settlement.news else { return }
    try publish(OutboxEvent(news, of: device.id.text, user: device.user.text), at: time)
    guard settlement.endsPendingOperations else { return }
    for table in tables { try table.endAtLock(of: device, at: time, in: self) }
  }

  /// Revokes everything that a user has on a device, permanently.
  ///
  /// - Parameters:
  ///   - installation: The installation id of the device.
  ///   - user: The user of the device.
  ///   - kind: A kind of authenticators that is kept; `nil` for none.
  ///   - time: The time of the revocation.
  ///   - lost: Makes the event for each item that is lost.
  /// - Throws: ``SQLFailure``.
  func revoke(
    on installation: String, of user: UserID, but kind: AuthenticatorRecord.Kind? = nil, at time: Int64,
    _ lost: (DeviceLoss) -> AuditRecord
  ) throws {
    for table in AuthenticatorRecord.Kind.boundToDevices where table.kind != kind {
      try table.revoke(on: installation, of: user, at: time, in: self, lost)
    }
  }
}

extension DeviceRecord {
  /// Makes the device to which something is bound at a time.
  ///
  /// Its id is derived from the user and the installation under the master key, so that an attacker with write access to the
  /// database cannot forge one.
  init(
    of user: UserID, _ installation: String, name: String = "", platform: String = "", at time: Int64,
    _ mac: RowMAC
  ) {
    var image = MACInput("ids of devices")
    image.append(user)
    image.append(installation)
    var bytes = Array(
      (mac.mac(of: image) ?? image.withBytes { HashFunction.sha256.digest(of: $0) }).prefix(16))
    bytes[0] &= 0x7F  // it never begins with '-', which a command line would read as an option
    self.init(
      id: ID(unchecked: Base64URL.encode(bytes)), user: user, installation: installation, name: name,
      platform: platform,
      created: time)
  }

  /// Returns the device if its id was derived from this user and installation; the rest of its row may be altered.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  fileprivate func identified(_ mac: RowMAC) throws(StorageFailure) -> DeviceRecord {
    guard DeviceRecord(of: user, installation, at: created, mac).id == id else {
      throw .altered(row: id.text, of: "devices")
    }
    return self
  }
}
