import SignetHTTP
import SignetJSON
import SignetStorage
import SignetWire

/// What devices call: activation, transactions.
struct DeviceEndpoints: Sendable {
  let activations: ActivationService
  let renewals: RenewalService
  let ends: EndService
  let transactions: TransactionService
  let authentication: DeviceAuthentication

  func start(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    return .bytes(try await activations.start(request.body).bytes, type: "application/json")
  }

  func finish(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    return .bytes(try await activations.finish(request.body), type: "application/json")
  }

  func confirm(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    try await activations.confirm(container(of: request, states: [.pending, .active]))
    return .json(["status": "active"])
  }

  func startRenewal(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    let answer = try renewals.start(request.body, for: await container(of: request))
    return .bytes(answer.bytes, type: "application/json")
  }

  func finishRenewal(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    let answer = try await renewals.finish(request.body, for: container(of: request))
    return .bytes(answer, type: "application/json")
  }

  func end(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    try await ends.end(request.body)
    return .json(["status": "ended"])
  }

  func pending(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let (container, id) = try await authentication.request(
      authorization: request.headers["Authorization"], method: request.method, path: request.path.raw,
      body: request.body)
    let jwe = try await transactions.pending(for: container, request: id)
    return .bytes(Array(jwe.utf8), type: "application/jose")
  }

  func decide(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    let container = try await container(of: request)
    let status = try await transactions.decide(
      request.body, id: request.parameters["id"] ?? "", by: container)
    return .json(["status": .string(status.rawValue)])
  }

  func cancel(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    let container = try await container(of: request)
    try await transactions.cancel(request.body, id: request.parameters["id"] ?? "", by: container)
    return .json(["status": "cancelled"])
  }

  private func container(
    of request: ServerRequest, states: Set<ContainerRecord.State> = [.active]
  ) async throws(Problem) -> ContainerRecord {
    try await authentication.container(
      authorization: request.headers["Authorization"], method: request.method, path: request.path.raw,
      body: request.body, states: states)
  }
}
