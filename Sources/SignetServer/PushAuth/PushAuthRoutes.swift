import SignetHTTP
import SignetJSON
import SignetPushAuth
import SignetStorage
import SignetWire

/// What operators and relying parties call about authenticator apps, and what the apps call.
struct PushAuthRoutes: Sendable {
  let keys: APIKeyService
  let service: PushAuthService

  private var context: ServiceContext { service.context }

  func enrol(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
    let body = try jsonBody(of: request)
    let made = try await service.enrol(userID(try members(body.string("user"))), body, by: actor)
    var answer: JSONObject = [
      "id": .string(made.id), "uri": .string(made.uri), "expires": .integer(made.expires),
    ]
    answer["token"] = made.token.map { .string($0) }
    return .json(answer, status: 201)
  }

  func list(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
    guard let name = request.query["user"] else { throw Problem(.malformed, "\"user\" is missing") }
    let user = try userID(name)
    guard try await context.stored(await context.storage.user(user.text)) != nil else {
      throw Problem(noUser: user.text)
    }
    let found = try await context.stored(await context.storage.pushAuthMechanisms(user: user.text))
    return .json(["mechanisms": .array(found.map { .object(json($0)) })])
  }

  /// A mechanism without its secret and its token.
  private func json(_ mechanism: PushAuthMechanismRecord) -> JSONObject {
    var object: JSONObject = [
      "id": .string(mechanism.id), "user": .string(mechanism.user),
      "state": .string(mechanism.state.rawValue),
      "created": .integer(mechanism.created),
    ]
    object["hasCodes"] = .bool(mechanism.credential != nil)
    if let device = service.device(of: mechanism) {
      object["deviceName"] = .string(device.name)
      object["platform"] = .string(device.platform)
      object["service"] = .string(device.service)
    }
    return object
  }

  func remove(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
    let id = request.parameters["id"] ?? ""
    let event = context.audit(by: actor)(.pushAuthRemoved(mechanism: id))
    guard try await context.stored(await context.storage.removePushAuthMechanism(id, audit: event)) else {
      throw Problem(.unknown, "There is no authenticator of this id.")
    }
    return .json(["id": .string(id)])
  }

  func send(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await keys.authenticate(
      authorization: request.headers["Authorization"], scope: .relyingParty)
    let sent = try await service.send(jsonBody(of: request), by: actor)
    var object = json(sent.record)
    object["push"] = ["messageId": .string(sent.messageID), "data": .string(sent.token)]
    object["delivery"] = .string(sent.delivery.rawValue)
    object["number"] = sent.number.map { .integer($0) }
    return .json(object, status: 201)
  }

  func show(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .relyingParty)
    return .json(json(try await service.message(request.parameters["id"] ?? "")))
  }

  private func json(_ message: PushAuthMessageRecord) -> JSONObject {
    var object: JSONObject = [
      "id": .string(message.id), "status": .string(message.state.rawValue),
      "kind": .string(message.kind), "created": .integer(message.created),
      "expires": .integer(message.expires),
    ]
    object["answered"] = message.answered.map { .integer($0) }
    return object
  }
}
