package import Signet
import SignetCrypto
import SignetJSON

/// A request of an app to the agent.
///
/// A password, or the passcode of the device, is sent after it, never in it.
package enum AgentRequest: Hashable, Sendable {
  case state(AppGroup)
  case unlock(AppGroup, by: Credential)
  case lock(AppGroup)
  /// Locks all groups; for the agent's own command.
  case lockAll
  /// Keeps the connection open until the agent reports a lock of the session.
  case watch(AppGroup)
  case newTextKey(AppGroup, label: String)
  case textKey(AppGroup, label: String, salt: [UInt8])

  package enum Credential: String, Hashable, Sendable {
    /// The password; without one, the device alone protects.
    case password
    /// A fingerprint, which the agent has matched.
    case biometrics
    /// The passcode of the device, which the agent has verified.
    case passcode
  }

  /// The group whose session is concerned; `nil` for all.
  var group: AppGroup? {
    switch self {
    case .state(let group), .unlock(let group, _), .lock(let group), .watch(let group),
      .newTextKey(let group, _), .textKey(let group, _, _):
      group
    case .lockAll: nil
    }
  }

  /// True if the request changes or reads the state and returns no key.
  package var isControl: Bool {
    switch self {
    case .state, .unlock, .lock, .lockAll: true
    case .watch, .newTextKey, .textKey: false
    }
  }

  package init(parsing bytes: [UInt8]) throws(MalformedMessage) {
    let object = try JSONObject(message: bytes)
    switch try object.text("op") {
    case "lockAll":
      try object.only("op")
      self = .lockAll
    case "state":
      try object.only("op", "group")
      self = .state(try Self.group(object))
    case "unlock":
      try object.only("op", "group", "by")
      self = .unlock(try Self.group(object), by: try Self.method(object))
    case "lock":
      try object.only("op", "group")
      self = .lock(try Self.group(object))
    case "watch":
      try object.only("op", "group")
      self = .watch(try Self.group(object))
    case "newTextKey":
      try object.only("op", "group", "label")
      self = .newTextKey(try Self.group(object), label: try object.text("label"))
    case "textKey":
      try object.only("op", "group", "label", "salt")
      self = .textKey(
        try Self.group(object), label: try object.text("label"), salt: try object.bytes("salt", count: 32))
    default: throw MalformedMessage()
    }
  }

  package var bytes: [UInt8] {
    var object = JSONObject()
    switch self {
    case .state: object["op"] = "state"
    case .unlock(_, let method):
      object["op"] = "unlock"
      if method != .password { object["by"] = .string(method.rawValue) }
    case .lock: object["op"] = "lock"
    case .lockAll: object["op"] = "lockAll"
    case .watch: object["op"] = "watch"
    case .newTextKey(_, let label):
      object["op"] = "newTextKey"
      object["label"] = .string(label)
    case .textKey(_, let label, let salt):
      object["op"] = "textKey"
      object["label"] = .string(label)
      object["salt"] = .string(Base64URL.encode(salt))
    }
    if let group { object["group"] = .string(group.name) }
    return JSONValue.object(object).bytes
  }

  private static func method(_ object: JSONObject) throws(MalformedMessage) -> Credential {
    guard object.contains("by") else { return .password }
    guard let method = Credential(rawValue: try object.text("by")) else { throw MalformedMessage() }
    return method
  }

  private static func group(_ object: JSONObject) throws(MalformedMessage) -> AppGroup {
    guard let group = AppGroup(try object.text("group")) else { throw MalformedMessage() }
    return group
  }
}
