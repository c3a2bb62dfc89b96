import SignetHTTP
import SignetJSON
import SignetStorage
import SignetUAF
import SignetWire

/// What clients and relying parties of UAF call (`docs/protocol.md` section 12).
struct UAFEndpoints: Sendable {
  let context: ServiceContext
  let setup: UAFSetup
  let authorizations: UAFAuthorizations
  let requests: UAFRequests
  let responses: UAFResponses
  let keys: UAFKeys
  let targets: UAFTargets
  let devices: UAFDevices
  let tokens: UAFTokens

  init(
    _ context: ServiceContext, _ setup: UAFSetup, _ apiKeys: APIKeyService, _ transactions: TransactionService
  ) {
    (self.context, self.setup) = (context, setup)
    authorizations = UAFAuthorizations(context, apiKeys, setup)
    requests = UAFRequests(context, setup, transactions)
    responses = UAFResponses(context, setup, requests, authorizations)
    keys = UAFKeys(context)
    targets = UAFTargets(context, setup.settings)
    devices = UAFDevices(context, setup.settings, targets)
    tokens = UAFTokens(context, setup, requests, targets, keys)
  }

  // MARK: Routes

  /// Adds all routes, below the configured prefix: those of the protocol here, all others beside what they are about.
  func add(to router: inout Router) {
    let prefix = setup.settings.prefix
    router.on("GET", prefix + "/uaf/1.1/facets") { _ in facets() }
    for operation in UAFOperation.allCases {
      let name = operation.pathName
      // Clients write these with a slash at the end, and without.
      for end in ["", "/"] {
        on(&router, "POST", prefix + "/uaf/1.1/request/\(name)\(end)") { request throws(UAFWebFailure) in
          try await ask(request, for: operation)
        }
        if operation != .deregistration {
          on(&router, "POST", prefix + "/uaf/1.1/\(name)\(end)") { request throws(UAFWebFailure) in
            try await answer(request, to: operation)
          }
        }
      }
    }
    addTokens(to: &router)
    addDevices(to: &router)
    if setup.settings.hasConformanceAdapter { addConformanceTool(to: &router) }
  }

  /// Adds a route whose failures have an HTTP status of their own.
  func on(
    _ router: inout Router, _ method: String, _ path: String,
    _ endpoint: @escaping @Sendable (ServerRequest) async throws(UAFWebFailure) -> ServerResponse
  ) {
    router.on(method, path) { request in
      do throws(UAFWebFailure) { return try await endpoint(request) } catch { return error.response }
    }
  }

  // MARK: What all have in common

  /// Who asks.
  func caller(_ request: ServerRequest) async throws(UAFWebFailure) -> UAFCaller {
    do throws(Problem) { return try await authorizations.caller(of: request) } catch {
      throw UAFWebFailure(error)
    }
  }

  /// The body of a request that is none of the protocol's.
  func json(_ request: ServerRequest) throws(UAFWebFailure) -> JSONObject {
    try UAFMediaTypes.check(request, sent: "application/json", answered: nil)
    return try UAFWebFailure.reading(JSONObject(parsing: request.body))
  }

  // MARK: UAF

  private func facets() -> ServerResponse {
    let list = TrustedFacetList([
      .init(version: .v1_0, ids: setup.settings.facets), .init(version: .v1_1, ids: setup.settings.facets),
    ])
    return .bytes(JSONValue.object(list.json).bytes, type: TrustedFacetList.mediaType)
  }

  private func ask(
    _ request: ServerRequest, for operation: UAFOperation
  ) async throws(UAFWebFailure) -> ServerResponse {
    try UAFMediaTypes.check(request, sent: UAFNames.mediaType, answered: UAFNames.mediaType)
    let caller: UAFCaller
    if operation == .deregistration, let text = request.headers["Device-Signature"] {
      caller = .device(try await devices.signed(text, with: request).target)
    } else {
      do throws(Problem) { caller = try await authorizations.caller(of: request) } catch {
        return Self.uaf(returned(UAFFailure(error)))
      }
    }
    return Self.uaf(try await ask(request.body, for: operation, by: caller))
  }

  /// Makes a request of the protocol, or says why not in its words.
  func ask(
    _ body: [UInt8], for operation: UAFOperation, by caller: UAFCaller
  ) async throws(UAFWebFailure) -> ReturnUAFRequest {
    do throws(UAFFailure) {
      let asked = try readingUAF(GetUAFRequest(parsing: body))
      let made = try await requests.make(asked, for: operation, by: caller)
      if operation == .deregistration, let user = made.order.user {
        try await keys.deregister(
          made.order.context.targets, of: user, session: made.session.id, by: caller.actor)
      }
      return ReturnUAFRequest(
        .ok, request: made.text, operation: operation,
        lifetimeMillis: setup.settings.requestLifetime * 1_000)
    } catch {
      if error.isTooManyRequests { throw UAFWebFailure(429, error.reason, .tooManyRequests) }
      return returned(error)
    }
  }

  /// A failure in the words of the protocol; what is our own fault is logged.
  func returned(_ failure: UAFFailure) -> ReturnUAFRequest {
    if failure.status == .internalError { context.log.error("uaf.failed", ["cause": failure.reason]) }
    return ReturnUAFRequest(failure.status)
  }

  private func answer(
    _ request: ServerRequest, to operation: UAFOperation
  ) async throws(UAFWebFailure) -> ServerResponse {
    try UAFMediaTypes.check(request, sent: UAFNames.mediaType, answered: UAFNames.mediaType)
    let (said, cookie) = await answer(request.body, to: operation)
    var response = Self.uaf(said.json)
    if let cookie { response.headers["Set-Cookie"] = cookie }
    return response
  }

  /// Takes a response of the protocol.
  func answer(
    _ body: [UInt8], to operation: UAFOperation
  ) async -> (UAFServerResponse, cookie: String?) {
    do throws(UAFFailure) {
      let sent = try readingUAF(SendUAFResponse(parsing: body))
      let issued =
        operation == .registration
        ? try await responses.takeRegistration(sent) : try await responses.takeAuthentication(sent)
      return (UAFServerResponse(.ok, additionalTokens: issued.map { [$0.token] } ?? []), issued?.cookie)
    } catch {
      if error.status == .internalError { context.log.error("uaf.failed", ["cause": error.reason]) }
      return (UAFServerResponse(error.status, description: error.reason), nil)
    }
  }

  static func uaf(_ message: ReturnUAFRequest) -> ServerResponse { uaf(message.json) }

  private static func uaf(_ object: JSONObject) -> ServerResponse {
    .bytes(JSONValue.object(object).bytes, type: "\(UAFNames.mediaType);charset=UTF-8")
  }
}
