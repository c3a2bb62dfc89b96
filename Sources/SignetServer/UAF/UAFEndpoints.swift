import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetUAF

/// The endpoints for clients and relying parties of UAF (`docs/protocol.md` section 12).
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
  let watch: TransactionWatch

  init(
    _ context: ServiceContext, _ setup: UAFSetup, _ apiKeys: APIKeyService,
    _ transactions: TransactionService,
    _ watch: TransactionWatch
  ) {
    self.context = context
    self.setup = setup
    self.watch = watch
    authorizations = UAFAuthorizations(context, apiKeys, setup)
    requests = UAFRequests(context, setup, transactions)
    responses = UAFResponses(context, setup, requests, authorizations)
    keys = UAFKeys(context)
    targets = UAFTargets(context, setup.settings)
    devices = UAFDevices(context, setup.settings, targets)
    tokens = UAFTokens(context, setup, requests, targets, keys)
  }

  /// All routes below the configured prefix.
  ///
  /// This file defines the routes of the protocol; extensions define the others.
  var routes: [Route] {
    let facets = API.uafFacets.answered { [setup] _ in
      let list = TrustedFacetList([
        .init(version: .v1_0, ids: setup.settings.facets),
        .init(version: .v1_1, ids: setup.settings.facets),
      ])
      return .bytes(JSONValue.object(list.json).bytes, type: TrustedFacetList.mediaType)
    }
    // Some clients append a slash to these paths.
    let protocolRoutes = UAFOperation.allCases.flatMap { operation in
      [false, true].flatMap { hasSlash in
        let requestRoute = API.uafRequest(operation, hasSlash).answered { [self] call in
          Self.uaf(try await ask(call.input, for: operation, by: call.caller))
        }
        guard operation != .deregistration else { return [requestRoute] }
        return [
          requestRoute,
          API.uafResponse(operation, hasSlash).answered { [self] call in
            let (message, cookie) = await answer(call.input, to: operation)
            var response = Self.uaf(message.json)
            if let cookie { response.headers["Set-Cookie"] = cookie }
            return response
          },
        ]
      }
    }
    return [facets] + protocolRoutes + tokenRoutes + deviceRoutes
      + (setup.settings.hasConformanceAdapter ? conformanceRoutes : [])
  }

  // MARK: UAF

  /// Creates a request of the protocol, or returns a failure in the protocol's form.
  func ask(
    _ body: [UInt8], for operation: UAFOperation, by caller: UAFCaller
  ) async throws -> ReturnUAFRequest {
    do {
      let asked = try readingUAF(GetUAFRequest(parsing: body))
      let made = try await requests.make(asked, for: operation, by: caller)
      if operation == .deregistration, let user = made.order.user {
        try await keys.deregister(
          made.order.context.targets, of: user, session: made.session.id, by: caller)
      }
      return ReturnUAFRequest(
        .ok, request: made.text, operation: operation,
        lifetimeMillis: setup.settings.requestLifetime * 1_000)
    } catch {
      let failure = UAFStatusFailure(answering: error, context)
      if let webFailure = failure.webFailure { throw webFailure }
      return returned(failure)
    }
  }

  /// Returns a failure in the protocol's form, and logs it if it is an internal error.
  func returned(_ failure: UAFStatusFailure) -> ReturnUAFRequest { Self.returned(failure, context) }

  private static func returned(_ failure: UAFStatusFailure, _ context: ServiceContext) -> ReturnUAFRequest {
    if failure.status == .internalError { context.log.sampledError("uaf.failed", ["cause": failure.reason]) }
    return ReturnUAFRequest(failure.status)
  }

  func answer(
    _ body: [UInt8], to operation: UAFOperation
  ) async -> (UAFServerResponse, cookie: String?) {
    do {
      let sent = try readingUAF(SendUAFResponse(parsing: body))
      let issued =
        operation == .registration
        ? try await responses.finishRegistration(sent) : try await responses.finishAuthentication(sent)
      return (UAFServerResponse(.ok, additionalTokens: issued.map { [$0.token] } ?? []), issued?.cookie)
    } catch {
      let failure = UAFStatusFailure(answering: error, context)
      if failure.status == .internalError {
        context.log.sampledError("uaf.failed", ["cause": failure.reason])
      }
      return (UAFServerResponse(failure.status, description: failure.reason), nil)
    }
  }

  static func uaf(_ message: ReturnUAFRequest) -> ServerResponse { uaf(message.json) }

  private static func uaf(_ object: JSONObject) -> ServerResponse {
    .bytes(JSONValue.object(object).bytes, type: "\(UAFNames.mediaType);charset=UTF-8")
  }
}

extension UAFEndpoints {
  /// The media type of JWS from devices and from the server.
  static let jose = "application/jose"

  /// Returns a failure in the protocol's form, or with an HTTP status if the protocol has none for it.
  static func answer(to error: any Error, _ context: ServiceContext) -> ServerResponse {
    if let failure = error as? UAFWebFailure { return failure.response }
    let failure = UAFStatusFailure(answering: error, context)
    if let webFailure = failure.webFailure { return webFailure.response }
    return uaf(returned(failure, context))
  }
}

extension UAFOperation {
  /// The operation's name in endpoint ids, such as `Registration`.
  var idName: String { pathName.prefix(1).uppercased() + pathName.dropFirst() }
}

extension API {
  static let uafFacets = Endpoint(
    .get, "/uaf/1.1/facets", .publish, "uafFacets", "Get the trusted facets of the application", in: .uaf,
    by: .none,
    answers: .response([
      AnswerDescription(
        status: 200, text: "For version 1.0 and 1.1.",
        content: [(TrustedFacetList.mediaType, JSONSchema.uafFacets)])
    ]), below: .uaf, .uafProtocol)

  static func uafRequest(
    _ operation: UAFOperation, _ hasSlash: Bool
  ) -> Endpoint<UAFCaller, [UInt8], ServerResponse> {
    let credential: Credential<UAFCaller> =
      switch operation {
      case .registration: .uafManager
      case .authentication: .uafAnybody
      case .deregistration: .uafManagerOrDevice
      }
    return Endpoint(
      .post, "/uaf/1.1/request/\(operation.pathName)" + (hasSlash ? "/" : ""),
      operation == .deregistration ? .refuse : .grant,
      "uafRequest\(operation.idName)" + (hasSlash ? "WithSlash" : ""),
      "Get a request for a \(operation.pathName)", in: .uaf, by: credential,
      takes: .uaf(
        .getUAFRequest, as: UAFNames.mediaType, accepted: UAFNames.mediaType,
        example: ["context": #"{"username":"alice"}"#]),
      answers: .uaf(.returnUAFRequest),
      or: operation == .authentication ? [.uafAccept, .uafTooMany] : [.uafAccept], below: .uaf, .uafProtocol)
  }

  static func uafResponse(
    _ operation: UAFOperation, _ hasSlash: Bool
  ) -> Endpoint<Void, [UInt8], ServerResponse> {
    Endpoint(
      .post, "/uaf/1.1/\(operation.pathName)" + (hasSlash ? "/" : ""), .grant,
      "uaf\(operation.idName)" + (hasSlash ? "WithSlash" : ""),
      "Send a client's response to a request for a \(operation.pathName)", in: .uaf, by: .none,
      takes: .uaf(.sendUAFResponse, as: UAFNames.mediaType, accepted: UAFNames.mediaType),
      answers: .uaf(.uafServerResponse), or: [.uafAccept], below: .uaf, .uafProtocol)
  }
}
