import SignetHTTP
import SignetJSON
import SignetUAF

/// What the conformance tool calls, where the operator lets it.
extension UAFEndpoints {
  /// Adds its routes.
  func addConformanceTool(to router: inout Router) {
    let prefix = setup.settings.prefix
    on(&router, "POST", prefix + "/get") { request throws(UAFWebFailure) in try await conformanceGet(request)
    }
    on(&router, "POST", prefix + "/respond") { request throws(UAFWebFailure) in
      try await conformanceRespond(request)
    }
  }

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
