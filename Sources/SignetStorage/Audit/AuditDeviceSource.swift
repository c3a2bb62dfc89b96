import SignetSQL

/// The object from which the device of an event is derived.
enum AuditDeviceSource: Hashable, Sendable {
  /// A container, which is on a device.
  case container(ContainerID)
  /// A UAF key, whose device may be known.
  case key(aaid: String, id: [UInt8])
  /// A UAF target, whose device may be known.
  case target(ID<UAFTargetRecord>)
  /// A UAF operation, whose token may have been sent to a target.
  case session(ID<UAFOperationRecord>)
  /// The actor of the event, if that is a device.
  case actor
  /// None, or the event itself names the device.
  case none
}

extension AuditActor {
  /// The object from which the device of an event by this actor is derived.
  fileprivate var deviceSource: AuditDeviceSource {
    switch self {
    case .container(let id): .container(id)
    case .target(let id): .target(id)
    case .key, .client, .user, .app, .local, .server, .conformance, .anyone: .none
    }
  }
}

extension SQLConnection {
  /// Returns the id of the device of an event by an actor; `nil` if it is unknown, or if a row that is needed for it was altered.
  ///
  /// A step that accepts a UAF response passes the device of its keys itself: the stored operation has the keys of an
  /// accepted response, and none of a rejected one.
  func device(of source: AuditDeviceSource, by actor: AuditActor) throws -> ID<DeviceRecord>? {
    do {
      switch source == .actor ? actor.deviceSource : source {
      case .container(let id):
        // The container of a deleted user has no device any more.
        guard let found = try lastContainer(id)?.checked(), !found.device.isEmpty else { return nil }
        return try deviceID(found.installation, of: found.user)
      case .key(let aaid, let id):
        guard let key = try uafCredential(aaid, id) else { return nil }
        return try deviceID(of: key)
      case .target(let id): return try device(ofTarget: id)
      case .session(let id):
        guard let target = try uafOperation(id)?.target else { return nil }
        return try device(ofTarget: target)
      case .actor, .none: return nil
      }
    } catch StorageFailure.altered { return nil }
  }

  /// Returns the id of the user's device with this installation id, even if nothing is bound to it.
  func deviceID(_ installation: String, of user: UserID) throws -> ID<DeviceRecord> {
    try DeviceRecord(of: user, installation, at: 0, rowMAC).id
  }

  /// Returns the id of a key's device; `nil` if it is unknown, or if the key's row was altered.
  func deviceID(of key: UAFCredentialRecord) throws -> ID<DeviceRecord>? {
    guard key.state != .altered, let device = key.device else { return nil }
    return try deviceID(device, of: key.user)
  }

  private func device(ofTarget id: ID<UAFTargetRecord>) throws -> ID<DeviceRecord>? {
    guard let target = try uafTarget(id), let device = target.device else { return nil }
    return try deviceID(device, of: target.user)
  }
}
