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
    let key = try await keys.key(authorization: request.headers["Authorization"], scope: .relyingParty)
    let order = try TransactionOrder(jsonBody(of: request), from: key.displayName ?? key.name)
    let made = try await transactions.create(order, by: key.actor, key: key.id)
    var object: JSONObject = [
      "id": .string(made.record.id), "status": .string(made.record.state.rawValue),
      "content": .string(made.record.content), "expires": .integer(made.record.expires),
    ]
    if let number = made.number { object["number"] = .string(number.digits) }
    if made.record.user == nil {
      let id = try context.composed(TransactionID(made.record.id))
      object["link"] = .string(TransactionLink(id, at: context.settings.serverURL).text)
    }
    return .json(object, status: 201)
  }

  func initiated(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .relyingParty)
    guard request.query["initiated"] == "device", let user = request.query["user"],
      let limit = Int(request.query["limit"] ?? "100"), (1...100).contains(limit)
    else {
      throw Problem(.malformed, "\"initiated\" is device, \"user\" is needed, \"limit\" is 1 to 100")
    }
    let found = try await transactions.initiated(
      by: userID(user), after: request.query["after"], limit: limit)
    var list: [JSONValue] = []
    for (transaction, container) in found { list.append(.object(try json(transaction, container))) }
    return .json(["transactions": .array(list)])
  }

  /// For operators: a relying party knows the ids of what it has asked, and is not to see what others ask.
  func list(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
    let state = request.query["status"].map { TransactionRecord.State(rawValue: $0) }
    guard let limit = Int(request.query["limit"] ?? "100"), (1...100).contains(limit), state != .some(nil)
    else {
      let states = TransactionRecord.State.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(.malformed, "\"limit\" is 1 to 100, \"status\" is one of \(states)")
    }
    let user = try request.query["user"].map { text throws(Problem) in try userID(text).text }
    let found = try await transactions.list(
      TransactionFilter(user: user, state: state ?? nil), before: request.query["before"], limit: limit)
    return .json(["transactions": .array(found.map { .object(summary($0)) })])
  }

  func offline(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .relyingParty)
    let text = try await transactions.offline(request.parameters["id"] ?? "")
    return .json(["text": .string(text)])
  }

  func typed(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .relyingParty)
    let typed = try await transactions.typed(request.parameters["id"] ?? "")
    return .json([
      "challenge": .string(typed.challenge), "fields": .array(typed.fields.map { .integer(Int64($0)) }),
    ])
  }

  func answer(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let key = try await keys.key(authorization: request.headers["Authorization"], scope: .relyingParty)
    let body = try jsonBody(of: request)
    let id = request.parameters["id"] ?? ""
    let client = try members(body.optionalString("client"))
    try await transactions.answer(
      Self.carried(body), to: id, by: CodeService.Asker(key.actor, key: key.id, client: client))
    return .json(["id": .string(id), "status": "accepted"])
  }

  /// What the digits answer is said, not found out: one guess is never good for two.
  private static func carried(_ body: JSONObject) throws(Problem) -> TransactionService.Carried {
    switch try members((body.optionalString("answer"), body.optionalString("typed"))) {
    case (let digits?, nil): return .scanned(digits)
    case (nil, let digits?): return .typed(digits)
    default: throw Problem(.malformed, "\"answer\" or \"typed\" is needed, and not both")
    }
  }

  func find(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await keys.authenticate(authorization: request.headers["Authorization"], scope: .relyingParty)
    let (transaction, container) = try await transactions.find(request.parameters["id"] ?? "")
    return .json(try json(transaction, container))
  }

  func withdraw(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let key = try await keys.key(authorization: request.headers["Authorization"], scope: .relyingParty)
    let id = request.parameters["id"] ?? ""
    try await transactions.withdraw(
      id, reason: request.query["reason"] ?? "", by: key.actor, key: key.id)
    return .json(["id": .string(id), "status": "withdrawn"])
  }

  private func json(
    _ transaction: TransactionRecord, _ container: ContainerRecord?
  ) throws(Problem) -> JSONObject {
    var object = summary(transaction)
    if let decision = transaction.decision, let container {
      object["decision"] = .object(try json(decision, container))
    }
    if let uaf = transaction.uaf {
      object["uaf"] = ["session": .string(uaf.session), "time": .integer(uaf.time)]
    }
    if let end = transaction.end { object["end"] = .object(Self.json(end)) }
    return object
  }

  /// All but how it ended.
  private func summary(_ transaction: TransactionRecord) -> JSONObject {
    var object: JSONObject = ["id": .string(transaction.id)]
    if let user = transaction.user { object["user"] = .string(user) }
    object["content"] = .string(transaction.content)
    object["status"] = .string(transaction.state.rawValue)
    object["created"] = .integer(transaction.created)
    object["expires"] = .integer(transaction.expires)
    if let fields = transaction.typedFields {
      object["typed"] = .array(fields.map { .integer(Int64($0)) })
    }
    if transaction.isInitiatedByDevice { object["initiated"] = "device" }
    return object
  }

  private static func json(_ end: EndRecord) -> JSONObject {
    var object: JSONObject = ["reason": .string(end.reason)]
    if !end.message.isEmpty { object["message"] = .string(end.message) }
    if let container = end.container { object["container"] = .string(container) }
    object["time"] = .integer(end.time)
    return object
  }

  private func json(_ decision: DecisionRecord, _ container: ContainerRecord) throws(Problem)
    -> JSONObject
  {
    var object: JSONObject = [:]
    if let jws = decision.jws {
      let key = try context.computed(P256.Signing.PublicKey(x963: container.signingKey))
      object["jws"] = .string(jws)
      object["publicKey"] = .object(key.wireJWK)
      object["publicKeyPEM"] = .string(key.pemRepresentation)
    } else {
      object[decision.isTyped ? "typed" : "offline"] = true
    }
    object["container"] = .string(container.id)
    object["device"] = .string(Base64URL.encode(container.device))
    object["time"] = .integer(decision.time)
    return object
  }
}
