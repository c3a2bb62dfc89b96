import SignetCrypto
import SignetHTTP
import SignetJSON
import SignetStorage
import SignetWire

/// What relying parties call about transactions (`docs/protocol.md` section 7).
struct RelyingPartyEndpoints: Sendable {
  let context: ServiceContext
  let keys: APIKeyService
  let transactions: TransactionService

  func create(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await keys.authenticate(
      authorization: request.headers["Authorization"], scope: .relyingParty)
    let body = try jsonBody(of: request)
    let (user, text, lifetime) = try members(
      (body.string("user"), body.string("text"), body.optionalInteger("lifetime")))
    let transaction = try await transactions.create(text, user: userID(user), lifetime: lifetime, by: actor)
    return .json(
      [
        "id": .string(transaction.id), "status": .string(transaction.state.rawValue),
        "expires": .integer(transaction.expires),
      ], status: 201)
  }

  func find(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .relyingParty)
    let (transaction, container) = try await transactions.find(request.parameters["id"] ?? "")
    var object: JSONObject = [
      "id": .string(transaction.id), "user": .string(transaction.user), "text": .string(transaction.text),
      "status": .string(transaction.state(at: context.clock.now).rawValue),
      "created": .integer(transaction.created),
      "expires": .integer(transaction.expires),
    ]
    if let decision = transaction.decision, let container {
      object["decision"] = .object(try json(decision, container))
    }
    return .json(object)
  }

  private func json(_ decision: DecisionRecord, _ container: ContainerRecord) throws(Problem)
    -> JSONObject
  {
    let key = try context.computed(P256.Signing.PublicKey(x963: container.signingKey))
    return [
      "jws": .string(decision.jws), "publicKey": .object(key.wireJWK),
      "publicKeyPEM": .string(key.pemRepresentation),
      "container": .string(container.id), "device": .string(Base64URL.encode(container.device)),
      "time": .integer(decision.time),
    ]
  }
}
