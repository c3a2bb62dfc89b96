import SignetTransport
import SignetWire

/// The exchanges with one server: requests out, bodies or failures back.
package struct ServerSession: Sendable {
  let server: ServerURL
  let transport: any HTTPTransport
  let clock: any WallClock
  let random: any RandomSource
  /// Hears whether the server knows the container whose session key signed a request.
  var hears: (@Sendable (_ isKnown: Bool) async -> Void)?

  /// Sends a request that carries no signature.
  package func post(_ path: String, _ body: [UInt8]) async throws(SignetFailure) -> [UInt8] {
    try await answer(.post, path, body, []).body
  }

  /// Sends a request that the session key signs.
  package func send(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [], signedBy key: DeviceSigningKey,
    container: SignetWire.ContainerID
  ) async throws(SignetFailure) -> [UInt8] {
    try await exchange(method, path, body, signedBy: key, container: container).response.body
  }

  /// Sends a request that the session key signs, with further fields; what is answered may be bound to its id, 16 bytes.
  ///
  /// - Returns: The answer, of a status of 200 to 299, or 304 where a field asked for it, and the request's id.
  package func exchange(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [], headers: [(String, String)] = [],
    signedBy key: DeviceSigningKey, container: SignetWire.ContainerID
  ) async throws(SignetFailure) -> (response: HTTPResponse, id: [UInt8]) {
    let proof = RequestProof(
      method: method.rawValue, path: "/\(server.domain)\(path)", body: body, time: clock.now, random: random)
    let authorization = try await proof.authorization(container: container) {
      (message) async throws(SignetFailure) in try await key.signature(of: message)
    }
    do throws(SignetFailure) {
      let answer = try await answer(method, path, body, headers + [("Authorization", authorization)])
      await hears?(true)
      return (answer, proof.id)
    } catch {
      if case .containerUnknown = error { await hears?(false) }
      throw error
    }
  }

  /// Asks for what is for everyone.
  func get(_ path: String) async throws(SignetFailure) -> [UInt8] {
    try await answer(.get, path, [], []).body
  }

  private func answer(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8], _ headers: [(String, String)]
  ) async throws(SignetFailure) -> HTTPResponse {
    var headers = headers
    if !body.isEmpty { headers.append(("Content-Type", "application/json")) }
    let response: HTTPResponse
    do {
      response = try await transport.send(
        HTTPRequest(method: method, url: server.fullForm + path, headers: headers, body: body))
    } catch { throw .transport(error) }
    if (200...299).contains(response.status) || response.status == 304 { return response }
    guard let problem = Problem(parsing: response.body) else {
      throw .unexpectedAnswer(status: response.status)
    }
    throw SignetFailure(problem)
  }
}
