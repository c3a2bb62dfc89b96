import SignetTransport
import SignetWire

/// The exchanges with one server: requests out, bodies or failures back.
struct ServerSession: Sendable {
  let server: ServerURL
  let transport: any HTTPTransport
  let clock: any WallClock
  let random: any RandomSource

  /// Sends a request that carries no signature.
  func post(_ path: String, _ body: [UInt8]) async throws(SignetFailure) -> [UInt8] {
    try await send(.post, path, body, authorization: nil)
  }

  /// Sends a request that the session key signs.
  func send(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [], signedBy key: DeviceSigningKey,
    container: ServerMadeID
  ) async throws(SignetFailure) -> [UInt8] {
    try await exchange(method, path, body, signedBy: key, container: container).body
  }

  /// Sends a request that the session key signs; what is answered may be bound to its id, 16 bytes.
  func exchange(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [], signedBy key: DeviceSigningKey,
    container: ServerMadeID
  ) async throws(SignetFailure) -> (body: [UInt8], id: [UInt8]) {
    let proof = RequestProof(
      method: method.rawValue, path: "/\(server.domain)\(path)", body: body, time: clock.now, random: random)
    let authorization = try await proof.authorization(container: container) {
      (message) async throws(SignetFailure) in try await key.signature(of: message)
    }
    return (try await send(method, path, body, authorization: authorization), proof.id)
  }

  /// Asks for what is for everyone.
  func get(_ path: String) async throws(SignetFailure) -> [UInt8] {
    try await send(.get, path, [], authorization: nil)
  }

  private func send(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8], authorization: String?
  ) async throws(SignetFailure) -> [UInt8] {
    var headers: [(String, String)] = []
    if method == .post { headers.append(("Content-Type", "application/json")) }
    if let authorization { headers.append(("Authorization", authorization)) }
    let response: HTTPResponse
    do {
      response = try await transport.send(
        HTTPRequest(method: method, url: server.fullForm + path, headers: headers, body: body))
    } catch { throw .transport(error) }
    if (200...299).contains(response.status) { return response.body }
    guard let problem = Problem(parsing: response.body) else {
      throw .unexpectedAnswer(status: response.status)
    }
    throw SignetFailure(problem)
  }
}
