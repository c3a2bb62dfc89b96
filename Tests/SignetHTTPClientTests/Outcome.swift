import SignetHTTPClient

/// Runs an exchange and returns its typed failure.
func outcome<R>(
  _ body: () async throws(TransportFailure) -> R
) async -> Result<R, TransportFailure> {
  do throws(TransportFailure) { return .success(try await body()) } catch { return .failure(error) }
}

/// Sends one request and returns its typed failure.
func send(
  _ request: HTTPRequest, over transport: any HTTPTransport
) async -> Result<HTTPResponse, TransportFailure> {
  await outcome { () async throws(TransportFailure) in try await transport.send(request) }
}

extension Result {
  /// The failure; `nil` for a success.
  var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
