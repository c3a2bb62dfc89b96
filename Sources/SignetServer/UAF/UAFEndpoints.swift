import SignetCrypto
import SignetHTTP
import SignetJOSE
import SignetJSON
import SignetStorage
import SignetUAF
import SignetWire

/// What clients and relying parties of UAF call (`docs/protocol.md` section 12).
struct UAFEndpoints: Sendable {
  private static let jose = "application/jose"

  private let context: ServiceContext
  private let setup: UAFSetup
  private let names: UAFNames
  private let authorizations: UAFAuthorizations
  private let requests: UAFRequests
  private let responses: UAFResponses
  private let keys: UAFKeys
  private let targets: UAFTargets
  private let devices: UAFDevices
  private let tokens: UAFTokens

  init(
    _ context: ServiceContext, _ setup: UAFSetup, _ apiKeys: APIKeyService, _ transactions: TransactionService
  ) {
    (self.context, self.setup) = (context, setup)
    names = UAFNames(context.settings.serverURL, setup.settings)
    authorizations = UAFAuthorizations(context, apiKeys, setup)
    requests = UAFRequests(context, setup, transactions)
    responses = UAFResponses(context, setup, requests, authorizations)
    keys = UAFKeys(context)
    targets = UAFTargets(context, setup.settings)
    devices = UAFDevices(context, setup.settings, targets)
    tokens = UAFTokens(context, setup, requests, targets, keys)
  }

  // MARK: Routes

  /// Adds all routes, below the configured prefix.
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
      for path in ["/token/dispatch/\(name)"] {
        on(&router, "POST", prefix + path) { request throws(UAFWebFailure) in
          try await dispatch(request, for: operation)
        }
      }
      for path in ["/token/create/\(name)", "/token/\(name)"] {
        on(&router, "POST", prefix + path) { request throws(UAFWebFailure) in
          try await create(request, for: operation)
        }
      }
      for path in ["/token/redeem/\(name)", "/redeemToken/\(name)"] {
        on(&router, "POST", prefix + path) { request throws(UAFWebFailure) in
          try await redeem(request, for: operation)
        }
      }
    }
    on(&router, "POST", prefix + "/status") { request throws(UAFWebFailure) in try await status(request) }
    for end in ["", "/"] {
      on(&router, "POST", prefix + "/token/dispatch/targets\(end)") { request throws(UAFWebFailure) in
        try await addTarget(request)
      }
      on(&router, "GET", prefix + "/token/dispatch/targets\(end)") { request throws(UAFWebFailure) in
        try await listTargets(request)
      }
    }
    on(&router, "PATCH", prefix + "/token/dispatch/targets/{id}") { request throws(UAFWebFailure) in
      try await changeTarget(request)
    }
    on(&router, "DELETE", prefix + "/token/dispatch/targets/{id}") { request throws(UAFWebFailure) in
      try await removeTarget(request)
    }
    on(&router, "GET", prefix + "/devices/credentials/{device}") { request throws(UAFWebFailure) in
      try await ofDevice(request) { signed, device throws(UAFWebFailure) in
        try await devices.credentials(signed, on: device)
      }
    }
    on(&router, "GET", prefix + "/devices/oob-operations/{device}") { request throws(UAFWebFailure) in
      try await ofDevice(request) { signed, device throws(UAFWebFailure) in
        try await devices.pending(signed, on: device)
      }
    }
    on(&router, "PATCH", prefix + "/devices/{device}") { request throws(UAFWebFailure) in
      try await changeDevice(request)
    }
    on(&router, "DELETE", prefix + "/devices/{device}") { request throws(UAFWebFailure) in
      try await removeDevice(request)
    }
    guard setup.settings.hasConformanceAdapter else { return }
    on(&router, "POST", prefix + "/get") { request throws(UAFWebFailure) in try await conformanceGet(request)
    }
    on(&router, "POST", prefix + "/respond") { request throws(UAFWebFailure) in
      try await conformanceRespond(request)
    }
  }

  private func on(
    _ router: inout Router, _ method: String, _ path: String,
    _ endpoint: @escaping @Sendable (ServerRequest) async throws(UAFWebFailure) -> ServerResponse
  ) {
    router.on(method, path) { request in
      do throws(UAFWebFailure) { return try await endpoint(request) } catch { return error.response }
    }
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

  private func ask(
    _ body: [UInt8], for operation: UAFOperation, by caller: UAFCaller
  ) async throws(UAFWebFailure) -> ReturnUAFRequest {
    do throws(UAFFailure) {
      let asked = try readingUAF(GetUAFRequest(parsing: body))
      let made = try await requests.make(asked, for: operation, by: caller)
      if operation == .deregistration, let name = made.session.user {
        let user = try Self.user(name)
        let targets = try UAFContext(asked.context, for: operation).targets
        try await keys.remove(targets, of: user, session: made.session.id, by: caller.actor)
      }
      return ReturnUAFRequest(
        .ok, request: made.text, operation: operation,
        lifetimeMillis: setup.settings.requestLifetime * 1_000)
    } catch {
      if error.isTooManyRequests { throw UAFWebFailure(429, error.reason, .tooManyRequests) }
      return returned(error)
    }
  }

  private static func user(_ name: String) throws(UAFFailure) -> UserID {
    do throws(WireFailure) { return try UserID(name) } catch {
      throw UAFFailure(.internalError, "a stored operation has no user")
    }
  }

  private func returned(_ failure: UAFFailure) -> ReturnUAFRequest {
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

  private func answer(
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

  private static func uaf(_ message: ReturnUAFRequest) -> ServerResponse { uaf(message.json) }

  private static func uaf(_ object: JSONObject) -> ServerResponse {
    .bytes(JSONValue.object(object).bytes, type: "\(UAFNames.mediaType);charset=UTF-8")
  }

  // MARK: Tokens

  /// A relying party; others may not order anything.
  private func relyingParty(_ request: ServerRequest) async throws(UAFWebFailure) -> UAFCaller {
    let caller = try await caller(request)
    guard case .relyingParty = caller else { throw .unauthorized }
    return caller
  }

  private func caller(_ request: ServerRequest) async throws(UAFWebFailure) -> UAFCaller {
    do throws(Problem) { return try await authorizations.caller(of: request) } catch {
      throw UAFWebFailure(error)
    }
  }

  private func json(_ request: ServerRequest) throws(UAFWebFailure) -> JSONObject {
    try UAFMediaTypes.check(request, sent: "application/json", answered: nil)
    return try UAFWebFailure.reading(JSONObject(parsing: request.body))
  }

  private func create(
    _ request: ServerRequest, for operation: UAFOperation
  ) async throws(UAFWebFailure) -> ServerResponse {
    _ = try json(request)
    let caller = try await relyingParty(request)
    do throws(UAFFailure) {
      let asked = try readingUAF(GetUAFRequest(parsing: request.body))
      let made = try await tokens.create(asked, for: operation, by: caller)
      return .json(["token": .string(made.token), "sessionId": .string(made.session.id)])
    } catch { throw UAFWebFailure(error) }
  }

  private func dispatch(
    _ request: ServerRequest, for operation: UAFOperation
  ) async throws(UAFWebFailure) -> ServerResponse {
    let body = try json(request)
    let caller = try await relyingParty(request)
    do throws(UAFFailure) { return .json(try await tokens.dispatch(body, for: operation, by: caller)) } catch
    {
      throw UAFWebFailure(error)
    }
  }

  private func redeem(
    _ request: ServerRequest, for operation: UAFOperation
  ) async throws(UAFWebFailure) -> ServerResponse {
    try UAFMediaTypes.check(request, sent: "application/json", answered: UAFNames.mediaType)
    let body = try json(request)
    let token = try UAFWebFailure.reading(body.string("token"))
    do throws(UAFFailure) {
      let text = try await tokens.redeem(token, for: operation)
      return Self.uaf(
        ReturnUAFRequest(
          .ok, request: text, operation: operation, lifetimeMillis: setup.settings.requestLifetime * 1_000))
    } catch { return Self.uaf(returned(error)) }
  }

  // MARK: Status

  private func status(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let body = try json(request)
    let id = try UAFWebFailure.reading(body.string("sessionId"))
    let found: UAFSessionRecord?
    do throws(StorageFailure) { found = try await context.storage.uafSession(id) } catch {
      throw UAFWebFailure(context.problem(with: error))
    }
    return .json(UAFStatusReport.json(found, at: context.clock.now))
  }

  // MARK: Devices

  private func addTarget(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let body = try json(request)
    let caller = try await caller(request)
    let target = try await targets.add(body, by: caller)
    return .json(["id": .string(target.id), "extId": .string(target.id)], status: 201)
  }

  private func listTargets(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let user = try Self.user(named: request.query["username"] ?? "")
    guard try await caller(request).mayManage(user) else { throw .unauthorized }
    var list: [JSONValue] = []
    for target in try await targets.list(user) { list.append(.object(try targets.json(target))) }
    return .json(["dispatchTargets": .array(list)])
  }

  private static func user(named name: String) throws(UAFWebFailure) -> UserID {
    do throws(WireFailure) { return try UserID(name) } catch {
      throw UAFWebFailure(400, "username: \(error)")
    }
  }

  private func changeTarget(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    try UAFMediaTypes.check(request, sent: Self.jose, answered: nil)
    let text = String(decoding: request.body, as: UTF8.self)
    try await targets.change(
      try await devices.signed(text, with: request, isBody: true, for: request.parameters["id"] ?? ""))
    return ServerResponse(status: 204)
  }

  /// By the key of the target, by its user, or by a relying party.
  private func removeTarget(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let id = request.parameters["id"] ?? ""
    if let text = request.headers["Device-Signature"] {
      _ = try await devices.signed(text, with: request, for: id)
      try await targets.remove(id, by: "target:\(id)")
    } else {
      let caller = try await caller(request)
      if case .anyone = caller { throw UAFWebFailure.unauthorized }
      let target = try await targets.target(id)
      guard caller.mayManage(try Self.user(named: target.user)) else { throw UAFWebFailure.unauthorized }
      try await targets.remove(id, by: caller.actor)
    }
    return ServerResponse(status: 204)
  }

  private func changeDevice(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    try UAFMediaTypes.check(request, sent: Self.jose, answered: nil)
    let text = String(decoding: request.body, as: UTF8.self)
    try await targets.change(
      try await devices.signed(
        text, with: request, isBody: true, forDevice: request.parameters["device"] ?? ""))
    return ServerResponse(status: 204)
  }

  private func removeDevice(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let device = request.parameters["device"] ?? ""
    try await devices.remove(
      try await devices.signed(request.headers["Device-Signature"], with: request, forDevice: device), device)
    return ServerResponse(status: 204)
  }

  /// Answers what a device may see of itself, signed by the server.
  private func ofDevice(
    _ request: ServerRequest,
    _ content: (UAFDevices.Signed, String) async throws(UAFWebFailure) -> JSONObject
  ) async throws(UAFWebFailure) -> ServerResponse {
    try UAFMediaTypes.check(request, sent: nil, answered: Self.jose)
    let device = request.parameters["device"] ?? ""
    let signed = try await devices.signed(
      request.headers["Device-Signature"], with: request, forDevice: device)
    let object = try await content(signed, device)
    do {
      let key = try await SigningKeyService(context).current()
      let text = try JWS.sign(object.bytes, with: SigningKey(key, keyID: key.publicKey.thumbprint))
      return .bytes(Array(text.utf8), type: "\(Self.jose);charset=UTF-8")
    } catch {
      context.log.error("uaf.failed", ["cause": "\(error)"])
      throw UAFWebFailure(500, "the answer can't be signed")
    }
  }

  // MARK: The conformance tool

  private func conformanceGet(_ request: ServerRequest) async throws(UAFWebFailure)
    -> ServerResponse
  {
    _ = try json(request)
    let operation: UAFOperation
    do throws(MessageFailure) {
      guard let asked = try GetUAFRequest(parsing: request.body).operation else {
        return .json(ReturnUAFRequest(.badRequest).json)
      }
      operation = asked
    } catch { return .json(ReturnUAFRequest(.badRequest).json) }
    return .json(try await ask(request.body, for: operation, by: .conformanceTool).json)
  }

  private func conformanceRespond(
    _ request: ServerRequest
  ) async throws(UAFWebFailure) -> ServerResponse {
    let body = try json(request)
    let text = try UAFWebFailure.reading(body.string("uafResponse"))
    let isAuthentication = UAFResponses.header(in: text)?.operation == .authentication
    return .json(
      await answer(request.body, to: isAuthentication ? .authentication : .registration).0.json)
  }
}

extension UAFWebFailure {
  /// The HTTP status of a failure where there is no status of UAF in the answer.
  init(_ failure: UAFFailure) {
    let status: Int =
      switch failure.status {
      case .badRequest, .unacceptableContent: 400
      case .unauthorized: 401
      case .forbidden: 403
      case .notFound: 404
      case .internalError: 500
      default: 400
      }
    self.init(status, failure.reason)
  }
}
