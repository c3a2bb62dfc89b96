import SignetCrypto
import SignetSQL

extension Storage {
  /// A user's devices, oldest first, also those whose rows were altered.
  public func devices(user: String) async throws(StorageFailure) -> [DeviceRecord] {
    try await read { [codes] in try $0.devices(user: user, codes) }
  }

  /// The device of this id, also one whose row was altered; `nil` for none.
  public func device(_ id: String) async throws(StorageFailure) -> DeviceRecord? {
    try await read { [codes] in try $0.device(id: id, codes) }
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
  /// - Returns: How it ended; ``DeviceOrderOutcome/toBeWiped`` and ``DeviceOrderOutcome/altered`` never.
  /// - Throws: ``StorageFailure/altered(row:of:)`` for a row with another user or installation.
  public func lockDevice(
    _ id: String, reason: String, audit: AuditRecord,
    order: @escaping @Sendable (String) -> (AccountOrderRecord, AuditRecord)
  ) async throws(StorageFailure) -> DeviceOrderOutcome {
    let codes = codes
    return try await write { database in
      guard var device = try database.device(id: id, codes)?.identified(codes) else { return .unknown }
      (device.isOrderedLocked, device.orderedReason, device.ordered) = (true, reason, audit.time)
      try database.settle(device, at: audit.time, codes)
      try database.appendAudit(audit)
      let orders = try database.activeContainers(on: device).map { container in
        let (record, event) = order(container.id)
        try database.give(record, codes)
        try database.appendAudit(event)
        return record
      }
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
    _ id: String, audit: AuditRecord, order: @escaping @Sendable (String) -> (AccountOrderRecord, AuditRecord)
  ) async throws(StorageFailure) -> DeviceOrderOutcome {
    let codes = codes
    return try await write { database in
      guard var device = try database.device(id: id, codes) else { return .unknown }
      guard !device.isAltered else { return .altered }
      let containers = try database.activeContainers(on: device)
      for container in containers where try database.isToBeWiped(container.id) { return .toBeWiped }
      (device.isOrderedLocked, device.orderedReason, device.ordered) = (false, "", audit.time)
      try database.settle(device, at: audit.time, codes)
      try database.appendAudit(audit)
      var orders: [AccountOrderRecord] = []
      for container in containers where try database.isOrderedLocked(container.id) {
        let (record, event) = order(container.id)
        try database.give(record, codes)
        try database.appendAudit(event)
        orders.append(record)
      }
      return .done(orders)
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
    _ id: String, audit: AuditRecord, lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      guard let device = try database.device(id: id, codes)?.identified(codes) else { return false }
      try database.appendAudit(audit)
      for container in try database.containers(on: device) where container.state != .revoked {
        try database.revoke(container)
        try database.appendAudit(lost(.container(container.id)))
      }
      try database.revokeUAF(on: device.installation, of: device.user, at: audit.time, codes, lost)
      if !device.isAltered { try database.settle(device, at: audit.time, codes) }
      try database.noteChange(ofUser: device.user)
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
  ///   - codes: The codes of rows.
  /// - Throws: ``StorageFailure/deviceLocked``, ``StorageFailure/altered(row:of:)``, ``SQLFailure``.
  func requireUnlocked(_ installation: String?, of user: String, _ codes: RowCodes) throws {
    guard let installation else { return }
    guard let device = try device(installation, of: user, codes) else {
      // Where something is bound there was a row, which said whether the device was locked.
      if try isAnythingBound(to: installation, of: user) {
        throw StorageFailure.altered(row: installation, of: "devices")
      }
      return
    }
    guard device.standing != .locked else { throw StorageFailure.deviceLocked }
  }

  private func isAnythingBound(to installation: String, of user: String) throws -> Bool {
    for table in ["uaf_credentials", "uaf_targets"] {
      let named = "SELECT 1 FROM \(table) WHERE user_id = $1 AND device = $2 LIMIT 1"
      if try exists(named, [.text(user), .text(installation)]) { return true }
    }
    // A pending container is bound once it is confirmed.
    return try containers(of: user, "state NOT IN ('pending', 'revoked')")
      .contains { $0.installation == installation }
  }

  /// As ``requireUnlocked(_:of:_:)``, for the device of a target of UAF tokens.
  ///
  /// - Returns: Whether there is such a target, or none is named.
  @discardableResult
  func requireUnlockedDevice(ofTarget target: String?, _ codes: RowCodes) throws -> Bool {
    guard let target else { return true }
    guard let found = try uafTarget(target, codes) else { return false }
    try requireUnlocked(found.device, of: found.user, codes)
    return true
  }

  /// Whether nothing is accepted of what is bound to a device: it is locked, or its row was altered or removed.
  func isLocked(_ installation: String?, of user: String, _ codes: RowCodes) throws -> Bool {
    guard let installation else { return false }
    guard let device = try anyDevice(installation, of: user, codes) else { return true }
    return device.isAltered || device.standing == .locked
  }

  /// A target of UAF tokens that belongs to a user and is on no locked device; `nil` for none, and for one whose row was altered.
  func reachableTarget(_ id: String?, of user: String, _ codes: RowCodes) throws -> UAFTargetRecord? {
    guard let id else { return nil }
    do {
      guard let target = try uafTarget(id, codes), target.user.utf8.elementsEqual(user.utf8),
        try !isLocked(target.device, of: user, codes)
      else { return nil }
      return target
    } catch StorageFailure.altered { return nil }
  }

  /// Finds the device that something is bound to in this step, or makes it.
  ///
  /// - Parameters:
  ///   - new: What it is: its name and its platform replace those that were known, where they say something.
  ///   - codes: The codes of rows.
  /// - Throws: ``SQLFailure``, ``StorageFailure/altered(row:of:)``.
  func bind(_ new: DeviceRecord, _ codes: RowCodes) throws {
    // Two that come at once both find none: the second keeps the row of the first.
    try insert(new, codes)
    guard var device = try device(new.installation, of: new.user, codes) else {
      throw StorageFailure.failed(detail: "a device was not written")
    }
    if !new.name.isEmpty { device.name = new.name }
    if !new.platform.isEmpty { device.platform = new.platform }
    try settle(device, at: new.created, codes)
    try forgetDevices(of: new.user, but: device.id)
  }

  /// How many devices of a user there may be before those are forgotten that nothing is bound to.
  private static var keptDeviceCount: Int64 { 64 }

  /// Removes a user's devices that nothing is or was bound to but what is gone, and that were never locked, once there are many: what
  /// binds and unbinds under ever new names must not fill the database.
  private func forgetDevices(of user: String, but kept: String) throws {
    let count = try number("SELECT count(*) FROM devices WHERE user_id = $1", [.text(user)])
    guard let count, count > Self.keptDeviceCount else { return }
    let named = try rows("SELECT DISTINCT device FROM containers WHERE user_id = $1", [.text(user)]) {
      Hex.encode(try $0.blob(0))
    }
    let empty = try rows(
      """
      SELECT id, installation FROM devices
      WHERE user_id = $1 AND id <> $2 AND standing = $3 AND ordered IS NULL
        AND NOT EXISTS (SELECT 1 FROM uaf_credentials AS key WHERE key.user_id = $1 AND key.device = devices.installation)
        AND NOT EXISTS (SELECT 1 FROM uaf_targets AS target WHERE target.user_id = $1 AND target.device = devices.installation)
      """, [.text(user), .text(kept), .of(AccountStanding.open)]
    ) { (id: try $0.text(0), installation: try $0.text(1)) }
    for device in empty where !named.contains(device.installation) {
      try execute("DELETE FROM devices WHERE id = $1", [.text(device.id)], changing: 1)
    }
  }
}

// How a device stands.
extension SQLConnection {
  /// A user's devices, oldest first, also those whose rows were altered.
  func devices(user: String, _ codes: RowCodes) throws -> [DeviceRecord] {
    try rows(
      "SELECT \(DeviceRecord.columns) FROM devices WHERE user_id = $1 ORDER BY created, id", [.text(user)]
    ) { try DeviceRecord($0, codes) }
  }

  /// The device of an id, also one whose row was altered.
  fileprivate func device(id: String, _ codes: RowCodes) throws -> DeviceRecord? {
    try row("SELECT \(DeviceRecord.columns) FROM devices WHERE id = $1", [.text(id)]) {
      try DeviceRecord($0, codes)
    }
  }

  /// The device of a user that calls itself so.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func device(_ installation: String, of user: String, _ codes: RowCodes) throws -> DeviceRecord? {
    try anyDevice(installation, of: user, codes)?.checked()
  }

  /// The device of a user that calls itself so, also one whose row was altered.
  fileprivate func anyDevice(
    _ installation: String, of user: String, _ codes: RowCodes
  ) throws -> DeviceRecord? {
    try row(
      "SELECT \(DeviceRecord.columns) FROM devices WHERE user_id = $1 AND installation = $2",
      [.text(user), .text(installation)]
    ) { try DeviceRecord($0, codes) }
  }

  /// Writes down how the device of a container stands, after something befell that.
  ///
  /// A device whose row was altered stays as it is: the gate refuses it, and whatever befell its container must not be undone by it.
  ///
  /// - Parameters:
  ///   - container: The container, as it was before.
  ///   - lock: The reason of a new lock of the device itself; `nil` to keep the present one.
  ///   - time: When.
  ///   - codes: The codes of rows.
  /// - Throws: ``SQLFailure``.
  func settleDevice(
    of container: ContainerRecord, locking lock: String? = nil, at time: Int64, _ codes: RowCodes
  ) throws {
    guard var device = try anyDevice(container.installation, of: container.user, codes), !device.isAltered
    else { return }
    if let lock, !device.isOrderedLocked {
      (device.isOrderedLocked, device.orderedReason, device.ordered) = (true, lock, time)
    }
    try settle(device, at: time, codes)
  }

  /// Writes a device down with its standing: the gravest of its own order and of its active container's standing.
  ///
  /// One whose row was altered is written anew, so that it is one that is locked. What it stood at says nothing then.
  ///
  /// If an altered container is the reason for the lock, the lock is recorded (`container.altered`), and requests that no other
  /// authenticator can answer end.
  ///
  /// Registrations that are under way when it is locked end: what they would add may say that it is on another device.
  fileprivate func settle(_ device: DeviceRecord, at time: Int64, _ codes: RowCodes) throws {
    guard let before = try anyDevice(device.installation, of: device.user, codes) else { return }
    var device = device
    device.isAltered = false
    // What a row says that was altered is not believed: its container may have been locked.
    let bound = try containers(on: device)
    let standings: [AccountStanding] = bound.compactMap {
      switch $0.state {
      case .active: $0.standing
      case .altered: .locked
      case .pending, .revoked: nil
      }
    }
    device.standing =
      device.isOrderedLocked || standings.contains(.locked)
      ? .locked : standings.contains(.stepUp) ? .stepUp : .open
    if device.standing == .locked { try disableCodesOfLostContainers(of: device.user) }
    guard device != before else { return }
    try execute(
      """
      UPDATE devices SET name = $1, platform = $2, standing = $3, ordered_lock = $4, ordered_reason = $5, ordered = $6,
        code = $7
      WHERE id = $8
      """,
      [
        .text(device.name), .text(device.platform), .of(device.standing),
        .int(device.isOrderedLocked ? 1 : 0), .text(device.orderedReason), .optional(device.ordered),
        .optional(codes.code(of: device.image)), .text(device.id),
      ], changing: 1)
    let isNewLock = !device.isOrderedLocked && (before.isOrderedLocked || before.standing != .locked)
    if let altered = bound.first(where: { $0.state == .altered }), isNewLock {
      let event = AuditRecord(
        .containerAltered(user: device.user, container: altered.id), by: .server, at: time)
      // The row of the container is not believed, so that nothing else names the device.
      try appendAudit(event, on: device.id)
      try endUnanswerable(of: device.user, after: event, at: time)
    }
    guard before.isAltered || device.standing != before.standing else { return }
    let kind: OutboxEvent.Kind =
      switch device.standing {
      case .open: .deviceUnlocked
      case .stepUp: .deviceRestricted
      case .locked: .deviceLocked
      }
    try publish(OutboxEvent(kind, of: device.id, user: device.user), at: time)
    guard device.standing == .locked else { return }
    try failUAFRegistrations(
      on: device.installation, of: device.user, .forbidden(at: time), codes)
  }

  /// Takes the codes of a user's containers out of use whose rows were altered or removed.
  ///
  /// Such a container does not say on which device it is, or that it was locked: the lock of any device of the user's holds for its codes.
  fileprivate func disableCodesOfLostContainers(of user: String) throws {
    for var credential in try credentials(of: user)
    where credential.serial == nil && credential.state == .active {
      let container = try anyContainer(credential.id)
      if let container, container.state != .altered { continue }
      credential.state = .disabled
      try update(credential)
    }
  }

  /// The user's containers on a device, also those whose rows were altered.
  fileprivate func containers(on device: DeviceRecord) throws -> [ContainerRecord] {
    try containers(of: device.user).filter { $0.installation == device.installation }
  }

  fileprivate func activeContainers(on device: DeviceRecord) throws -> [ContainerRecord] {
    try containers(on: device).filter { $0.state == .active }
  }

  /// Revokes the UAF keys of a user on a device, removes its targets, and ends what is under way for either.
  ///
  /// The rows of keys stay, so that none of them is registered again.
  func revokeUAF(
    on installation: String, of user: String, at time: Int64, _ codes: RowCodes,
    _ lost: (DeviceLoss) -> AuditRecord
  ) throws {
    // What was asked of a target is found by it, so that this comes first.
    try failUAFSessions(on: installation, of: user, .forbidden(at: time), codes)
    for key in try revokeUAFCredentials(on: installation, of: user, codes) {
      try appendAudit(lost(.key(user: user, aaid: key.aaid, keyID: key.keyID)))
    }
    let device = try deviceID(installation, of: user)
    let targets = try rows(
      "DELETE FROM uaf_targets WHERE user_id = $1 AND device = $2 RETURNING \(UAFTargetRecord.columns)",
      [.text(user), .text(installation)]
    ) { row -> (id: String, device: String?) in
      // An altered row does not prove its device.
      do { return (try UAFTargetRecord(row, codes).id, device) } catch StorageFailure.altered {
        return (try row.text(0), nil)
      }
    }
    for target in targets { try appendAudit(lost(.target(target.id)), on: target.device) }
  }
}

extension ContainerRecord {
  /// What the device of the container calls itself, as ``DeviceRecord/installation`` has it: 32 hexadecimal digits in lower case.
  public var installation: String { Hex.encode(device) }
}

extension DeviceRecord {
  /// A device that something is bound to at a time.
  ///
  /// Its id is made of the user and the installation under the master key, so that nobody makes it up.
  init(
    of user: String, _ installation: String, name: String = "", platform: String = "", at time: Int64,
    _ codes: RowCodes
  ) {
    var image = RowImage("ids of devices")
    image.append(user)
    image.append(installation)
    var bytes = Array(
      (codes.code(of: image) ?? HashFunction.sha256.digest(of: image.bytes)).prefix(16))
    bytes[0] &= 0x7F  // it never begins with '-', which would be an option on a command line
    self.init(
      id: Base64URL.encode(bytes), user: user, installation: installation, name: name, platform: platform,
      created: time)
  }

  /// The device, where user and installation are those that its id was made of; the rest of its row may be altered.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  fileprivate func identified(_ codes: RowCodes) throws(StorageFailure) -> DeviceRecord {
    guard DeviceRecord(of: user, installation, at: created, codes).id == id else {
      throw .altered(row: id, of: "devices")
    }
    return self
  }

  /// The device of a container that becomes active.
  init(of container: ContainerRecord, at time: Int64, _ codes: RowCodes) {
    self.init(
      of: container.user, container.installation, name: container.name, platform: container.platform,
      at: time, codes)
  }
}
