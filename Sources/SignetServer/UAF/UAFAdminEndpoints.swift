import SignetCrypto
import SignetHTTP
import SignetJSON
import SignetStorage
import SignetUAF
import SignetWire

/// What operators call about UAF (`docs/protocol.md` section 7).
struct UAFAdminEndpoints: Sendable {
  /// The longest list.
  private static let limit = 1_000

  let context: ServiceContext
  let keys: APIKeyService

  private func actor(of request: ServerRequest) async throws(Problem) -> AuditActor {
    try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
  }

  // MARK: Keys

  func listCredentials(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    let found: [UAFCredentialRecord]
    if let user = request.query["user"] {
      found = try await context.stored(await context.storage.uafCredentials(user: user))
    } else {
      found = try await context.stored(await context.storage.uafCredentials(limit: Self.limit))
    }
    return .json(["credentials": .array(found.map { .object(Self.json($0)) })])
  }

  private static func json(_ credential: UAFCredentialRecord) -> JSONObject {
    var object: JSONObject = [
      "aaid": .string(credential.aaid), "keyId": .string(Base64URL.encode(credential.keyID)),
      "user": .string(credential.user), "state": .string(credential.state.rawValue),
      "algorithm": .string(UAFAlgorithm(rawValue: credential.algorithm).description),
      "signCounter": .integer(Int64(credential.signCounter)),
      "registrationCounter": .integer(Int64(credential.registrationCounter)),
      "authenticatorVersion": .integer(Int64(credential.authenticatorVersion)),
      "created": .integer(credential.created),
    ]
    if let device = credential.device { object["deviceId"] = .string(device) }
    return object
  }

  func removeCredential(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let audit = context.audit(by: try await actor(of: request))
    let found = try await credential(request)
    let selection = UAFKeySelection(aaid: found.aaid, keyID: found.keyID)
    let count = try await context.stored(
      await context.storage.removeUAFCredentials(of: found.user, [selection]) { aaid, key in
        audit(.uafDeregistered(session: nil, user: found.user, aaid: aaid, key: key))
      })
    guard count == 1 else { throw Self.unknownKey }
    return .json(["aaid": .string(found.aaid), "keyId": .string(Base64URL.encode(found.keyID))])
  }

  /// Takes a key out of quarantine: the operator has found out which of the two is the user's, and that the other is gone.
  func releaseCredential(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let audit = context.audit(by: try await actor(of: request))
    let found = try await credential(request)
    let event = audit(.uafReleased(user: found.user, aaid: found.aaid, key: found.keyID))
    let isReleased = try await context.stored(
      await context.storage.releaseUAFCredential(aaid: found.aaid, keyID: found.keyID, audit: event))
    guard isReleased else { throw Problem(.exists, "The key is not in quarantine.") }
    return .json([
      "aaid": .string(found.aaid), "keyId": .string(Base64URL.encode(found.keyID)), "state": "active",
    ])
  }

  private func credential(_ request: ServerRequest) async throws(Problem) -> UAFCredentialRecord {
    guard let aaid = AAID(request.parameters["aaid"] ?? ""),
      let key = Base64URL.decodePadded(request.parameters["key"] ?? ""),
      let found = try await context.stored(
        await context.storage.uafCredential(aaid: aaid.stored, keyID: key))
    else { throw Self.unknownKey }
    return found
  }

  private static let unknownKey = Problem(
    .unknown, "There is no such key; 'signet-server uaf credentials' shows those that there are.")

  // MARK: Devices

  func listTargets(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    let found: [UAFTargetRecord]
    if let user = request.query["user"] {
      found = try await context.stored(await context.storage.uafTargets(user: user))
    } else {
      found = try await context.stored(await context.storage.uafTargets(limit: Self.limit))
    }
    return .json(["targets": .array(found.map { .object(Self.json($0)) })])
  }

  /// A target without its address, which is the device's alone.
  private static func json(_ target: UAFTargetRecord) -> JSONObject {
    var object: JSONObject = [
      "id": .string(target.id), "user": .string(target.user), "name": .string(target.name),
      "isEncrypted": .bool(target.encryptionKey != nil), "created": .integer(target.created),
    ]
    if let device = target.device { object["deviceId"] = .string(device) }
    if let dispatcher = target.dispatcher { object["dispatcher"] = .string(dispatcher) }
    return object
  }

  func removeTarget(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let audit = context.audit(by: try await actor(of: request))
    let id = request.parameters["id"] ?? ""
    let event = audit(.uafTargetRemoved(target: id))
    guard try await context.stored(await context.storage.removeUAFTarget(id, audit: event)) else {
      throw Problem(
        .unknown, "There is no such target; 'signet-server uaf targets' shows those that there are.")
    }
    return .json(["id": .string(id)])
  }

  // MARK: Models

  func listModels(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    let models = context.uaf?.models
    let statements = models?.aaids.compactMap { models?[$0]?.statement } ?? []
    return .json([
      "models": .array(
        statements.map { statement in
          [
            "aaid": .string(statement.aaid.stored), "description": .string(statement.description),
            "authenticatorVersion": .integer(Int64(statement.authenticatorVersion)),
            "algorithm": .string(statement.algorithm.description),
            "keyFormat": .string(statement.keyFormat.description),
            "attestationTypes": .array(statement.attestationTypes.map { .string($0.description) }),
            "roots": .integer(Int64(statement.attestationRootCertificates.count)),
          ]
        })
    ])
  }
}
