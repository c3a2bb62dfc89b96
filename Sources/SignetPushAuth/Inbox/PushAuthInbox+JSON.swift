import SignetCrypto
public import SignetJSON

extension PushAuthInbox {
  /// The JSON to store; it contains challenges and cookies, so it must be stored secretly.
  public var json: JSONObject {
    [
      "notifications": .array(notifications.map { .object($0.json) }),
      "received": .array(
        traces.map {
          [
            "messageId": .string($0.messageID), "digest": .string(Base64URL.encode($0.digest)),
            "until": .integer($0.until),
          ]
        }),
    ]
  }

  /// Restores a stored inbox.
  ///
  /// - Parameter json: A value of ``json``.
  /// - Throws: ``PushAuthFailure`` if the value is damaged.
  public init(_ json: JSONObject) throws(PushAuthFailure) {
    self.init()
    do throws(JSONFailure) {
      for case .object(let object) in try json.array("received") {
        traces.append(
          Trace(
            messageID: try object.string("messageId"), digest: try Self.bytes(object, "digest"),
            until: try object.integer("until")))
      }
      for case .object(let object) in try json.array("notifications") {
        notifications.append(try PushAuthNotification(stored: object))
      }
    } catch { throw .malformed(reason: "is damaged where it was stored") }
  }

  fileprivate static func bytes(_ object: JSONObject, _ name: String) throws(JSONFailure) -> [UInt8] {
    do { return try Base64URL.decode(try object.string(name)) } catch {
      throw .wrongType(member: name, expected: .string)
    }
  }
}

extension PushAuthNotification {
  fileprivate var json: JSONObject {
    var json: JSONObject = [
      "messageId": .string(message.messageID), "digest": .string(Base64URL.encode(message.digest)),
      "received": .integer(received), "claims": .object(message.claims),
    ]
    json["decision"] = decision.map { .string($0.rawValue) }
    json["answered"] = answered.map { .integer($0) }
    json["ended"] = ended.map { .integer($0) }
    return json
  }

  fileprivate init(stored json: JSONObject) throws(JSONFailure) {
    let message: PushAuthMessage
    do {
      message = try PushAuthMessage(
        try json.object("claims"), messageID: try json.string("messageId"),
        digest: try PushAuthInbox.bytes(json, "digest"))
    } catch { throw .wrongType(member: "claims", expected: .object) }
    self.init(message, received: try json.integer("received"))
    decision = try json.optionalString("decision").flatMap(Decision.init(rawValue:))
    answered = try json.optionalInteger("answered")
    ended = try json.optionalInteger("ended")
  }
}
