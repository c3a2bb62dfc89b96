import SignetHTTPServer
package import SignetJSON
package import SignetOATH
import SignetProtocol
package import SignetPushAuth
package import SignetStorage

extension PushAuthMessageRecord.State: Shaped {}
extension PushAuthKind: Shaped {}
extension SentPushAuthMessage.Delivery: Shaped {}

package struct NewPushApp: Message {
  /// One-time codes in addition to the push mechanism.
  package struct Codes: Message {
    package let kind: CredentialRecord.Kind, algorithm: OATHAlgorithm?, digits: Int64?, period: Int64?

    package init(
      kind: CredentialRecord.Kind, algorithm: OATHAlgorithm?, digits: Int64?, period: Int64?
    ) {
      self.kind = kind
      self.algorithm = algorithm
      self.digits = digits
      self.period = period
    }

    package static let schema = MessageSchema(Self.init) {
      Member("kind", \Self.kind)
      Member("algorithm", \Self.algorithm)
      Member("digits", \Self.digits, .oneOf(6, 8))
      Member("period", \Self.period, .integer(5...300))
    }
  }
  package let user: UserID, issuer: String?, account: String?, image: String?, backgroundColor: String?
  package let policies: JSONObject?, codes: Codes?

  package init(
    user: UserID, issuer: String?, account: String?, image: String? = nil, backgroundColor: String? = nil,
    policies: JSONObject?, codes: Codes?
  ) {
    self.user = user
    self.issuer = issuer
    self.account = account
    self.image = image
    self.backgroundColor = backgroundColor
    self.policies = policies
    self.codes = codes
  }

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user)
    Member("issuer", \Self.issuer)
    Member("account", \Self.account)
    Member("image", \Self.image)
    Member("backgroundColor", \Self.backgroundColor)
    Member("policies", \Self.policies)
    Member(
      "codes", \Self.codes,
      "With it, the URI has the scheme mfauth, and one-time codes besides the push mechanism.")
  }
}

extension Shape where Value == Int64 {
  /// One of several numbers.
  static func oneOf(_ allowed: Int64...) -> Shape {
    Shape(schema: JSONSchema(["type": "integer", "enum": .array(allowed.map { .integer($0) })])) {
      value, member in
      let number = try Int64.shape.read(value, member)
      guard allowed.contains(number) else {
        throw ShapeFailure.choice(member: member, allowed: allowed.map { String($0) })
      }
      return number
    } write: {
      .integer($0)
    }
  }
}

/// The URI with which an app enrols, including its secret.
package struct MadePushApp: Message {
  package let id: ID<PushAuthMechanismRecord>, uri: String, expires: Int64, token: String?

  package static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("uri", \Self.uri)
    Member("expires", \Self.expires)
    Member("token", \Self.token)
  }
}

/// The user of a list of authenticator apps.
package struct PushAppQuery: Message {
  package let user: UserID

  package init(user: UserID) { self.user = user }

  package static let schema = MessageSchema(Self.init) { Member("user", \Self.user, "Whose.") }
}

package struct PushAppList: Message {
  /// An app without its secret and its push token.
  package struct App: Message {
    package let hasCodes: Bool, id: ID<PushAuthMechanismRecord>, user: String, issuer: String, account: String
    package let state: AuthenticatorRecord.State
    package let created: Int64, lastAnswered: Int64?
    package let deviceName: String?, platform: String?, service: String?

    package static let schema = MessageSchema(Self.init) {
      Member("hasCodes", \Self.hasCodes)
      Member("id", \Self.id)
      Member("user", \Self.user, .userName)
      Member("issuer", \Self.issuer, "As the app shows it.")
      Member("account", \Self.account, "As the app shows it.")
      Member("state", \Self.state, "`pending` until an app has registered.")
      Member("created", \Self.created)
      Member(
        "lastAnswered", \Self.lastAnswered, .time, "When it last answered a message of the last 30 days.")
      Member("deviceName", \Self.deviceName)
      Member("platform", \Self.platform)
      Member("service", \Self.service)
    }
  }
  package let authenticators: [App]

  package static let schema = MessageSchema(Self.init) { Member("authenticators", \Self.authenticators) }
}

extension Shape where Value == String {
  /// A user id from a row, which was validated when it was written.
  static let userName = Shape(
    schema: UserID.shape.schema, read: String.shape.read, write: String.shape.write)
}

/// A message that asks a user through an app.
package struct NewPushMessage: Message {
  package let user: UserID?, mechanism: ID<PushAuthMechanismRecord>?, kind: PushAuthKind?, text: String?
  package let customPayload: String?, context: String?, lifetime: Int64?

  package init(
    user: UserID?, mechanism: ID<PushAuthMechanismRecord>?, kind: PushAuthKind?, text: String?,
    customPayload: String?, context: String?, lifetime: Int64?
  ) {
    self.user = user
    self.mechanism = mechanism
    self.kind = kind
    self.text = text
    self.customPayload = customPayload
    self.context = context
    self.lifetime = lifetime
  }

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user)
    Member("mechanism", \Self.mechanism, .checkedID())
    Member("kind", \Self.kind)
    Member("text", \Self.text)
    Member("customPayload", \Self.customPayload)
    Member("context", \Self.context)
    Member("lifetime", \Self.lifetime, .integer(10...3600))
  }
}

/// A message to an app, with the content that the app receives.
package struct MadePushMessage: Message {
  package struct Push: Message {
    package let messageId: String, data: String

    package static let schema = MessageSchema(Self.init) {
      Member("messageId", \Self.messageId)
      Member("data", \Self.data)
    }
  }
  package let id: ID<PushAuthMessageRecord>, transaction: TransactionID, status: PushAuthMessageRecord.State,
    kind: String
  package let created: Int64, expires: Int64, push: Push, delivery: SentPushAuthMessage.Delivery,
    number: Int64?

  package static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("transaction", \Self.transaction, "The transaction that the answer decides.")
    Member("status", \Self.status)
    Member("kind", \Self.kind, .oneOf(PushAuthKind.allCases.map(\.rawValue)))
    Member("created", \Self.created)
    Member("expires", \Self.expires)
    Member("push", \Self.push)
    Member("delivery", \Self.delivery)
    Member("number", \Self.number)
  }
}

/// The state of a message to an app.
package struct PushMessageDescription: Message {
  package let id: ID<PushAuthMessageRecord>, transaction: TransactionID, status: String, kind: String
  package let created: Int64, expires: Int64, answered: Int64?

  private static let statuses: [String] = {
    let messageStates = PushAuthMessageRecord.State.allCases.map(\.rawValue)
    return messageStates
      + TransactionRecord.State.allCases.map(\.rawValue).filter { !messageStates.contains($0) }
  }()

  package static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("transaction", \Self.transaction, "The transaction that the answer decides.")
    Member(
      "status", \Self.status, .oneOf(statuses), "The answer; without one, the state of the transaction.")
    Member("kind", \Self.kind, .oneOf(PushAuthKind.allCases.map(\.rawValue)))
    Member("created", \Self.created)
    Member("expires", \Self.expires)
    Member("answered", \Self.answered)
  }
}

extension JSONSchema {
  fileprivate static let pushAppAction = Shape<String>.oneOf(PushAuthAction.allCases.map(\.rawValue)).schema
    .described("The action of the request.")

  /// The body of an app's request; `PushAuthSubmission` parses it.
  fileprivate static let pushAppSubmission = message(
    ["messageId": string, "mechanismUid": string, "jwt": string, "username": string, "userId": string],
    optional: ["messageId", "mechanismUid", "username", "userId"])
}

/// The messages that wait for an app.
struct PushAppWaiting: Message {
  struct Ended: Message {
    let messageId: String, status: String

    static let schema = MessageSchema(Self.init) {
      Member("messageId", \Self.messageId)
      Member("status", \Self.status, "The state of the transaction.")
    }
  }
  let tag: String
  var messages: [MadePushMessage.Push], ended: [Ended]

  static let schema = MessageSchema(Self.init) {
    Member("tag", \Self.tag, "Changes whenever the list changes.")
    Member("messages", \Self.messages)
    Member("ended", \Self.ended, "Messages that no longer wait, until ten minutes after their expiration.")
  }
}

/// A refusal to an app.
struct PushAppRefusal: Message {
  struct Detail: Message {
    let remaining: Int64?

    static let schema = MessageSchema(Self.init) { Member("remaining", \Self.remaining) }
  }
  let code: Int64, reason: String, message: String
  /// Always present.
  ///
  /// Only a refusal because of a wrong number contains `remaining`.
  let detail: Detail?

  static let schema = MessageSchema(Self.init) {
    Member("code", \Self.code, .oneOf(400))
    Member("reason", \Self.reason)
    Member("message", \Self.message)
    Member("detail", \Self.detail)
  }
}

extension API {
  package static let enrolPushApp = Endpoint(
    .post, "/admin/pushauth/mechanisms", .manage, "enrolPushAuth",
    "Create a URI with which an authenticator app of another vendor enrols, once",
    details: "docs/protocol.md section 15", in: .pushApps, by: .admin,
    takes: .json(NewPushApp.self, example: ["user": "alice", "issuer": "Example"]),
    answers: .created(MadePushApp.self, "The URI, with its secret."), or: [.unknown, .conflict])
  package static let listPushApps = Endpoint(
    .get, "/admin/pushauth/mechanisms", .read, "listPushAuth", "List the authenticator apps of a user",
    in: .pushApps, by: .admin, takes: .query(PushAppQuery.self),
    answers: .json(PushAppList.self, "The apps, oldest first."), or: [.unknown])
  package static let removePushApp = Endpoint(
    .delete, "/admin/pushauth/mechanisms/{id}", .manage, "removePushAuth",
    "Remove an authenticator app, with its messages and its one-time codes", in: .pushApps, by: .admin,
    answers: .json(NamedByID.self, "The app is removed."), or: [.unknown])
  package static let sendPushMessage = Endpoint(
    .post, "/pushauth/messages", .manage, "sendPushAuthMessage", "Ask a user by an authenticator app",
    details: "docs/protocol.md section 15", in: .pushApps, by: .relyingParty,
    takes: .json(NewPushMessage.self, example: ["user": "alice", "text": "Log in?"]),
    answers: .created(MadePushMessage.self, "The message, and the push for the app."),
    or: [.unknown, .conflict, .contentRefused, .tooMany])
  package static let showPushMessage = Endpoint(
    .get, "/pushauth/messages/{id}", .read, "showPushAuthMessage", "Get the state of a message",
    in: .pushApps, by: .relyingParty, answers: .json(PushMessageDescription.self, "The message."),
    or: [.unknown])
  static let receivePushSubmission = Endpoint(
    .post, "/pushauth", .grant, "takePushAuth",
    "Receive registrations, answers and new device tokens of authenticator apps",
    details: "docs/protocol.md section 15", in: .pushApps, by: .none,
    takes: .body(
      "application/json", .pushAppSubmission, query: ["_action": .pushAppAction],
      example: ["messageId": "AUTHENTICATE:x", "jwt": "e30.e30.AA"]),
    answers: .response([
      AnswerDescription(
        status: 200, text: "The request was accepted.",
        content: [("application/json", JSONObject.shape.schema)]),
      AnswerDescription(
        status: 400, text: "Not accepted.",
        content: [
          ("application/json", PushAppRefusal.described), (Problem.mediaType, Refusal.problem),
        ]),
    ]), .pushApps)
  static let listWaitingMessages = Endpoint(
    .post, "/pushauth/waiting", .read, "listWaitingPushAuth",
    "List the messages that wait for an authenticator app without push",
    details: "docs/protocol.md section 15", in: .pushApps, by: .none,
    takes: .body(
      "application/json", .pushAppSubmission,
      example: ["mechanismUid": "x", "jwt": "e30.e30.AA"]),
    answers: .response([
      AnswerDescription(
        status: 200, text: "The messages that wait, newest first.",
        content: [("application/json", PushAppWaiting.described)]),
      AnswerDescription(
        status: 400, text: "Not accepted.",
        content: [
          ("application/json", PushAppRefusal.described), (Problem.mediaType, Refusal.problem),
        ]),
    ]), or: [.forbidden], .pushApps)
}

/// The endpoints for authenticator apps, and for the operators and relying parties that use them.
struct PushAppEndpoints: Sendable {
  let service: PushAuthService
  let watch: TransactionWatch

  private var context: ServiceContext { service.context }

  var routes: [Route] {
    [
      API.enrolPushApp.answered { [service] call in
        let made = try await service.enrol(call.input, by: call.caller.actor)
        return MadePushApp(id: made.id, uri: made.uri, expires: made.expires, token: made.token)
      },
      API.listPushApps.answered { [self] call in try await list(call.input.user) },
      API.removePushApp.answered { [context] call in
        let id: ID<PushAuthMechanismRecord> = call.id()
        let event = context.audit(by: call.caller.actor)(.pushAuthRemoved(mechanism: id))
        guard
          try await context.storage.removePushAuthMechanism(id, audit: event)
        else { throw Problem(.unknown, "There is no authenticator app with this id.") }
        return NamedByID(id)
      },
      API.sendPushMessage.answered { [service] call in
        let key = call.caller
        let sent = try await service.send(
          call.input, from: key.displayName ?? key.name, by: key.actor, key: key.id)
        return MadePushMessage(
          id: sent.record.id, transaction: sent.record.transaction, status: sent.record.state,
          kind: sent.record.kind,
          created: sent.record.created, expires: sent.record.expires,
          push: MadePushMessage.Push(messageId: sent.messageID, data: sent.token), delivery: sent.delivery,
          number: sent.number)
      },
      API.showPushMessage.answered { [service] call in
        let (found, status) = try await service.messageStatus(of: call.id())
        return PushMessageDescription(
          id: found.id, transaction: found.transaction, status: status, kind: found.kind,
          created: found.created, expires: found.expires, answered: found.answered)
      },
      API.receivePushSubmission.answered { [service] call in await service.take(call.request) },
      API.listWaitingMessages.answered(waiting: { [service, watch] call, responder in
        await service.waiting(call.request, in: watch, responder)
      }),
    ]
  }

  private func list(_ user: UserID) async throws -> PushAppList {
    guard try await context.storage.user(user) != nil else {
      throw Problem(noUser: user)
    }
    var apps: [PushAppList.App] = []
    for mechanism in try await context.storage.pushAuthMechanisms(user: user) {
      let device = service.device(of: mechanism)
      apps.append(
        PushAppList.App(
          hasCodes: mechanism.credential != nil, id: mechanism.id, user: mechanism.user.text,
          issuer: mechanism.issuer, account: mechanism.account, state: mechanism.status.state,
          created: mechanism.created,
          lastAnswered: try await service.lastAnswer(of: mechanism), deviceName: device?.name,
          platform: device?.platform, service: device?.service))
    }
    return PushAppList(authenticators: apps)
  }
}
