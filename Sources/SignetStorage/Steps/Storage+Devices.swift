import SignetCrypto
import SignetSQL

extension Storage {
  /// A user's devices, oldest first, also those whose rows were altered.
  public func devices(user: UserID) async throws(StorageFailure) -> [DeviceRecord] {
    try await read { try $0.devices(user: user) }
  }

  /// The device of this id, also one whose row was altered; `nil` for none.
  public func device(_ id: ID<DeviceRecord>) async throws(StorageFailure) -> DeviceRecord? {
    try await read { try $0.device(id: id) }
  }

  /// Locks a device, and orders its container to lock too, so that its user hears of it.
  ///
  /// A row that was altered is written anew so: locked, it lets nobody in. One that names another user or installation than the device
  /// had does not say what is to be locked.
  ///
  /// - Parameters:
  ///   - id: The device.
  ///   - reason: Why, in the operator's words; may be empty.
  ///   - audit: The event, and when.
  ///   - order: Makes the order for a container, of its id, with the event.
  /// - Returns: How it ended; ``DeviceLockOutcome/toBeWiped`` and ``DeviceLockOutcome/altered`` never.
  /// - Throws: ``StorageFailure/altered(row:of:)`` for a row with another user or installation.
  public func lockDevice(
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

  /// Ends the locks of a device that operators have set: its own, and that of its container.
  ///
  /// What the container was locked for by a report stays.
  ///
  /// - Returns: How it ended.
  public func unlockDevice(
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

  /// Revokes all that is bound to the account on a device, for good; a lock of the device stays.
  ///
  /// So does a row that was altered: nobody knows whether it was locked.
  ///
  /// - Parameters:
  ///   - id: The device.
  ///   - audit: The event, and when.
  ///   - lost: Makes the event of what goes with it.
  /// - Returns: Whether there is such a device.
  /// - Throws: ``StorageFailure/altered(row:of:)`` for a row with another user or installation.
  public func revokeDevice(
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

// The gate.
extension SQLConnection {
  /// The gate of devices: every step that accepts something of an authenticator, or binds one, asks here before it changes anything.
  ///
  /// - Parameters:
  ///   - installation: What the device calls itself; one that calls itself nothing passes.
  ///   - user: Whose it is.
  /// - Throws: ``StorageFailure/deviceLocked``, ``StorageFailure/altered(row:of:)``, ``SQLFailure``.
  func requireUsable(device installation: String?, of user: UserID) throws {
    guard let installation else { return }
    if let device = try anyDevice(installation, of: user) {
      if let refusal = device.refusal { throw refusal }
    } else if try isAnythingBound(to: installation, of: user) {
      // There was a row, which said whether the device was locked.
      throw StorageFailure.altered(row: installation, of: "devices")
    }
  }

  private func isAnythingBound(to installation: String, of user: UserID) throws -> Bool {
    try AuthenticatorRecord.Kind.boundToDevices.contains {
      try $0.isBound(to: installation, of: user, in: self)
    }
  }

  /// Whether nothing is accepted of what is bound to a device: it is locked, or its row was altered or removed.
  func isLocked(_ installation: String?, of user: UserID) throws -> Bool {
    guard let installation else { return false }
    guard let device = try anyDevice(installation, of: user) else { return true }
    return device.refusal != nil
  }

  /// Finds the device that something is bound to in this step, or makes it.
  ///
  /// - Parameter new: What it is: its name and its platform replace those that were known, where they say something.
  /// - Throws: ``SQLFailure``, ``StorageFailure/altered(row:of:)``.
  func bind(_ new: DeviceRecord) throws {
    // Two that come at once both find none: the second keeps the row of the first.
    try insert(new)
    guard let device = try device(new.installation, of: new.user) else {
      throw StorageFailure.failed(detail: "a device was not written")
    }
    try settle(device.described(by: new), at: new.created)
    try forgetDevices(of: new.user, but: device.id)
  }

  /// Removes a user's devices that nothing is or was bound to but what is gone, and that were never locked, once there are many.
  private func forgetDevices(of user: UserID, but kept: ID<DeviceRecord>) throws {
    let count = try number("SELECT count(*) FROM devices WHERE user_id = $1", [.of(user)])
    guard let count, DeviceRetention.isCrowded(count) else { return }
    let bound = try AuthenticatorRecord.Kind.boundToDevices.flatMap {
      try $0.installations(of: user, in: self)
    }
    let unordered = try rows(
      """
      SELECT id, installation FROM devices
      WHERE user_id = $1 AND id <> $2 AND standing = $3 AND ordered IS NULL
      """, [.of(user), .of(kept), .of(ComplianceState.open)]
    ) { (id: try $0.id(0) as ID<DeviceRecord>, installation: try $0.text(1)) }
    for id in DeviceRetention.forgotten(among: unordered, boundTo: bound) {
      try execute("DELETE FROM devices WHERE id = $1", [.of(id)], changing: 1)
    }
  }
}

// How a device stands.
extension SQLConnection {
  /// A user's devices, oldest first, also those whose rows were altered.
  func devices(user: UserID) throws -> [DeviceRecord] {
    let mac = try rowMAC
    return try rows(
      "SELECT \(DeviceRecord.columns) FROM devices WHERE user_id = $1 ORDER BY created, id", [.of(user)]
    ) { try DeviceRecord($0, mac) }
  }

  /// The device of an id, also one whose row was altered.
  fileprivate func device(id: ID<DeviceRecord>) throws -> DeviceRecord? {
    let mac = try rowMAC
    return try row("SELECT \(DeviceRecord.columns) FROM devices WHERE id = $1", [.of(id)]) {
      try DeviceRecord($0, mac)
    }
  }

  /// The device of a user that calls itself so.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func device(_ installation: String, of user: UserID) throws -> DeviceRecord? {
    try anyDevice(installation, of: user)?.checked()
  }

  /// The device of a user that calls itself so, also one whose row was altered.
  func anyDevice(_ installation: String, of user: UserID) throws -> DeviceRecord? {
    let mac = try rowMAC
    return try row(
      "SELECT \(DeviceRecord.columns) FROM devices WHERE user_id = $1 AND installation = $2",
      [.of(user), .text(installation)]
    ) { try DeviceRecord($0, mac) }
  }

  /// Writes down how a device stands, after something befell what is bound to it.
  ///
  /// - Parameters:
  ///   - installation: What the device calls itself.
  ///   - user: Whose it is.
  ///   - lock: The reason of a new lock of the device itself; `nil` to keep the present one.
  ///   - time: When.
  /// - Throws: ``SQLFailure``.
  func settleDevice(
    _ installation: String, of user: UserID, locking lock: String? = nil, at time: Int64
  ) throws {
    let device = try anyDevice(installation, of: user)
    guard let kept = device?.keeping(lock: lock, at: time) else { return }
    try settle(kept, at: time)
  }

  /// Writes a device down with its standing, as ``DeviceSettlement`` has it.
  ///
  /// If an altered authenticator is the reason for the lock, the lock is recorded, and requests that no other authenticator can answer
  /// end.
  fileprivate func settle(_ device: DeviceRecord, at time: Int64) throws {
    guard let before = try anyDevice(device.installation, of: device.user) else { return }
    let tables = AuthenticatorRecord.Kind.boundToDevices
    let settlement = DeviceSettlement(
      device, before: before, try tables.flatMap { try $0.standings(on: device, in: self) })
    let device = settlement.device
    if settlement.isLocked {
      for table in tables { try table.holdLocked(device, in: self) }
    }
    guard settlement.isChanged else { return }
    try execute(
      """
      UPDATE devices SET name = $1, platform = $2, standing = $3, ordered_lock = $4, ordered_reason = $5, ordered = $6,
        code = $7
      WHERE id = $8
      """,
      [
        .text(device.name), .text(device.platform), .of(device.standing),
        .int(device.isOrderedLocked ? 1 : 0), .text(device.orderedReason), .optional(device.ordered),
        .optional(rowMAC.mac(of: device.image)), .of(device.id),
      ], changing: 1)
    if let alteration = settlement.alteration {
      let event = AuditRecord(alteration, by: .server, at: time)
      // The row of the authenticator is not believed, so that nothing else names the device.
      try appendAudit(event, on: device.id)
      try endUnanswerable(of: device.user, after: event, at: time)
    }
    guard let news = settlement.news else { return }
    try publish(OutboxEvent(news, of: device.id.text, user: device.user.text), at: time)
    guard settlement.endsWhatIsUnderWay else { return }
    for table in tables { try table.endAtLock(of: device, at: time, in: self) }
  }

  /// Revokes what a user has on a device for good.
  ///
  /// - Parameters:
  ///   - installation: What the device calls itself.
  ///   - user: Whose it is.
  ///   - kind: A kind that is left alone; `nil` for none.
  ///   - time: When.
  ///   - lost: Makes the event of each that goes.
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
  /// A device that something is bound to at a time.
  ///
  /// Its id is made of the user and the installation under the master key, so that nobody makes it up.
  init(
    of user: UserID, _ installation: String, name: String = "", platform: String = "", at time: Int64,
    _ mac: RowMAC
  ) {
    var image = MACInput("ids of devices")
    image.append(user)
    image.append(installation)
    var bytes = Array(
      (mac.mac(of: image) ?? image.withBytes { HashFunction.sha256.digest(of: $0) }).prefix(16))
    bytes[0] &= 0x7F  // it never begins with '-', which would be an option on a command line
    self.init(
      id: ID(unchecked: Base64URL.encode(bytes)), user: user, installation: installation, name: name,
      platform: platform,
      created: time)
  }

  /// The device, where user and installation are those that its id was made of; the rest of its row may be altered.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  fileprivate func identified(_ mac: RowMAC) throws(StorageFailure) -> DeviceRecord {
    guard DeviceRecord(of: user, installation, at: created, mac).id == id else {
      throw .altered(row: id.text, of: "devices")
    }
    return self
  }
}
