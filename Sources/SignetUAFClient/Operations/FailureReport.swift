import SignetJSON
import SignetUAF

extension UAFOperations {
  /// Reports a FIDO failure to the server, so that it does not wait for a response.
  ///
  /// The result of the report is ignored, because the operation has already failed. The report is also sent after the
  /// task was cancelled, so it has a short time-out: the user who cancelled waits for it.
  func report(
    _ failure: UAFOperationFailure, of operation: UAFOperation, _ message: String, to server: UAFServer,
    by authorization: UAFAuthorization?
  ) async {
    guard case .fido(let code, _) = failure, let response = Self.emptyResponse(to: message) else { return }
    var configuration = server.configuration
    configuration.networkTimeoutSeconds = min(configuration.networkTimeoutSeconds, Self.reportTimeoutSeconds)
    let reportServer: UAFServer
    do throws(UAFOperationFailure) { reportServer = try self.server(configuration) } catch { return }
    let status = ASMStatus(code) ?? .error
    let context: JSONObject = [
      "asmStatusCode": .integer(Int64(status.rawValue)), "clientErrorCode": .integer(Int64(code.rawValue)),
    ]
    await Task {
      do throws(UAFNetworkProblem) {
        _ = try await reportServer.respond(operation, response, context, by: authorization)
      } catch {}
    }.value
  }

  /// The maximum time-out of a report.
  static let reportTimeoutSeconds = 10

  /// A response without assertions, with the header of the UAF 1.1 request; `nil` if the message contains none.
  static func emptyResponse(to message: String) -> String? {
    let value: JSONValue
    do throws(JSONFailure) {
      value = try JSONValue(parsing: Array(message.utf8), limits: JSONLimits(maximumByteCount: 1 << 20))
    } catch { return nil }
    guard case .array(let messages) = value else { return nil }
    for case .object(let request) in messages {
      guard case .object(let header)? = request["header"], case .object(let version)? = header["upv"],
        version == ["major": 1, "minor": 1]
      else { continue }
      let response: JSONObject = ["header": .object(header), "fcParams": "", "assertions": .array([])]
      return JSONValue.array([.object(response)]).text
    }
    return nil
  }
}
