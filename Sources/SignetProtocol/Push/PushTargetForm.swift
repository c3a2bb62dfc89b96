import SignetCrypto
public import SignetJSON

/// A device's request to add or to change a target (`docs/protocol.md` section 10).
public struct PushTargetForm: Hashable, Sendable {
  /// The device's name for the target, 0 to 128 plain characters without line feeds; `nil` to leave it unchanged.
  public let name: String?
  /// The destination of pushes; `nil` to leave it unchanged.
  public let target: PushTarget?

  /// Creates a form.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a name that is too long or not plain.
  public init(name: String?, target: PushTarget?) throws(WireFailure) {
    if let name {
      let isPlain = name.unicodeScalars.allSatisfy { $0 != "\n" && DisplayText.isPlain($0) }
      guard name.unicodeScalars.count <= 128, isPlain else {
        throw .invalid(member: "name", reason: "must have 0 to 128 plain characters on one line")
      }
    }
    (self.name, self.target) = (name, target)
  }

  /// Parses a form.
  ///
  /// - Throws: ``WireFailure`` for a malformed member.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    let name = try Wire.reading(object.optionalString("name"))
    let target = try Wire.reading(object.optionalObject("target"))
    if let target {
      try self.init(name: name, target: PushTarget(target))
    } else {
      try self.init(name: name, target: nil)
    }
  }

  /// The form as JSON.
  public var bytes: [UInt8] {
    var object = JSONObject()
    if let name { object["name"] = .string(name) }
    if let target { object["target"] = .object(target.json) }
    return JSONValue.object(object).bytes
  }
}

/// A server's list of a container's push targets.
public struct PushTargetList: Hashable, Sendable {
  /// A stored target.
  public struct Entry: Hashable, Sendable {
    /// The id of the target.
    public let id: PushTargetID
    /// The device's name for the target.
    public let name: String
    /// The destination of pushes.
    public let target: PushTarget
    /// The time of creation, in seconds since 1970.
    public let created: Int64

    /// Creates an entry.
    public init(id: PushTargetID, name: String, target: PushTarget, created: Int64) {
      self.id = id
      self.name = name
      self.target = target
      self.created = created
    }
  }

  /// The targets, oldest first.
  public let targets: [Entry]
  /// The services that are configured on the server, in the order of ``PushTarget/Service``.
  public let services: [PushTarget.Service]
  /// The server's key for a subscription of Web Push, an X9.63 point (RFC 8292 section 4); `nil` if the server has none.
  public let webPushKey: [UInt8]?

  /// Creates a list.
  public init(targets: [Entry], services: [PushTarget.Service], webPushKey: [UInt8]?) {
    self.targets = targets
    self.services = services
    self.webPushKey = webPushKey
  }

  /// Parses a list; targets and services that this build does not know are left out.
  ///
  /// - Throws: ``WireFailure`` for a malformed list or member.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    var targets: [Entry] = []
    for value in try Wire.reading(object.array("targets")) {
      guard case .object(let member) = value else {
        throw .invalid(member: "targets", reason: "has an element that is not an object")
      }
      let targetObject = try member.wireObject("target")
      guard PushTarget.Service(rawValue: try targetObject.wireName("service")) != nil else { continue }
      targets.append(
        Entry(
          id: try PushTargetID(member.wireString("id")), name: try member.wireString("name"),
          target: try PushTarget(targetObject), created: try member.wireInteger("created")))
    }
    self.targets = targets
    var supported: [PushTarget.Service] = []
    for value in try Wire.reading(object.array("services")) {
      if case .string(let name) = value, let service = PushTarget.Service(rawValue: name) {
        supported.append(service)
      }
    }
    services = supported
    webPushKey = object.contains("webPushKey") ? try object.wireBytes("webPushKey", count: 65) : nil
  }

  /// The list in its JSON form.
  public var json: JSONObject {
    var object: JSONObject = [
      "targets": .array(
        targets.map {
          [
            "id": .string($0.id.text), "name": .string($0.name), "target": .object($0.target.json),
            "created": .integer($0.created),
          ]
        }),
      "services": .array(services.map { .string($0.rawValue) }),
    ]
    if let webPushKey { object["webPushKey"] = .string(Base64URL.encode(webPushKey)) }
    return object
  }
}
