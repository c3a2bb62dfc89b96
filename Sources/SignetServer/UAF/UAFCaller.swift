import SignetHTTP
package import SignetStorage
import SignetWire

/// Who asks for a UAF operation.
package enum UAFCaller: Sendable {
  /// Somebody, from an address.
  case anyone(from: String)
  /// A relying party, by its API key.
  case relyingParty(APIKeyRecord)
  /// A user who was authenticated by UAF, or has just registered, in an operation by keys on devices of which these are locked.
  case user(UserID, UAFBasis, lockedDevices: Set<String>)
  /// A device of a user, by the key that it has for that.
  case device(UAFTargetRecord, isLocked: Bool)
  /// The conformance tool.
  case conformanceTool

  /// Whether it may add and remove a user's keys and devices.
  func mayManage(_ user: UserID) -> Bool {
    switch self {
    case .anyone, .device: false
    case .relyingParty, .conformanceTool: true
    case .user(let own, _, let locked): locked.isEmpty && own == user
    }
  }

  /// Whether it may remove a user's keys and devices; where ``confinement`` has devices, from these alone.
  func mayDeregister(_ user: UserID) -> Bool {
    switch self {
    case .anyone, .relyingParty, .conformanceTool: mayManage(user)
    case .user(let own, _, _): own == user
    case .device(let target, _): target.user == user
    }
  }

  /// The locked devices that it acts from; `nil` for none.
  ///
  /// Who holds one of these must not take what its owner has elsewhere.
  var confinement: Set<String>? {
    switch self {
    case .user(_, _, let locked) where !locked.isEmpty: locked
    case .device(let target, isLocked: true): Set(target.device.map { [$0] } ?? [])
    default: nil
    }
  }

  /// Whether it may remove a target of a user.
  func mayRemove(_ target: UAFTargetRecord, of user: UserID) -> Bool {
    guard mayDeregister(user) else { return false }
    guard let confinement else { return true }
    return target.device.map(confinement.contains) ?? false
  }

  /// Whether it may have a user asked to confirm something.
  var mayOrder: Bool {
    switch self {
    case .relyingParty, .conformanceTool: true
    case .anyone, .user, .device: false
    }
  }

  /// What it is known by, which has to hold in the step of what it does, too; `nil` for who acts from no device.
  var basis: UAFBasis? {
    switch self {
    case .user(_, let basis, _): basis
    case .device(let target, _): .target(target.id)
    case .anyone, .relyingParty, .conformanceTool: nil
    }
  }

  /// Who it is, for the audit log.
  var actor: AuditActor {
    switch self {
    case .anyone: .anyone
    case .relyingParty(let key): key.actor
    case .user(let user, _, _): .user(user)
    case .device(let target, _): .target(target.id)
    case .conformanceTool: .conformance
    }
  }
}

extension Credential where Caller == UAFCaller {
  /// Anybody, or a relying party.
  static let uafAnybody = Credential(access: .uafAnybody) { authentication, request in
    try await authentication.served.authorizations.caller(of: request)
  }

  /// A relying party, or a user after an operation of UAF.
  static let uafManager = Credential(access: .uafManager) { authentication, request in
    try await authentication.served.authorizations.knownCaller(of: request)
  }

  /// As ``uafManager``, or a device by a header field.
  static let uafManagerOrDevice = Credential(access: .uafManagerOrDevice) { authentication, request in
    guard let text = request.headers["Device-Signature"] else {
      return try await authentication.served.authorizations.knownCaller(of: request)
    }
    return try await authentication.device(authentication.served.devices.signed(text, with: request).target)
  }

  /// As ``uafManager``, or the device of the target in the path by a header field.
  static let uafOfTarget = Credential(access: .uafManagerOrDevice) { authentication, request in
    guard let text = request.headers["Device-Signature"] else {
      return try await authentication.served.authorizations.knownCaller(of: request)
    }
    let id = ID<UAFTargetRecord>(unchecked: request.parameters[PathParameter.id.rawValue] ?? "")
    return try await authentication.device(
      authentication.served.devices.signed(text, with: request, for: id).target)
  }
}

extension Credential where Caller == UAFDevices.Signed {
  /// The device in the path, by a header field.
  static let uafDevice = Credential(access: .uafDevice) { authentication, request in
    try await authentication.served.devices.signed(
      request.headers["Device-Signature"], with: request,
      forDevice: request.parameters[PathParameter.device.rawValue] ?? "")
  }

  /// The device in the path, by a body that it has signed.
  static let uafDeviceBody = Credential(access: .uafDeviceBody) { authentication, request in
    try await authentication.served.devices.signed(
      String(decoding: request.body, as: UTF8.self), with: request, isBody: true,
      forDevice: request.parameters[PathParameter.device.rawValue] ?? "")
  }

  /// The device of the target in the path, by a body that it has signed.
  static let uafTargetBody = Credential(access: .uafDeviceBody) { authentication, request in
    try await authentication.served.devices.signed(
      String(decoding: request.body, as: UTF8.self), with: request, isBody: true,
      for: ID(unchecked: request.parameters[PathParameter.id.rawValue] ?? ""))
  }
}

extension CallerAuthentication {
  /// The device of a target, with how it stands.
  fileprivate func device(_ target: UAFTargetRecord) async throws -> UAFCaller {
    guard let locked = try await context.storage.lockedDevices(of: .target(target.id)) else {
      throw UAFTargets.unknown
    }
    return .device(target, isLocked: !locked.isEmpty)
  }

  /// The services that authenticate callers of UAF, whose routes are there only where it is served.
  fileprivate var served: (authorizations: UAFAuthorizations, devices: UAFDevices) {
    guard let uaf else { preconditionFailure("a route of UAF is answered by a server without UAF") }
    return uaf
  }
}
