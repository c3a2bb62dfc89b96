import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetSystem
package import SignetVault

/// An HTTP client for one server, which signs requests and converts error answers to failures.
package struct ServerSession: Sendable {
  let server: ServerURL
  let transport: any HTTPTransport
  let clock: any WallClock
  let random: any RandomSource
  /// Receives whether the server knows the container, after each request signed by its session key.
  var onAnswer: (@Sendable (_ isKnown: Bool) async -> Void)?

  /// Sends an unsigned POST request.
  package func post(_ path: String, _ body: [UInt8]) async throws(SignetError) -> [UInt8] {
    try await answer(.post, path, body, []).body
  }

  /// Sends a request signed by the session key and returns the body of the answer.
  package func send(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [], signedBy key: ContainerSigningKey,
    container: ContainerID
  ) async throws(SignetError) -> [UInt8] {
    try await exchange(method, path, body, signedBy: key, container: container).response.body
  }

  /// Sends a request signed by the session key, with further headers; the request's ID, 16 bytes, allows an answer to be bound to it.
  ///
  /// - Returns: The answer, with a status of 200 to 299 or 304, and the request's ID.
  package func exchange(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8] = [], headers: [(String, String)] = [],
    signedBy key: ContainerSigningKey, container: ContainerID
  ) async throws(SignetError) -> (response: HTTPResponse, id: [UInt8]) {
    let proof = RequestProof(
      method: method.rawValue, path: "/\(server.domain)\(path)", body: body, time: clock.now, random: random)
    let authorization = try await proof.authorization(container: container) {
      (message) async throws(SignetError) in try await vaulted(await key.signature(of: message))
    }
    do throws(SignetError) {
      let answer = try await answer(method, path, body, headers + [("Authorization", authorization)])
      await onAnswer?(true)
      return (answer, proof.id)
    } catch {
      if case .containerUnknown = error { await onAnswer?(false) }
      throw error
    }
  }

  /// Fetches a public resource.
  func get(_ path: String) async throws(SignetError) -> [UInt8] {
    try await answer(.get, path, [], []).body
  }

  private func answer(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8], _ headers: [(String, String)]
  ) async throws(SignetError) -> HTTPResponse {
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
    throw SignetError(problem)
  }
}

/// The answer `{"status":"…"}`, by which a server reports a success.
///
/// Another status in a successful answer is an error, because it did not come from a server of this protocol.
enum StatusAnswer {
  /// Checks the status in an answer's body.
  ///
  /// - Throws: ``SignetError/unexpectedAnswer(status:)`` unless the status is `expected`.
  static func check(_ body: [UInt8], is expected: String) throws(SignetError) {
    let found: String
    do { found = try JSONObject(parsing: body).string("status") } catch {
      throw .unexpectedAnswer(status: 200)
    }
    guard found == expected else { throw .unexpectedAnswer(status: 200) }
  }
}
