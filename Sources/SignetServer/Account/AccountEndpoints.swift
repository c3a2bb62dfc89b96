import SignetHTTP
import SignetJSON
import SignetStorage
import SignetWire

/// What devices and operators call about account policies and locks (`docs/protocol.md` section 14).
struct AccountEndpoints: Sendable {
  let accounts: AccountService
  let authentication: DeviceAuthentication
  let keys: APIKeyService
  let users: UserService

  // MARK: Devices

  func condition(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    let (container, id) = try await authentication.request(
      authorization: request.headers["Authorization"], method: request.method, path: request.path.raw,
      body: request.body)
    let jws = try await accounts.answer(request.body, for: container, request: id)
    return .bytes(Array(jws.utf8), type: "application/jose")
  }

  func receipt(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    try await accounts.receive(request.body)
    return .json(["status": "received"])
  }

  // MARK: Operators

  private func actor(of request: ServerRequest) async throws(Problem) -> AuditActor {
    try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
  }

  func lock(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try await order(.lock, request)
  }

  func unlock(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try await order(.unlock, request)
  }

  func wipe(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try await order(.wipe, request)
  }

  private func order(
    _ action: AccountOrder.Action, _ request: ServerRequest
  ) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let body = try jsonBody(of: request)
    let reason = try members(body.optionalString("reason")) ?? ""
    let order = try await accounts.order(
      action, for: request.parameters["id"] ?? "", reason: reason, by: actor)
    return .json(
      ["id": .string(order.container), "order": .string(order.id), "action": .string(action.rawValue)],
      status: 201)
  }

  func attach(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let id = request.parameters["id"] ?? ""
    let body = try jsonBody(of: request)
    let policies = try members(body.object("policies"))
    let unknown = try await accounts.attach(policies, to: id, by: actor)
    return .json(["id": .string(id), "unknown": .array(unknown.map { .string($0) })])
  }

  func detach(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let id = request.parameters["id"] ?? ""
    try await accounts.attach(nil, to: id, by: actor)
    return .json(["id": .string(id)])
  }

  func show(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    let container = try await users.container(request.parameters["id"] ?? "")
    return .json(try await accounts.description(of: container))
  }
}
