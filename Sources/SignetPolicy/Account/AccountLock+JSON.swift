public import SignetJSON

extension AccountLock {
  /// The JSON form; an object without members if nothing locks the account.
  public var json: JSONObject {
    var object = JSONObject()
    if !broken.isEmpty {
      object["broken"] = .array(
        broken.map { broken in
          var member = broken.breach.json
          member["since"] = .integer(broken.since)
          return .object(member)
        })
    }
    object["manual"] = manual.map { .object($0.json) }
    object["server"] = server.map { .object($0.json) }
    return object
  }

  /// Reads the JSON form.
  ///
  /// - Throws: ``JSONFailure``.
  public init(_ object: JSONObject) throws(JSONFailure) {
    for value in try object.optionalArray("broken") ?? [] {
      guard case .object(let member) = value else { throw .wrongType(member: "broken", expected: .object) }
      broken.append(
        Broken(breach: try AccountPolicyBreach(member), since: try member.integer("since")))
    }
    manual = try Self.order("manual", in: object)
    server = try Self.order("server", in: object)
  }

  private static func order(_ name: String, in object: JSONObject) throws(JSONFailure) -> Order? {
    guard let member = try object.optionalObject(name) else { return nil }
    return Order(
      reason: try member.string("reason"), policy: try member.optionalString("policy"),
      since: try member.integer("since"))
  }
}

extension AccountLock.Order {
  fileprivate var json: JSONObject {
    var object: JSONObject = ["reason": .string(reason), "since": .integer(since)]
    object["policy"] = policy.map { .string($0) }
    return object
  }
}
