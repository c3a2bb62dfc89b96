package import SignetStorage
import SignetWire

/// Who asks for a UAF operation.
package enum UAFCaller: Sendable {
  /// Somebody, from an address.
  case anyone(from: String)
  /// A relying party, by its API key.
  case relyingParty(APIKeyRecord)
  /// A user who was authenticated by UAF, or has just registered.
  case user(String)
  /// A device of a user, by the key that it has for that.
  case device(UAFTargetRecord)
  /// The conformance tool.
  case conformanceTool

  /// Whether it may add and remove a user's keys and devices.
  func mayManage(_ user: UserID) -> Bool {
    switch self {
    case .anyone, .device: false
    case .relyingParty, .conformanceTool: true
    case .user(let own): own.utf8.elementsEqual(user.text.utf8)
    }
  }

  /// Whether it may remove a user's keys.
  func mayDeregister(_ user: UserID) -> Bool {
    guard case .device(let target) = self else { return mayManage(user) }
    return target.user.utf8.elementsEqual(user.text.utf8)
  }

  /// Whether it may have a user asked to confirm something.
  var mayOrder: Bool {
    switch self {
    case .relyingParty, .conformanceTool: true
    case .anyone, .user, .device: false
    }
  }

  /// Who it is, for the audit log.
  var actor: AuditActor {
    switch self {
    case .anyone: .anyone
    case .relyingParty(let key): key.actor
    case .user(let user): .user(user)
    case .device(let target): .target(target.id)
    case .conformanceTool: .conformance
    }
  }
}
