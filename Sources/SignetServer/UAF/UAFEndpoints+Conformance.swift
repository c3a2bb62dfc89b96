import SignetHTTPServer
import SignetJSON
import SignetUAF

/// The endpoints for the conformance tool, served only if the operator enables them.
extension UAFEndpoints {
  var conformanceRoutes: [Route] {
    [
      API.uafConformanceGet.answered { [self] call in
        let operation: UAFOperation
        do throws(MessageFailure) {
          guard let requested = try GetUAFRequest(parsing: call.input).operation else {
            return .json(ReturnUAFRequest(.badRequest).json)
          }
          operation = requested
        } catch { return .json(ReturnUAFRequest(.badRequest).json) }
        return .json(try await ask(call.input, for: operation, by: .conformanceTool).json)
      },
      API.uafConformanceRespond.answered { [self] call in
        let text = try reading(JSONObject(parsing: call.input).string("uafResponse"))
        let isAuthentication = UAFResponses.header(in: text)?.operation == .authentication
        return .json(await answer(call.input, to: isAuthentication ? .authentication : .registration).0.json)
      },
    ]
  }
}

extension API {
  static let uafConformanceGet = Endpoint(
    .post, "/get", .grant, "uafConformanceGet",
    "A request, for the conformance tool; only where that is set up", in: .uaf, by: .none,
    takes: .uaf(.getUAFRequest, as: "application/json"),
    answers: .uaf(.returnUAFRequest, as: "application/json"), below: .uaf, .uaf)
  static let uafConformanceRespond = Endpoint(
    .post, "/respond", .grant, "uafConformanceRespond",
    "A response, for the conformance tool; only where that is set up", in: .uaf, by: .none,
    takes: .uaf(.sendUAFResponse, as: "application/json"),
    answers: .uaf(.uafServerResponse, as: "application/json"), below: .uaf, .uaf)
}
