import SignetCrypto
import SignetHTTP
import SignetJSON
import SignetStorage
import SignetWire

/// What operators call (`docs/protocol.md` section 7).
struct AdminEndpoints: Sendable {
  let context: ServiceContext
  let keys: APIKeyService
  let users: UserService
  let codes: CodeService
  let activations: ActivationService
  let renewals: RenewalService

  private func actor(of request: ServerRequest) async throws(Problem) -> AuditActor {
    try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
  }

  func addUser(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let body = try jsonBody(of: request)
    let user = try userID(members(body.string("user")))
    try await users.add(user, by: actor)
    return .json(["user": .string(user.text)], status: 201)
  }

  func listUsers(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    let all = try await users.all()
    return .json([
      "users": .array(all.map { ["user": .string($0.id), "created": .integer($0.created)] })
    ])
  }

  func unlock(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let user = try userID(request.parameters["user"] ?? "")
    try await codes.unlock(user, by: actor)
    return .json(["user": .string(user.text)])
  }

  func invite(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let body = try jsonBody(of: request)
    let (user, lifetime) = try members((body.string("user"), body.optionalInteger("lifetime")))
    let invitation = try await activations.invite(userID(user), lifetime: lifetime, by: actor)
    return .json(
      [
        "code": .string(invitation.code.text), "invite": .string(invitation.code.invite.typedForm),
        "expires": .integer(invitation.expires),
      ], status: 201)
  }

  func listContainers(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    let found = try await users.containers(of: userID(request.parameters["user"] ?? ""))
    return .json(["containers": .array(found.map { .object(Self.json($0)) })])
  }

  func showContainer(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    return .json(Self.json(try await users.container(request.parameters["id"] ?? "")))
  }

  private static func json(_ container: ContainerRecord) -> JSONObject {
    var object: JSONObject = [
      "id": .string(container.id), "user": .string(container.user),
      "device": .string(Base64URL.encode(container.device)), "name": .string(container.name),
      "platform": .string(container.platform), "keystore": .string(container.keystore),
      "simulated": .bool(container.isSimulated), "state": .string(container.state.rawValue),
      "created": .integer(container.created), "renewals": .integer(Int64(container.renewals)),
      "renewalWanted": .bool(container.isRenewalWanted), "standing": .string(container.standing.rawValue),
    ]
    if let keyOrigin = container.keyOrigin { object["keys"] = .string(keyOrigin) }
    if let renews = container.renews { object["renews"] = .string(renews) }
    if let succession = container.succession { object["succession"] = .string(succession) }
    if let ended = container.ended { object["ended"] = .string(ended) }
    return object
  }

  func askForRenewal(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let id = request.parameters["id"] ?? ""
    try await renewals.ask(id, by: actor)
    return .json(["id": .string(id), "renewalWanted": true])
  }

  func revokeContainer(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let id = request.parameters["id"] ?? ""
    let container = try await users.revokeContainer(id, by: actor)
    return .json([
      "id": .string(id), "state": "revoked", "user": .string(container.user),
      "name": .string(container.name),
    ])
  }

  func addKey(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let body = try jsonBody(of: request)
    let (name, names) = try members((body.string("name"), body.strings("scopes")))
    let scopes = names.compactMap { APIKeyService.Scope(rawValue: $0) }
    guard scopes.count == names.count else {
      throw Problem(.malformed, "the scopes are \"relying-party\" and \"admin\"")
    }
    let displayName = try members(body.optionalString("displayName"))
    let key = try await keys.create(name: name, displayName: displayName, scopes: scopes, by: actor)
    return .json(["id": .string(key.id), "key": .string(key.text)], status: 201)
  }

  func listKeys(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    let all = try await keys.all()
    return .json([
      "keys": .array(
        all.map { key in
          var object: JSONObject = [
            "id": .string(key.id), "name": .string(key.name),
            "scopes": .array(key.scopes.map { .string($0) }),
            "created": .integer(key.created),
          ]
          if let displayName = key.displayName { object["displayName"] = .string(displayName) }
          if let revoked = key.revoked { object["revoked"] = .integer(revoked) }
          return .object(object)
        })
    ])
  }

  func revokeKey(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let id = request.parameters["id"] ?? ""
    try await keys.revoke(id, by: actor)
    return .json(["id": .string(id)])
  }

  func audit(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    guard let after = LogCursor(request.query["after"] ?? "0"),
      let limit = Int(request.query["limit"] ?? "100"), (1...1000).contains(limit)
    else {
      throw Problem(
        .malformed,
        "\"limit\" is 1 to 1000, \"after\" is a number of an entry, or \"next\" of the page before")
    }
    let entries = try await context.stored(await context.storage.auditEntries(after: after, limit: limit))
    return .json([
      "entries": .array(entries.map { .object(AuditListing.json($0)) }),
      "next": .string(after.advanced(past: entries).description),
    ])
  }
}
