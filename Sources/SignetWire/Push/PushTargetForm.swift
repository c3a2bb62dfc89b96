import SignetCrypto
public import SignetJSON

/// What a device says of a target: to add one, or to change one (`docs/protocol.md` section 10).
public struct PushTargetForm: Hashable, Sendable {
  /// What the device calls it: 0 to 128 plain characters, no line feed; `nil` to leave it as it is.
  public let name: String?
  /// Where pushes go; `nil` to leave it as it is.
  public let target: PushTarget?

  /// Puts a form together.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a name of another form.
  public init(name: String?, target: PushTarget?) throws(WireFailure) {
    if let name {
      let isPlain = name.unicodeScalars.allSatisfy { $0 != "\n" && DisplayText.isPlain($0) }
      guard name.unicodeScalars.count <= 128, isPlain else {
        throw .invalid(member: "name", reason: "has 0 to 128 plain characters on one line")
      }
    }
    (self.name, self.target) = (name, target)
  }

  /// Reads a form.
  ///
  /// - Throws: ``WireFailure``.
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

  /// The form as the protocol writes it.
  public var bytes: [UInt8] {
    var object = JSONObject()
    if let name { object["name"] = .string(name) }
    if let target { object["target"] = .object(target.json) }
    return JSONValue.object(object).bytes
  }
}

/// What a server says of a container's targets.
public struct PushTargetList: Hashable, Sendable {
  /// A target that the server keeps.
  public struct Entry: Hashable, Sendable {
    /// Names it.
    public let id: PushTargetID
    /// What the device calls it.
    public let name: String
    /// What it is.
    public let target: PushTarget
    /// When it was made, in seconds since 1970.
    public let created: Int64

    /// Describes a target.
    public init(id: PushTargetID, name: String, target: PushTarget, created: Int64) {
      (self.id, self.name, self.target, self.created) = (id, name, target, created)
    }
  }

  /// The targets, oldest first.
  public let targets: [Entry]
  /// The services that the server has set up, in the order of ``PushTarget/Service``.
  public let services: [PushTarget.Service]
  /// The key with which a subscription of Web Push is asked for, X9.63 (RFC 8292 section 4); `nil` where there is none.
  public let webPushKey: [UInt8]?

  /// Puts a list together.
  public init(targets: [Entry], services: [PushTarget.Service], webPushKey: [UInt8]?) {
    (self.targets, self.services, self.webPushKey) = (targets, services, webPushKey)
  }

  /// Reads a list; a target or a service that this build does not know is left out.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    var targets: [Entry] = []
    for value in try Wire.reading(object.array("targets")) {
      guard case .object(let member) = value else {
        throw .invalid(member: "targets", reason: "holds something that is no object")
      }
      let described = try member.wireObject("target")
      guard PushTarget.Service(rawValue: try described.wireName("service")) != nil else { continue }
      targets.append(
        Entry(
          id: try PushTargetID(member.wireString("id")), name: try member.wireString("name"),
          target: try PushTarget(described), created: try member.wireInteger("created")))
    }
    self.targets = targets
    var known: [PushTarget.Service] = []
    for value in try Wire.reading(object.array("services")) {
      if case .string(let name) = value, let service = PushTarget.Service(rawValue: name) {
        known.append(service)
      }
    }
    services = known
    webPushKey = object.contains("webPushKey") ? try object.wireBytes("webPushKey", count: 65) : nil
  }

  /// The list as the protocol writes it.
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
