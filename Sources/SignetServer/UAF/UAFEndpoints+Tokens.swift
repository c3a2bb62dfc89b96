import SignetHTTP
import SignetJSON
import SignetStorage
import SignetUAF
import SignetWire

/// Tokens, by which an operation begins elsewhere, and what became of an operation.
extension UAFEndpoints {
  /// Adds their routes.
  func addTokens(to router: inout Router) {
    let prefix = setup.settings.prefix
    for operation in UAFOperation.allCases {
      let name = operation.pathName
      on(&router, "POST", prefix + "/token/dispatch/\(name)") { request throws(UAFWebFailure) in
        try await dispatch(request, for: operation)
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
  }

  /// A relying party; others may not order anything.
  private func relyingParty(_ request: ServerRequest) async throws(UAFWebFailure) -> UAFCaller {
    let caller = try await caller(request)
    guard case .relyingParty = caller else { throw .unauthorized }
    return caller
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

  private func status(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let body = try json(request)
    let id = try UAFWebFailure.reading(body.string("sessionId"))
    let found: UAFSessionRecord?
    do throws(StorageFailure) { found = try await context.storage.uafSession(id) } catch {
      throw UAFWebFailure(context.problem(with: error))
    }
    return .json(UAFStatusReport.json(found, at: context.clock.now))
  }
}
