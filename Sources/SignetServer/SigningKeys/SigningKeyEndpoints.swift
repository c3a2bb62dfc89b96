import SignetHTTP
import SignetJSON
import SignetStorage
import SignetWire

/// The server's own keys: published for all, managed by operators.
struct SigningKeyEndpoints: Sendable {
  let keys: APIKeyService
  let signingKeys: SigningKeyService

  func publish(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    .json(try await signingKeys.published().json)
  }

  func list(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
    let all = try await signingKeys.all()
    return .json(["keys": .array(all.map { .object(Self.json($0)) })])
  }

  func rotate(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
    return .json(Self.json(try await signingKeys.rotate(by: actor)), status: 201)
  }

  private static func json(_ key: SigningKeyRecord) -> JSONObject {
    var object: JSONObject = ["id": .string(key.id), "created": .integer(key.created)]
    if let retired = key.retired { object["retired"] = .integer(retired) }
    return object
  }
}
