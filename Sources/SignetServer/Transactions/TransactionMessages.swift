import SignetCrypto
package import SignetJSON
package import SignetProtocol
package import SignetStorage

extension DecisionStatus: Shaped {
  package static var shape: Shape<DecisionStatus> { oneOfAll.named("DecisionStatus") }
}

extension TransactionRecord.State: Shaped {}

/// A transaction to create.
package struct NewTransaction: Message {
  /// The size of a number that the user types.
  package struct Number: Message {
    package let digits: Int64

    package init(digits: Int64) { self.digits = digits }

    package static let schema = MessageSchema(Self.init) { Member("digits", \Self.digits, .integer(2...6)) }
  }
  package var user: UserID?, anybody: Bool?, text: String?, form: JSONObject?, context: JSONObject?
  package var lifetime: Int64?, statuses: [DecisionStatus]?, number: Number?, typed: [Int64]?
  package var requirement: String?

  package init(
    user: UserID? = nil, anybody: Bool? = nil, text: String? = nil, form: JSONObject? = nil,
    context: JSONObject? = nil, lifetime: Int64? = nil, statuses: [DecisionStatus]? = nil,
    number: Number? = nil, typed: [Int64]? = nil, requirement: String? = nil
  ) {
    self.user = user
    self.anybody = anybody
    self.text = text
    self.form = form
    self.context = context
    self.lifetime = lifetime
    self.statuses = statuses
    self.number = number
    self.typed = typed
    self.requirement = requirement
  }

  package static let schema = MessageSchema(Self.init, "`user` or `anybody`, and `text` or `form`.") {
    Member("user", \Self.user)
    Member("anybody", \Self.anybody, "`true` instead of `user`: for whoever scans the link.")
    Member("text", \Self.text, "The text to decide on; its content has 1 to 4,096 bytes in all.")
    Member("form", \Self.form, .object(.form))
    Member(
      "context", \Self.context, .object(.transactionContext),
      "The user's place, as the relying party sees it.")
    Member(
      "lifetime", \Self.lifetime,
      "Seconds; 300 by default, if the operator sets no other value.")
    Member("statuses", \Self.statuses, "The decisions that the user can make; denial is always possible.")
    Member("number", \Self.number, "The server generates a number to display, which the user must type.")
    Member("typed", \Self.typed, .typedFields)
    Member("requirement", \Self.requirement, .requirement)
  }
}

extension Shape where Value == String {
  /// The name of a requirement.
  static let requirement = Shape.text(1...Int64(NamedRequirements.longestName)).adding([
    "description": "The name of the requirement that an approval must meet; signed content by default."
  ]).named("Requirement")
}

extension Shape where Value == [Int64] {
  /// The positions of the form's fields that the user types.
  static let typedFields = Shape.list(.integer(0...31), .some(...8)).adding([
    "description": "Positions of the form's fields, from 0, ascending."
  ]).named("TypedFields")
}

extension JSONSchema {
  private static func object(_ properties: JSONObject, required: [String] = []) -> JSONObject {
    var object: JSONObject = ["type": "object"]
    if !required.isEmpty { object["required"] = .array(required.map { .string($0) }) }
    object["properties"] = .object(properties)
    return object
  }

  private static func text(_ limits: ClosedRange<Int64>) -> JSONValue {
    .object(Shape.text(limits).schema.json)
  }

  /// The place where a relying party sees a user; `TransactionContext` parses it.
  static let transactionContext = JSONSchema(
    object(["place": text(1...256), "browser": text(1...256), "address": text(1...256)]))

  /// The evidence of an answer by a UAF authenticator or an app; `EvidenceCheck` parses it.
  static let evidence = JSONSchema(
    [
      "type": "object", "required": ["kind", "statement", "serverKey"],
      "properties": [
        "kind": ["type": "string", "enum": ["uaf", "app"]], "appID": ["type": "string"],
        "challenge": ["type": "string"], "fcParams": ["type": "string"], "text": ["type": "string"],
        "assertions": [
          "type": "array", "minItems": 1, "maxItems": 16,
          "items": .object(
            object(
              [
                "aaid": ["type": "string"], "keyID": ["type": "string"], "publicKey": ["type": "string"],
                "keyFormat": ["type": "integer"], "algorithm": ["type": "integer"],
                "assertion": ["type": "string"],
              ], required: ["aaid", "keyID", "publicKey", "keyFormat", "algorithm", "assertion"])),
        ], "message": ["type": "string"], "answer": ["type": "string"], "statement": ["type": "string"],
        "serverKey": ["type": "string"],
      ], "description": "docs/protocol.md section 5.2.1",
    ]
  ).named("Evidence")

  private static let label = Shape.text(1...128).named("Label").schema

  /// A form that is shown field by field; `TransactionForm` parses it.
  static let form = JSONSchema(
    [
      "type": "object", "required": ["template", "fields"],
      "properties": [
        "template": ["type": "string", "pattern": "^[a-z0-9.-]{1,64}$"],
        "fields": ["type": "array", "items": .object(field.json), "minItems": 1, "maxItems": 32],
      ], "description": "docs/protocol.md section 5.1",
    ], definitions: field.definitions
  ).named("Form")

  private static let field = JSONSchema(
    [
      "description": "docs/protocol.md section 5.1",
      "oneOf": [
        kind(
          "amount", ["value": ["type": "string"], "currency": ["type": "string", "pattern": "^[A-Z]{3}$"]]),
        kind("payee", ["name": text(1...256), "account": text(1...128)], optional: ["account"]),
        kind("date", ["value": ["type": "string"]]),
        kind("text", ["value": ["type": "string", "minLength": 1]], hasLabel: true),
        kind(
          "group",
          [
            "pairs": [
              "type": "array",
              "items": .object(
                object(["name": text(1...128), "value": text(1...1024)], required: ["name", "value"])),
              "minItems": 1,
            ]
          ], hasLabel: true),
      ],
    ], definitions: label.definitions
  ).named("Field")

  private static func kind(
    _ type: String, _ members: JSONObject, optional: [String] = [], hasLabel: Bool = false
  ) -> JSONValue {
    var properties: JSONObject = [
      "type": ["type": "string", "enum": [.string(type)]], "label": .object(label.json),
    ]
    for (name, schema) in members.members { properties[name] = schema }
    let required = members.members.map(\.name).filter { !optional.contains($0) }
    return .object(object(properties, required: ["type"] + required + (hasLabel ? ["label"] : [])))
  }
}

package struct MadeTransaction: Message {
  package let id: TransactionID, status: String, content: String, expires: Int64, number: String?,
    link: String?

  package static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("status", \Self.status, .oneOf(TransactionRecord.State.pending.rawValue))
    Member("content", \Self.content, "The content that the user sees and signs.")
    Member("expires", \Self.expires, .time)
    Member("number", \Self.number, "To be shown to the user.")
    Member("link", \Self.link, "For whoever scans it.")
  }
}

/// A transaction for relying parties and operators.
package struct TransactionDescription: Message {
  package struct Decision: Message {
    package let jws: String?, publicKey: JSONObject?, publicKeyPEM: String?, offline: Bool?
    package let container: ContainerID, device: String, time: Int64, typed: Bool?

    package static let schema = MessageSchema(Self.init) {
      Member("jws", \Self.jws, "The JWS that the device signed.")
      Member("publicKey", \Self.publicKey, .object(.jwk))
      Member("publicKeyPEM", \Self.publicKeyPEM)
      Member("offline", \Self.offline, "Accepted by digits, without a signature.")
      Member("container", \Self.container)
      Member("device", \Self.device)
      Member("time", \Self.time, .time)
      Member(
        "typed", \Self.typed,
        "Accepted by digits for typed values: without a signature, and the device displayed only these values."
      )
    }
  }

  package struct UAFDecision: Message {
    package let session: ID<UAFOperationRecord>, time: Int64

    package static let schema = MessageSchema(Self.init) {
      Member("session", \Self.session)
      Member("time", \Self.time, .time)
    }
  }

  package struct AppAnswer: Message {
    package let mechanism: ID<PushAuthMechanismRecord>, time: Int64

    package static let schema = MessageSchema(Self.init) {
      Member("mechanism", \Self.mechanism)
      Member("time", \Self.time, .time)
    }
  }

  package struct End: Message {
    package let reason: String, message: String?, container: ContainerID?, time: Int64

    package static let schema = MessageSchema(Self.init) {
      Member("reason", \Self.reason)
      Member("message", \Self.message)
      Member("container", \Self.container)
      Member("time", \Self.time, .time)
    }
  }

  package let id: TransactionID, user: String?, content: String, status: TransactionRecord.State
  package let created: Int64, expires: Int64, typed: [Int64]?, requirements: [String]?
  package let soleKind: String?, initiated: String?
  package var decision: Decision?, uaf: UAFDecision?, app: AppAnswer?, evidence: JSONObject?, end: End?

  package static let schema = MessageSchema(Self.init, named: "Transaction") {
    Member("id", \Self.id)
    Member("user", \Self.user, "Absent while the transaction is for anybody.")
    Member("content", \Self.content)
    Member("status", \Self.status)
    Member("created", \Self.created, .time)
    Member("expires", \Self.expires, .time)
    Member("typed", \Self.typed, .typedFields.ofRow)
    Member(
      "requirements", \Self.requirements, "An approval must meet one of them; absent for signed content.")
    Member(
      "soleKind", \Self.soleKind, .oneOf([AuthenticatorRecord.Kind.uaf, .pushApp].map(\.rawValue)),
      "The only kind of authenticator that is asked, by a message or an operation."
    )
    Member("initiated", \Self.initiated, .oneOf("device"))
    Member("decision", \Self.decision)
    Member("uaf", \Self.uaf, "How it was confirmed by UAF.")
    Member(
      "app", \Self.app,
      "Answered by an authenticator app, with a key that the server has too, and so without a signature.")
    Member(
      "evidence", \Self.evidence, .object(.evidence),
      "The answer of a UAF authenticator or an app as received, and the data that verifies it.")
    Member("end", \Self.end, "How it ended without a decision.")
  }
}

extension TransactionDescription {
  /// Creates a description without the decision or the end.
  init(summaryOf record: TransactionRecord) {
    self.init(
      id: record.id, user: record.user?.text, content: record.content, status: record.state,
      created: record.created, expires: record.expires, typed: record.typedFields?.map { Int64($0) },
      requirements: record.requirements.isEmpty ? nil : record.requirements,
      soleKind: record.soleKind?.rawValue,
      initiated: record.isInitiatedByDevice ? "device" : nil, decision: nil, uaf: nil, app: nil,
      evidence: nil, end: nil)
  }

  /// Creates a description with the decision or the end.
  init(_ record: TransactionRecord, _ container: ContainerRecord?) throws {
    self.init(summaryOf: record)
    if let decision = record.decision, let container {
      self.decision = try Decision(decision, container)
    }
    uaf = record.uaf.map { UAFDecision(session: $0.session, time: $0.time) }
    app = record.app.map { AppAnswer(mechanism: $0.mechanism, time: $0.time) }
    evidence = try record.evidence.map { try JSONObject(parsing: $0.bytes) }
    end = record.end.map {
      End(
        reason: $0.reason, message: $0.message.isEmpty ? nil : $0.message, container: $0.container,
        time: $0.time)
    }
  }
}

extension TransactionDescription.Decision {
  init(_ record: DecisionRecord, _ container: ContainerRecord) throws(CryptoFailure) {
    let key = try record.jws.map { (_) throws(CryptoFailure) in
      try P256.Signing.PublicKey(x963: container.signingKey)
    }
    self.init(
      jws: record.jws, publicKey: key?.wireJWK, publicKeyPEM: key?.pemRepresentation,
      offline: record.jws == nil && !record.isTyped ? true : nil, container: container.id,
      device: Base64URL.encode(container.device), time: record.time,
      typed: record.jws == nil && record.isTyped ? true : nil)
  }
}

package struct TransactionPage: Message {
  package let transactions: [TransactionDescription]

  package static let schema = MessageSchema(Self.init) { Member("transactions", \Self.transactions) }
}

/// A relying party's query for transactions that devices initiated.
package struct InitiatedQuery: Message {
  package let initiated: String, user: UserID, after: TransactionID?, limit: Int64?

  package init(initiated: String = "device", user: UserID, after: TransactionID?, limit: Int64? = nil) {
    self.initiated = initiated
    self.user = user
    self.after = after
    self.limit = limit
  }

  package static let schema = MessageSchema(Self.init) {
    Member(
      "initiated", \Self.initiated, .oneOf("device"), "Only transactions that were initiated on a device.")
    Member("user", \Self.user, "Whose.")
    Member("after", \Self.after, .checkedID(), "The id of the last transaction received.")
    Member("limit", \Self.limit, .integer(1...100), "The maximum number of transactions; 100 by default.")
  }
}

/// An operator's query for transactions.
package struct TransactionQuery: Message {
  package let user: UserID?, status: TransactionRecord.State?, before: TransactionID?, limit: Int64?

  package init(user: UserID?, status: TransactionRecord.State?, before: TransactionID?, limit: Int64?) {
    self.user = user
    self.status = status
    self.before = before
    self.limit = limit
  }

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user, "Only transactions of this user.")
    Member("status", \Self.status, "Only transactions in this state.")
    Member("before", \Self.before, .checkedID(), "The id of the last transaction received.")
    Member("limit", \Self.limit, .integer(1...100), "The maximum number of transactions; 100 by default.")
  }
}

package struct WithdrawalQuery: Message {
  package let reason: String?

  package init(reason: String?) { self.reason = reason }

  package static let schema = MessageSchema(Self.init) {
    Member("reason", \Self.reason, .text(...1000), "The reason, in plain characters.")
  }
}

/// A transaction as text, for a device without a network.
package struct CarriedTransaction: Message {
  package let text: String

  package static let schema = MessageSchema(Self.init) {
    Member("text", \Self.text, "A JWS of the type signet-offline.")
  }
}

/// The challenge and the fields that a user types into a device.
package struct TypedChallenge: Message {
  package let challenge: String, fields: [Int64]

  package static let schema = MessageSchema(Self.init) {
    Member("challenge", \Self.challenge, .text(pattern: "^[0-9]{8}$"))
    Member("fields", \Self.fields, .typedFields)
  }
}

/// The digits that a device shows.
package struct CarriedAnswer: Message {
  package let answer: String?, typed: String?, client: String?

  package init(answer: String? = nil, typed: String? = nil, client: String?) {
    self.answer = answer
    self.typed = typed
    self.client = client
  }

  package static let schema = MessageSchema(Self.init, "`answer` or `typed`.") {
    Member("answer", \Self.answer, "The digits for the content that the device scanned and displayed.")
    Member("typed", \Self.typed, "The digits for the values that the user typed into the device.")
    Member(
      "client", \Self.client, .text(1...64), "The end user's IP address, or another identifier of the client."
    )
  }
}
