import SignetJSON
import SignetProtocol

extension Shape where Value == String {
  static let nonce = Shape.text(43...43).adding(["description": "base64url of 32 random bytes."])
    .named("Bytes32")
  static let handshake = Shape.text(...2048)
  static let line = Shape.text(...128).adding([
    "description": "Plain characters without a line feed."
  ]).named("Line128")
}

/// A user's signed decision.
package struct SignedDecision: Message {
  package let decision: String

  package static let schema = MessageSchema(Self.init, named: "Decision") {
    Member("decision", \Self.decision, "A JWS of the type signet-decision.")
  }
}

/// The state of a transaction after a decision.
struct DecidedTransaction: Message {
  let status: DecisionStatus

  static let schema = MessageSchema(Self.init) { Member("status", \Self.status) }
}

// Messages of devices that `SignetProtocol` parses and writes.
extension JSONSchema {
  static let activationStart = message([
    "version": Shape<Int64>.integer(1...1).schema, "user": UserID.shape.schema,
    "nonce": Shape<String>.nonce.schema,
  ])

  /// The answer to the beginning of an activation or a renewal.
  static let startAnswer = message([
    "handshake": Shape<String>.handshake.schema, "offer": string.described("base64url of a JSON object."),
  ]).named("StartAnswer")

  /// The keys of a new container.
  static let activationFinish = message([
    "handshake": Shape<String>.handshake.schema,
    "message": string.described("A JWS of the type signet-activation."), "possession": possession,
  ])

  private static let possession = string.described(
    "A JWS of the type signet-possession, by the new signing key.")

  static let signedMessage = message(["message": string.described("A JWS.")]).named("Message")

  /// The proof that a device can decrypt its receipt.
  static let activationConfirm = message(
    [
      "confirmation": string.described(
        "The confirmation from the receipt, which is encrypted for the new encryption key: 32 bytes, base64url. An active container needs none."
      )
    ], optional: ["confirmation"])

  static let renewalStart = message([
    "version": Shape<Int64>.integer(1...1).schema, "container": string,
    "nonce": Shape<String>.nonce.schema,
  ])

  /// The new keys of a container.
  static let renewalFinish = message([
    "handshake": Shape<String>.handshake.schema,
    "message": string.described("A JWS of the type signet-renewal."), "proof": string,
    "possession": possession,
  ])

  /// The notice that a container was deleted.
  static let endNotice = message(["notice": string.described("A JWS of the type signet-end.")])

  /// The reason for a user's cancellation.
  static let cancellation = message(
    [
      "reason": Shape<String>.oneOf("userCancel", "notifySuspicious").schema,
      "message": Shape<String>.text(...1000).schema,
    ], optional: ["message"])

  /// A push target that a device adds.
  static let newPushTarget = message(
    ["name": Shape<String>.line.schema, "target": pushTarget], optional: ["name"])

  /// A device's changes of a push target.
  static let changedPushTarget = message(
    ["name": Shape<String>.line.schema, "target": pushTarget], optional: ["name", "target"])

  /// The push targets of a container.
  static let pushTargetList = message(
    [
      "targets": list(
        of: message([
          "id": string, "name": string, "target": pushTarget, "created": Shape<Int64>.time.schema,
        ])), "services": list(of: string), "webPushKey": string,
    ], optional: ["webPushKey"]
  ).named("PushTargets")
}

extension JSONSchema {
  /// The address of a push target; `PushTarget` parses it.
  static let pushTarget = JSONSchema([
    "description": "docs/protocol.md section 10",
    "oneOf": .array(PushTarget.Service.allCases.map { service($0.rawValue, $0.members) }),
  ]).named("PushTarget")

  private static func service(_ name: String, _ members: JSONObject) -> JSONValue {
    var properties: JSONObject = ["service": ["type": "string", "enum": [.string(name)]]]
    for (name, schema) in members.members { properties[name] = schema }
    let required = properties.members.map { JSONValue.string($0.name) }
    return ["type": "object", "required": .array(required), "properties": .object(properties)]
  }
}
