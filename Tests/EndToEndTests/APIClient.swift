import Foundation
import SignetHTTPClient
import SignetJSON
import Testing

/// A client of a running server's HTTP API, with an API key.
struct APIClient: Sendable {
  private let url: String
  private let key: String
  private let transport: CurlTransport

  /// Creates a client with the operator's key, unless another key file is named.
  init(_ server: RunningServer, keyFile: String? = nil, timeoutSeconds: Int = 60) throws {
    url = "https://\(server.url)/v1"
    key = String(
      try String(contentsOfFile: keyFile ?? "\(server.data)/admin.key", encoding: .utf8).prefix { $0 != "\n" }
    )
    transport = try CurlTransport(
      ConnectionConfiguration(
        timeoutSeconds: timeoutSeconds,
        certificateAuthoritiesPEM: try String(contentsOfFile: server.authority, encoding: .utf8),
        maximumResponseByteCount: 16 << 20, maximumConnections: 64))
  }

  /// Sends a request and returns the response, whatever its status.
  func send(_ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil) async throws -> HTTPResponse {
    var headers = [("Authorization", "Bearer \(key)")]
    if body != nil { headers.append(("Content-Type", "application/json")) }
    return try await transport.send(
      HTTPRequest(method: method, url: "\(url)/\(path)", headers: headers, body: body?.bytes ?? []))
  }

  /// Sends a request that must succeed.
  func json(_ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil) async throws -> JSONObject {
    let response = try await send(method, path, body)
    let text = String(decoding: response.body.prefix(1000), as: UTF8.self)
    try #require((200...299).contains(response.status), "\(path): \(response.status) \(text)")
    return try JSONObject(
      parsing: response.body, limits: JSONLimits(maximumByteCount: 16 << 20, maximumMemberCount: 1_000_000))
  }

  /// Adds a user with a token and activates the token with its first code.
  func addUser(_ user: String, _ token: JSONObject, firstCode: String) async throws {
    _ = try await json(.post, "admin/users", ["user": .string(user)])
    var token = token
    token["user"] = .string(user)
    _ = try await json(.post, "admin/tokens", ["tokens": [.object(token)]])
    let verified = try await json(
      .post, "admin/tokens/\(token.string("serial"))/verify", ["code": .string(firstCode)])
    #expect(try verified.bool("verified"))
  }
}
