import SignetHTTP
import SignetJSON
import SignetStorage
import SignetWire

/// What devices call: activation, transactions, targets of pushes.
struct DeviceEndpoints: Sendable {
  let activations: ActivationService
  let renewals: RenewalService
  let ends: EndService
  let transactions: TransactionService
  let authentication: DeviceAuthentication
  let targets: PushTargetService
  let watch: TransactionWatch
  let context: ServiceContext

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
    try await activations.confirm(container(of: request, states: [.pending, .active]), request.body)
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

  /// The list; a device that knows it already may wait for another one (`Prefer: wait`, RFC 7240 section 4.3).
  func pending(_ request: ServerRequest, _ responder: Responder) {
    responder.run {
      do throws(Problem) {
        let (container, id) = try await authentication.request(
          authorization: request.headers["Authorization"], method: request.method, path: request.path.raw,
          body: request.body)
        let tag = try await transactions.tag(for: container)
        guard let known = request.headers["If-None-Match"], let wait = request.preferredWait, known == tag
        else {
          return responder.answer(try await list(for: container, tag: tag, request: id))
        }
        let deadline = ContinuousClock.now + .seconds(min(wait, Self.longestWait))
        let waiting = WaitingRequest(
          of: container, in: watch, until: deadline, responder,
          while: { () async throws(Problem) in try await current(container.id).tag == known },
          then: { await list(of: container.id, request: id, beyond: known) })
        await waiting.begin(from: request.remoteAddress)
      } catch { responder.answer(.problem(error)) }
    }
  }

  /// The most seconds that a request waits: less than HTTP lets a handler take.
  private static let longestWait: Int64 = 50

  /// The list as it is now, or that it is the one that the device knows.
  private func list(of container: String, request id: [UInt8], beyond known: String) async -> ServerResponse {
    do throws(Problem) {
      let (container, tag) = try await current(container)
      guard tag != known else {
        return ServerResponse(status: 304, headers: ["ETag": tag, "Cache-Control": "no-store"])
      }
      return try await list(for: container, tag: tag, request: id)
    } catch { return .problem(error) }
  }

  private func list(
    for container: ContainerRecord, tag: String, request id: [UInt8]
  ) async throws(Problem) -> ServerResponse {
    let jwe = try await transactions.pending(for: container, request: id)
    var response = ServerResponse.bytes(Array(jwe.utf8), type: "application/jose")
    response.headers["ETag"] = tag
    return response
  }

  /// The container and the tag of its list as they are now: meanwhile the container may have ended, or be wanted anew.
  private func current(_ id: String) async throws(Problem) -> (ContainerRecord, tag: String) {
    let found = try await context.stored(await context.storage.container(id))
    guard let found, found.state == .active else {
      throw Problem(.containerUnknown, "Activate the device again.")
    }
    return (found, try await transactions.tag(for: found))
  }

  func one(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let (container, id) = try await authentication.request(
      authorization: request.headers["Authorization"], method: request.method, path: request.path.raw,
      body: request.body)
    let jwe = try await transactions.one(request.parameters["id"] ?? "", for: container, request: id)
    return .bytes(Array(jwe.utf8), type: "application/jose")
  }

  func initiate(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    let container = try await container(of: request)
    let id = try await transactions.initiate(request.body, by: container)
    return .json(["id": .string(id.text), "status": "accepted"])
  }

  /// Takes a decision on the thread that the request came on; the thread that commits answers.
  func decide(_ request: ServerRequest, _ responder: Responder) {
    do throws(Problem) {
      try requireJSON(request)
      guard let signed = try authentication.signedInMemory(request) else {
        // One read, for all of this container that come after it.
        return decide(request, ofUnseen: responder)
      }
      try decide(request, signed) { result in
        guard case .failure(let problem) = result, problem == DeviceAuthentication.unknown else {
          return responder.answer(Self.answer(result))
        }
        // It was another one when it was seen: what is stored decides.
        authentication.forget(signed.signer)
        decide(request, ofUnseen: responder)
      }
    } catch { responder.answer(.problem(error)) }
  }

  private func decide(_ request: ServerRequest, ofUnseen responder: Responder) {
    responder.run {
      do throws(Problem) {
        try decide(request, try await authentication.signed(request)) { responder.answer(Self.answer($0)) }
      } catch { responder.answer(.problem(error)) }
    }
  }

  private func decide(
    _ request: ServerRequest, _ signed: DeviceAuthentication.Signed,
    then listener: @escaping @Sendable (Result<DecisionStatus, Problem>) -> Void
  ) throws(Problem) {
    let attempt = DecisionAttempt(
      transaction: request.parameters["id"] ?? "", by: signed.signer.record, request: signed.id,
      expires: signed.expires)
    try transactions.decide(request.body, attempt, signedWith: signed.signer.signing, then: listener)
  }

  private static func answer(_ result: Result<DecisionStatus, Problem>) -> ServerResponse {
    switch result {
    case .success(let status): taken[status] ?? .json(["status": .string(status.rawValue)])
    case .failure(let problem): .problem(problem)
    }
  }

  private static let taken = Dictionary(
    uniqueKeysWithValues: DecisionStatus.allCases.map {
      ($0, ServerResponse.json(["status": .string($0.rawValue)]).keptForSending())
    })

  func cancel(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    let container = try await container(of: request)
    try await transactions.cancel(request.body, id: request.parameters["id"] ?? "", by: container)
    return .json(["status": "cancelled"])
  }

  func addTarget(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    let id = try await targets.add(request.body, for: container(of: request))
    return .json(["id": .string(id)], status: 201)
  }

  func listTargets(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    .json(try await targets.list(for: container(of: request)).json)
  }

  func changeTarget(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try requireJSON(request)
    let id = request.parameters["id"] ?? ""
    try await targets.change(id, to: request.body, for: container(of: request))
    return .json(["id": .string(id)])
  }

  func removeTarget(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let id = request.parameters["id"] ?? ""
    try await targets.remove(id, of: container(of: request))
    return .json(["id": .string(id)])
  }

  private func container(
    of request: ServerRequest, states: Set<ContainerRecord.State> = [.active]
  ) async throws(Problem) -> ContainerRecord {
    try await authentication.container(
      authorization: request.headers["Authorization"], method: request.method, path: request.path.raw,
      body: request.body, states: states)
  }
}

extension ServerRequest {
  /// The seconds of `Prefer: wait` (RFC 7240 section 4.3); `nil` where there is none.
  fileprivate var preferredWait: Int64? {
    for field in headers.values(for: "Prefer") where field.utf8.count <= 256 {
      for preference in field.split(separator: ",") {
        let parts = (preference.split(separator: ";").first ?? "").split(separator: "=", maxSplits: 1).map {
          $0.trimmingPrefix { $0 == " " }
        }
        guard parts.count == 2, parts[0].utf8.elementsEqual("wait".utf8) else { continue }
        let digits = parts[1].prefix { ("0"..."9").contains($0) }
        if let seconds = Int64(digits), seconds > 0 { return seconds }
      }
    }
    return nil
  }
}
