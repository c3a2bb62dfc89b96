import SignetHTTPServer
import SignetProtocol
package import SignetStorage

package enum UAFCaller: Sendable {
  /// An anonymous caller with its network address.
  case anyone(from: String)
  /// A relying party, authenticated by its API key.
  case relyingParty(APIKeyRecord)
  /// A user with a token from a UAF authentication or registration.
  ///
  /// `lockedDevices` are the locked devices of the keys that took part in that operation.
  case user(UserID, UAFBasis, lockedDevices: Set<String>)
  /// A user's device, authenticated by its target's key.
  case device(UAFTargetRecord, isLocked: Bool)
  /// The conformance tool.
  case conformanceTool

  /// Returns true if the caller may add and remove the user's keys and devices.
  func mayManage(_ user: UserID) -> Bool {
    switch self {
    case .anyone, .device: false
    case .relyingParty, .conformanceTool: true
    case .user(let id, _, let locked): locked.isEmpty && id == user
    }
  }

  /// Returns true if the caller may remove the user's keys and devices; ``confinement`` may limit this to some devices.
  func mayDeregister(_ user: UserID) -> Bool {
    switch self {
    case .anyone, .relyingParty, .conformanceTool: mayManage(user)
    case .user(let id, _, _): id == user
    case .device(let target, _): target.user == user
    }
  }

  /// The locked devices on which the caller acts; `nil` if there are none.
  ///
  /// The holder of a locked device must not remove keys that the owner has on other devices.
  var confinement: Set<String>? {
    switch self {
    case .user(_, _, let locked) where !locked.isEmpty: locked
    case .device(let target, isLocked: true): Set(target.device.map { [$0] } ?? [])
    default: nil
    }
  }

  /// Returns true if the caller may remove a target of the user.
  func mayRemove(_ target: UAFTargetRecord, of user: UserID) -> Bool {
    guard mayDeregister(user) else { return false }
    guard let confinement else { return true }
    return target.device.map(confinement.contains) ?? false
  }

  /// True if the caller may ask a user to confirm a transaction.
  var mayOrder: Bool {
    switch self {
    case .relyingParty, .conformanceTool: true
    case .anyone, .user, .device: false
    }
  }

  /// The basis of the caller's permission; `nil` for a caller without one.
  ///
  /// The storage checks again that it is valid, in the same step as the change.
  var basis: UAFBasis? {
    switch self {
    case .user(_, let basis, _): basis
    case .device(let target, _): .target(target.id)
    case .anyone, .relyingParty, .conformanceTool: nil
    }
  }

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
  /// An anonymous caller or a relying party.
  static let uafAnybody = Credential(access: .uafAnybody) { authentication, request in
    try await authentication.served.authorizations.caller(of: request)
  }

  /// A relying party, or a user with a token from a UAF operation.
  static let uafManager = Credential(access: .uafManager) { authentication, request in
    try await authentication.served.authorizations.knownCaller(of: request)
  }

  /// A caller like ``uafManager``, or a device with a signed header field.
  static let uafManagerOrDevice = Credential(access: .uafManagerOrDevice) { authentication, request in
    guard let text = request.headers["Device-Signature"] else {
      return try await authentication.served.authorizations.knownCaller(of: request)
    }
    return try await authentication.device(authentication.served.devices.signed(text, with: request).target)
  }

  /// A caller like ``uafManager``, or the device of the target in the path, with a signed header field.
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
  /// The device in the path, with a signed header field.
  static let uafDevice = Credential(access: .uafDevice) { authentication, request in
    try await authentication.served.devices.signed(
      request.headers["Device-Signature"], with: request,
      forDevice: request.parameters[PathParameter.device.rawValue] ?? "")
  }

  /// The device in the path, with a signed body.
  static let uafDeviceBody = Credential(access: .uafDeviceBody) { authentication, request in
    try await authentication.served.devices.signed(
      String(decoding: request.body, as: UTF8.self), with: request, isBody: true,
      forDevice: request.parameters[PathParameter.device.rawValue] ?? "")
  }

  /// The device of the target in the path, with a signed body.
  static let uafTargetBody = Credential(access: .uafDeviceBody) { authentication, request in
    try await authentication.served.devices.signed(
      String(decoding: request.body, as: UTF8.self), with: request, isBody: true,
      for: ID(unchecked: request.parameters[PathParameter.id.rawValue] ?? ""))
  }
}

extension CallerAuthentication {
  /// Returns the device of a target, with its lock state.
  fileprivate func device(_ target: UAFTargetRecord) async throws -> UAFCaller {
    guard let locked = try await context.storage.lockedDevices(of: .target(target.id)) else {
      throw UAFTargets.unknown
    }
    return .device(target, isLocked: !locked.isEmpty)
  }

  /// The services that authenticate UAF callers.
  ///
  /// UAF routes exist only if UAF is configured.
  fileprivate var served: (authorizations: UAFAuthorizations, devices: UAFDevices) {
    guard let uaf else { preconditionFailure("a route of UAF is answered by a server without UAF") }
    return uaf
  }
}
