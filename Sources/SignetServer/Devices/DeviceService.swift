import SignetProtocol
package import SignetStorage

/// The devices of users, for operators; a lock or revocation of a device applies to everything bound to it.
package struct DeviceService: Sendable {
  private let context: ServiceContext

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// Returns a user's devices, oldest first, with everything bound to the account.
  ///
  /// The user may be one that only the row of a device names.
  ///
  /// - Throws: ``StorageFailure``.
  package func holdings(of user: UserID) async throws -> AccountHoldings {
    try await context.storage.holdings(of: user, codeAttempts: context.settings.codeAttempts)
  }

  /// Returns a device by id.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func find(_ id: ID<DeviceRecord>) async throws -> DeviceRecord {
    guard let found = try await context.storage.device(id) else { throw Self.unknown }
    return found
  }

  /// Locks a device: the server accepts nothing more from anything bound to it, and its container receives a lock command.
  ///
  /// If the row was altered, this also restores a valid row, unless the row names another user or installation.
  ///
  /// - Parameters:
  ///   - id: The device.
  ///   - reason: The reason, for the device's user and the audit log.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The device, locked.
  /// - Throws: ``Problem/Code/unknown``.
  @discardableResult
  package func lock(
    _ id: ID<DeviceRecord>, reason: String, by actor: AuditActor
  ) async throws -> DeviceRecord {
    try reading(DeviceCommand.check(reason: reason))
    let device = try await find(id)
    let event = context.audit(by: actor)(.deviceLocked(user: device.user, device: id, reason: reason))
    let outcome = try await context.storage.lockDevice(
      id, reason: reason, audit: event, order: command(.lock, reason: reason, by: actor))
    return try await self.device(id, after: outcome)
  }

  /// Removes the locks that operators have set on a device and on its container.
  ///
  /// - Returns: The device.
  /// - Throws: ``Problem/Code/unknown``, ``Problem/Code/containerLocked`` if its container has a pending wipe,
  ///   ``Problem/Code/deviceLocked`` if its row was altered.
  @discardableResult
  package func unlock(_ id: ID<DeviceRecord>, by actor: AuditActor) async throws -> DeviceRecord {
    let device = try await find(id)
    let event = context.audit(by: actor)(.deviceUnlocked(user: device.user, device: id))
    let outcome = try await context.storage.unlockDevice(
      id, audit: event, order: command(.unlock, reason: "", by: actor))
    return try await self.device(id, after: outcome)
  }

  /// Revokes everything bound to a device permanently; its lock remains.
  ///
  /// - Returns: The device.
  /// - Throws: ``Problem/Code/unknown``.
  @discardableResult
  package func revoke(_ id: ID<DeviceRecord>, by actor: AuditActor) async throws -> DeviceRecord {
    let device = try await find(id)
    let event = context.audit(by: actor)(.deviceRevoked(user: device.user, device: id))
    let exists = try await context.storage.revokeDevice(id, audit: event, lost: context.losses(by: actor))
    guard exists else { throw Self.unknown }
    return try await find(id)
  }

  private func device(
    _ id: ID<DeviceRecord>, after outcome: DeviceLockOutcome
  ) async throws -> DeviceRecord {
    switch outcome {
    case .done: return try await find(id)
    case .unknown: throw Self.unknown
    case .toBeWiped:
      throw Problem(
        .containerLocked,
        "An operator ordered the deletion of its container; the device may have deleted it already.")
    case .altered:
      throw Problem(
        .deviceLocked,
        "The row of the device was altered in the database; lock the device first, then unlock it."
      )
    }
  }

  /// Returns a function that creates the command for the device's container.
  private func command(
    _ action: DeviceCommandRecord.Action, reason: String, by actor: AuditActor
  ) -> @Sendable (ContainerID) -> (DeviceCommandRecord, AuditRecord) {
    let audit = context.audit(by: actor)
    let random = context.random
    return { container in
      let command = DeviceCommandRecord(
        id: ID(random: random), container: container, action: action, reason: reason,
        created: audit.time)
      return (
        command, audit(.accountOrdered(container: container, order: command.id, action, reason: reason))
      )
    }
  }

  private static let unknown = Problem(
    .unknown, "There is no such device; 'signet-server device list' shows those of a user.")
}
