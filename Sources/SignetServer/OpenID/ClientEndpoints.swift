import SignetHTTP
import SignetJSON
import SignetStorage
import SignetWire

/// Clients of OpenID Connect and codes of users, as operators manage them (`docs/protocol.md` section 7).
struct ClientEndpoints: Sendable {
  let context: ServiceContext
  let keys: APIKeyService
  let clients: ClientService
  let users: UserService

  private func actor(of request: ServerRequest) async throws(Problem) -> AuditActor {
    try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
  }

  func add(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let made = try await clients.add(ClientRegistration(jsonBody(of: request)), by: actor)
    var object: JSONObject = ["id": .string(made.record.id)]
    if let secret = made.secret { object["secret"] = .string(secret) }
    object["issuer"] = .string(context.settings.serverURL.fullForm)
    return .json(object, status: 201)
  }

  func list(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    let all = try await clients.all()
    var listed: [JSONValue] = []
    for client in all { listed.append(.object(try members(Self.json(client)))) }
    return .json(["clients": .array(listed)])
  }

  func show(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    let client = try await clients.find(request.parameters["id"] ?? "")
    return .json(try members(Self.json(client)))
  }

  func revoke(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let id = request.parameters["id"] ?? ""
    try await clients.revoke(id, by: actor)
    return .json(["id": .string(id)])
  }

  private static func json(_ client: ClientRecord) throws(JSONFailure) -> JSONObject {
    var object: JSONObject = [
      "id": .string(client.id), "name": .string(client.name),
      "authentication": .string(client.authentication.rawValue),
      "delivery": .string(client.delivery.rawValue),
      "created": .integer(client.created),
    ]
    if let endpoint = client.notificationEndpoint { object["notificationEndpoint"] = .string(endpoint) }
    if let algorithm = client.requestAlgorithm { object["requestAlgorithm"] = .string(algorithm) }
    if let digits = client.numberDigits { object["numberDigits"] = .integer(Int64(digits)) }
    if let keySet = client.keySet { object["jwks"] = .object(try JSONObject(parsing: keySet)) }
    if let revoked = client.revoked { object["revoked"] = .integer(revoked) }
    return object
  }

  // MARK: The codes of users

  func setCode(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let user = try userID(request.parameters["user"] ?? "")
    let code = try await users.setCode(of: user, by: actor)
    return .json(["user": .string(user.text), "code": .string(code)], status: 201)
  }

  func removeCode(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let user = try userID(request.parameters["user"] ?? "")
    try await users.removeCode(of: user, by: actor)
    return .json(["user": .string(user.text)])
  }
}
