public import SignetStorage
import SignetWire

/// The devices of users, for operators: what befalls one holds for everything on it.
public struct DeviceService: Sendable {
  private let context: ServiceContext

  /// A service over a context.
  public init(_ context: ServiceContext) { self.context = context }

  /// A user's devices, oldest first, with what is bound to the account, also of a user whom only the row of a device names.
  ///
  /// - Throws: ``StorageFailure``.
  public func holdings(of user: UserID) async throws -> AccountHoldings {
    try await context.storage.holdings(of: user, codeAttempts: context.settings.codeAttempts)
  }

  /// The device of an id.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  public func find(_ id: ID<DeviceRecord>) async throws -> DeviceRecord {
    guard let found = try await context.storage.device(id) else { throw Self.unknown }
    return found
  }

  /// Locks a device: from now on nothing of what is bound to it is accepted; its container hears of it.
  ///
  /// One whose row was altered is locked too, and its row is the server's again; not one whose row names another user or installation.
  ///
  /// - Parameters:
  ///   - id: The device.
  ///   - reason: Why, for the device's user and the audit log.
  ///   - actor: Who asks, for the audit log.
  /// - Returns: The device, locked.
  /// - Throws: ``Problem/Code/unknown``.
  @discardableResult
  public func lock(
    _ id: ID<DeviceRecord>, reason: String, by actor: AuditActor
  ) async throws -> DeviceRecord {
    try reading(DeviceCommand.check(reason: reason))
    let device = try await find(id)
    let event = context.audit(by: actor)(.deviceLocked(user: device.user, device: id, reason: reason))
    let outcome = try await context.storage.lockDevice(
      id, reason: reason, audit: event, order: order(.lock, reason: reason, by: actor))
    return try await self.device(id, after: outcome)
  }

  /// Ends the locks that operators have set of a device, and of its container.
  ///
  /// - Returns: The device.
  /// - Throws: ``Problem/Code/unknown``, ``Problem/Code/containerLocked`` where its container is to be deleted,
  ///   ``Problem/Code/deviceLocked`` where its row was altered.
  @discardableResult
  public func unlock(_ id: ID<DeviceRecord>, by actor: AuditActor) async throws -> DeviceRecord {
    let device = try await find(id)
    let event = context.audit(by: actor)(.deviceUnlocked(user: device.user, device: id))
    let outcome = try await context.storage.unlockDevice(
      id, audit: event, order: order(.unlock, reason: "", by: actor))
    return try await self.device(id, after: outcome)
  }

  /// Revokes all that is bound to a device, for good; a lock of it stays.
  ///
  /// - Returns: The device.
  /// - Throws: ``Problem/Code/unknown``.
  @discardableResult
  public func revoke(_ id: ID<DeviceRecord>, by actor: AuditActor) async throws -> DeviceRecord {
    let device = try await find(id)
    let event = context.audit(by: actor)(.deviceRevoked(user: device.user, device: id))
    let isThere = try await context.storage.revokeDevice(id, audit: event, lost: context.losses(by: actor))
    guard isThere else { throw Self.unknown }
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
        .containerLocked, "Its container is to be deleted, which the device may have done already.")
    case .altered:
      throw Problem(
        .deviceLocked,
        "The row of the device was altered in the database; lock the device first, then unlock it."
      )
    }
  }

  /// Makes the order for the container of a device.
  private func order(
    _ action: DeviceCommandRecord.Action, reason: String, by actor: AuditActor
  ) -> @Sendable (ContainerID) -> (DeviceCommandRecord, AuditRecord) {
    let audit = context.audit(by: actor)
    let random = context.random
    return { container in
      let order = DeviceCommandRecord(
        id: ID(random: random), container: container, action: action, reason: reason,
        created: audit.time)
      return (
        order, audit(.accountOrdered(container: container, order: order.id, action, reason: reason))
      )
    }
  }

  private static let unknown = Problem(
    .unknown, "There is no such device; 'signet-server device list' shows those of a user.")
}
