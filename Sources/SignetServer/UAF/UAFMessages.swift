import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetUAF

// Messages of UAF clients that `SignetUAF` and the services parse and write.
extension JSONSchema {
  /// A client's message that asks for a request of the protocol.
  static let getUAFRequest = message(
    [
      "op": Shape<String>.oneOf(UAFOperation.allCases.map(\.rawValue)).schema, "previousRequest": string,
      "context": string.described("JSON as a text."),
    ], optional: ["op", "previousRequest", "context"]
  ).named("GetUAFRequest")

  static let returnUAFRequest = message(
    [
      "statusCode": uafStatus, "uafRequest": string.described("A list of messages, JSON as a text."),
      "op": string, "lifetimeMillis": Int64.shape.schema,
    ], optional: ["uafRequest", "op", "lifetimeMillis"]
  ).named("ReturnUAFRequest")

  static let sendUAFResponse = message(
    [
      "uafResponse": Shape<String>.text(1...).schema.described("A list of messages, JSON as a text."),
      "context": string.described("JSON as a text."),
    ], optional: ["context"]
  ).named("SendUAFResponse")

  /// The server's answer to a response of the protocol.
  static let uafServerResponse = message(
    [
      "statusCode": uafStatus, "description": string,
      "additionalTokens": list(
        of: message(["type": Shape<String>.oneOf("JWT", "HTTP_COOKIE").schema, "value": string])),
    ], optional: ["description", "additionalTokens"]
  ).named("UAFServerResponse")

  /// The facets that may call UAF clients for the application.
  static let uafFacets = message([
    "trustedFacets": list(
      of: message([
        "version": message(["major": Int64.shape.schema, "minor": Int64.shape.schema]),
        "ids": list(of: string),
      ]))
  ]).named("UAFFacets")

  private static let uafStatus = Shape<Int64>.integer(1200...1500).schema.described(
    "A status of FIDO UAF, 1200 for success.")
}

/// A token for an operation, without dispatch.
struct MadeUAFToken: Message {
  let token: String, session: ID<UAFOperationRecord>

  static let schema = MessageSchema(Self.init) {
    Member("token", \Self.token)
    Member("sessionId", \Self.session)
  }
}

/// An order to send a token to a device; `SignetUAF` parses the request in it.
struct UAFDispatch: Message {
  let dispatcher: String?, target: String?, information: JSONObject?, request: JSONObject

  static let schema = MessageSchema(Self.init) {
    Member("dispatcher", \Self.dispatcher)
    Member("dispatchTargetId", \Self.target)
    Member("dispatchInformation", \Self.information)
    Member("getUafRequest", \Self.request, .object(.getUAFRequest))
  }
}

struct UAFDispatched: Message {
  struct Information: Message {
    let name: String, response: String?

    static let schema = MessageSchema(Self.init) {
      Member("name", \Self.name)
      Member("response", \Self.response)
    }
  }
  let token: String?, session: ID<UAFOperationRecord>?, information: Information?
  let result: UAFTokens.DispatchResult

  static let schema = MessageSchema(Self.init, named: "UAFDispatched") {
    Member("token", \Self.token)
    Member("sessionId", \Self.session)
    Member("dispatcherInformation", \Self.information)
    Member("dispatchResult", \Self.result)
  }
}

extension UAFTokens.DispatchResult: Shaped {}

struct UAFTokenToRedeem: Message {
  let token: String

  static let schema = MessageSchema(Self.init) { Member("token", \Self.token) }
}

struct UAFOperationQuery: Message {
  let session: String

  static let schema = MessageSchema(Self.init) { Member("sessionId", \Self.session) }
}

struct UAFStatusReport: Message {
  struct Authenticator: Message {
    let aaid: String, keyId: String

    static let schema = MessageSchema(Self.init) {
      Member("aaid", \Self.aaid)
      Member("keyId", \Self.keyId)
    }
  }
  struct Token: Message {
    enum Result: String, Shaped, CaseIterable { case tokenRedeemed, tokenTimedOut }
    let target: ID<UAFTargetRecord>?, result: Result?, dispatcher: UAFDispatched.Information?

    static let schema = MessageSchema(Self.init) {
      Member("dispatchTargetExtId", \Self.target)
      Member("tokenResult", \Self.result)
      Member("dispatcherInformation", \Self.dispatcher)
    }
  }
  let status: String, timestamp: Int64?, user: String?, uafStatus: Int64?, asmStatus: Int64?
  let clientError: Int64?, authenticators: [Authenticator]?, token: Token?
  let transaction: String?

  static let schema = MessageSchema(Self.init, named: "UAFStatusReport") {
    Member(
      "status", \Self.status,
      .oneOf(
        "tokenCreated", "clientRegistering", "clientAuthenticating", "succeeded", "failed", "unknown"))
    Member("timestamp", \Self.timestamp)
    Member("userId", \Self.user)
    Member("uafStatusCode", \Self.uafStatus)
    Member("asmStatusCode", \Self.asmStatus)
    Member("clientErrorCode", \Self.clientError)
    Member("authenticators", \Self.authenticators)
    Member("tokenInformation", \Self.token)
    Member(
      "transactionStatus", \Self.transaction, .oneOf(TransactionRecord.State.allCases.map(\.rawValue)),
      "How the operation's transaction ended, if it was not ended by this operation.")
  }
}

/// A new device of a user.
struct NewUAFTarget: Message {
  let username: String, deviceId: String?, name: String, target: String?, dispatcher: String?
  let signatureKey: String, encryptionKey: String?

  static let schema = MessageSchema(Self.init) {
    Member("username", \Self.username)
    Member("deviceId", \Self.deviceId, .text(1...128))
    Member("name", \Self.name, .text(1...256))
    Member("target", \Self.target, .text(...4096))
    Member("dispatcher", \Self.dispatcher)
    Member("signatureKey", \Self.signatureKey, "A JWK, P-256, as a text.")
    Member("encryptionKey", \Self.encryptionKey, "A JWK, P-256, as a text.")
  }
}

struct MadeUAFTarget: Message {
  let id: ID<UAFTargetRecord>, extId: ID<UAFTargetRecord>

  static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("extId", \Self.extId)
  }
}

/// The devices of a user, with the member names of UAF's services.
struct UAFDispatchTargetList: Message {
  struct Target: Message {
    let id: ID<UAFTargetRecord>, extId: ID<UAFTargetRecord>, username: String, name: String
    let deviceId: String?, dispatcher: String?, target: String?

    static let schema = MessageSchema(Self.init, named: "UAFDispatchTarget") {
      Member("id", \Self.id)
      Member("extId", \Self.extId)
      Member("username", \Self.username, .userName)
      Member("name", \Self.name)
      Member("deviceId", \Self.deviceId)
      Member("dispatcher", \Self.dispatcher)
      Member("target", \Self.target)
    }
  }
  let dispatchTargets: [Target]

  static let schema = MessageSchema(Self.init) { Member("dispatchTargets", \Self.dispatchTargets) }
}

struct UAFNameQuery: Message {
  let username: UserID

  static let schema = MessageSchema(Self.init) { Member("username", \Self.username, "Whose.") }
}

extension RequestShape {
  /// A UAF body that `SignetUAF` or a service parses.
  ///
  /// A request whose `Accept` header excludes the type `accepted` is rejected.
  static func uaf(
    _ schema: JSONSchema, as mediaType: String, accepted: String? = nil, example: JSONObject? = nil
  ) -> Self where Value == [UInt8] {
    RequestShape(
      description: RequestDescription(mediaType: mediaType, schema: schema, example: example),
      checkTypes: { try UAFMediaTypes.check($0, sent: mediaType, answered: accepted) }, read: { $0.body })
  }

  /// A message of UAF's services.
  static func uafJSON(_ type: Value.Type, accepted: String? = nil) -> Self where Value: Message {
    RequestShape(
      description: RequestDescription(mediaType: "application/json", schema: type.described),
      checkTypes: { try UAFMediaTypes.check($0, sent: "application/json", answered: accepted) },
      read: { try Value(reading(JSONObject(parsing: $0.body))) })
  }
}

extension RequestShape where Value == Void {
  /// A body signed by the device, which ``Credential`` parses.
  static let uafSigned = RequestShape(
    description: RequestDescription(
      mediaType: UAFEndpoints.jose,
      schema: String.shape.schema.described(
        "A compact JWS by the key of the target: docs/protocol.md section 12.3.")),
    checkTypes: { try UAFMediaTypes.check($0, sent: UAFEndpoints.jose, answered: nil) }, read: { _ in })

  /// No body; a request whose `Accept` header excludes the type `accepted` is rejected.
  static func uafNothing(accepted: String, mayWait: Bool = false) -> Self {
    RequestShape(
      description: mayWait ? waitingDescription : RequestDescription(),
      checkTypes: { try UAFMediaTypes.check($0, sent: nil, answered: accepted) }, read: { _ in })
  }
}

extension AnswerShape where Value == ServerResponse {
  /// A message of the protocol with HTTP status 200; the protocol's status is in the body.
  static func uaf(_ schema: JSONSchema, as mediaType: String = UAFNames.mediaType) -> Self {
    .response([
      AnswerDescription(
        status: 200, text: "The protocol's status is in the body.", content: [(mediaType, schema)])
    ])
  }

  /// A device's own data, signed by the server.
  static let uafSigned = Self.response([
    AnswerDescription(
      status: 200, text: "A compact JWS by the server's key.",
      content: [(UAFEndpoints.jose, String.shape.schema)])
  ])
}

extension AnswerShape where Value == Void {
  /// An empty answer with HTTP status 204.
  static let uafDone = AnswerShape(answers: [AnswerDescription(status: 204, text: "It is done.")]) {
    ServerResponse(status: 204)
  }
}
