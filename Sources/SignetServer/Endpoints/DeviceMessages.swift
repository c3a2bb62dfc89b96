import SignetJSON
import SignetProtocol

// Messages of devices, for the API description only. `SignetProtocol` parses and writes the real ones; a test compares both.

struct ActivationStartMembers: Message {
  let version: Int64, user: UserID, nonce: String

  static let schema = MessageSchema(Self.init) {
    Member("version", \Self.version, .integer(1...1))
    Member("user", \Self.user)
    Member("nonce", \Self.nonce, .nonce)
  }
}

extension Shape where Value == String {
  static let nonce = Shape.text(43...43).adding(["description": "base64url of 32 random bytes."])
    .named("Bytes32")
  static let handshake = Shape.text(...2048)
  static let line = Shape.text(...128).adding([
    "description": "Plain characters without a line feed."
  ]).named("Line128")
}

/// The answer to the beginning of an activation or a renewal.
struct StartAnswerMembers: Message {
  let handshake: String, offer: String

  static let schema = MessageSchema(Self.init, named: "StartAnswer") {
    Member("handshake", \Self.handshake, .handshake)
    Member("offer", \Self.offer, "base64url of a JSON object.")
  }
}

/// The keys of a new container.
struct ActivationFinishMembers: Message {
  let handshake: String, message: String, possession: String

  static let schema = MessageSchema(Self.init) {
    Member("handshake", \Self.handshake, .handshake)
    Member("message", \Self.message, "A JWS of the type signet-activation.")
    Member("possession", \Self.possession, "A JWS of the type signet-possession, by the new signing key.")
  }
}

struct SignedMessageMembers: Message {
  let message: String

  static let schema = MessageSchema(Self.init, named: "Message") {
    Member("message", \Self.message, "A JWS.")
  }
}

/// The proof that a device can decrypt its receipt.
struct ActivationConfirmMembers: Message {
  let confirmation: String?

  static let schema = MessageSchema(Self.init) {
    Member(
      "confirmation", \Self.confirmation,
      "What the receipt holds for the new encryption key: 32 bytes, base64url. An active container needs none."
    )
  }
}

struct RenewalStartMembers: Message {
  let version: Int64, container: String, nonce: String

  static let schema = MessageSchema(Self.init) {
    Member("version", \Self.version, .integer(1...1))
    Member("container", \Self.container)
    Member("nonce", \Self.nonce, .nonce)
  }
}

/// The new keys of a container.
struct RenewalFinishMembers: Message {
  let handshake: String, message: String, proof: String, possession: String

  static let schema = MessageSchema(Self.init) {
    Member("handshake", \Self.handshake, .handshake)
    Member("message", \Self.message, "A JWS of the type signet-renewal.")
    Member("proof", \Self.proof)
    Member("possession", \Self.possession, "A JWS of the type signet-possession, by the new signing key.")
  }
}

/// The notice that a container was deleted.
struct EndMembers: Message {
  let notice: String

  static let schema = MessageSchema(Self.init) {
    Member("notice", \Self.notice, "A JWS of the type signet-end.")
  }
}

/// A user's signed decision.
package struct DecisionMembers: Message {
  package let decision: String

  package static let schema = MessageSchema(Self.init, named: "Decision") {
    Member("decision", \Self.decision, "A JWS of the type signet-decision.")
  }
}

/// The state of a transaction after a decision.
struct DecidedMembers: Message {
  let status: DecisionStatus

  static let schema = MessageSchema(Self.init) { Member("status", \Self.status) }
}

/// The reason for a user's cancellation.
struct CancellationMembers: Message {
  let reason: String, message: String?

  static let schema = MessageSchema(Self.init) {
    Member("reason", \Self.reason, .oneOf("userCancel", "notifySuspicious"))
    Member("message", \Self.message, .text(...1000))
  }
}

/// A push target that a device adds.
struct NewPushTargetMembers: Message {
  let name: String?, target: JSONObject

  static let schema = MessageSchema(Self.init) {
    Member("name", \Self.name, .line)
    Member("target", \Self.target, .object(.pushTarget))
  }
}

/// A device's changes of a push target.
struct ChangedPushTargetMembers: Message {
  let name: String?, target: JSONObject?

  static let schema = MessageSchema(Self.init) {
    Member("name", \Self.name, .line)
    Member("target", \Self.target, .object(.pushTarget))
  }
}

/// The push targets of a container.
struct PushTargetListMembers: Message {
  struct Entry: Message {
    let id: String, name: String, target: JSONObject, created: Int64

    static let schema = MessageSchema(Self.init) {
      Member("id", \Self.id)
      Member("name", \Self.name)
      Member("target", \Self.target, .object(.pushTarget))
      Member("created", \Self.created, .time)
    }
  }
  let targets: [Entry], services: [String], webPushKey: String?

  static let schema = MessageSchema(Self.init, named: "PushTargets") {
    Member("targets", \Self.targets)
    Member("services", \Self.services)
    Member("webPushKey", \Self.webPushKey)
  }
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
