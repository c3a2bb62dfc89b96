import Foundation
import SignetCrypto
import SignetJSON
import SignetServer
import SignetTerminal
import SignetTransport
import SignetWire

/// A client of a running server, with an API key (`docs/protocol.md` section 7).
struct OperatorClient: Sendable {
  /// Whose key a command needs.
  enum Role {
    case admin
    case relyingParty
  }

  /// The most bytes of an answer: a list of a hundred thousand users has room.
  private static let maximumByteCount = 16 << 20

  let server: ServerURL
  private let folder: String?
  private let transport: any HTTPTransport
  private let key: SharedSecretBox

  /// Finds server, trust and key in the options and the environment.
  init(_ arguments: Arguments, as role: Role) throws {
    let access = try Access(arguments, role)
    server = access.server
    folder = arguments.optionalString("data")
    key = access.key
    transport = try CurlTransport(
      ConnectionConfiguration(
        certificateAuthoritiesPEM: access.authorityPEM, maximumResponseByteCount: Self.maximumByteCount))
  }

  func get(_ path: String...) async throws -> JSONObject { try await send(.get, path, nil) }

  func delete(_ path: String...) async throws -> JSONObject { try await send(.delete, path, nil) }

  func post(_ path: String..., body: JSONObject = [:]) async throws -> JSONObject {
    try await send(.post, path, body)
  }

  /// Asks with a query, whose values need no encoding.
  func get(_ path: String..., query: KeyValuePairs<String, Int64>) async throws -> JSONObject {
    try await send(.get, path, query: query.map { "\($0)=\($1)" }.joined(separator: "&"), nil)
  }

  private func send(
    _ method: HTTPMethod, _ segments: [String], query: String = "", _ body: JSONObject?
  ) async throws -> JSONObject {
    let path = (["v1"] + segments.map(Self.percentEncoded)).joined(separator: "/")
    let token = key.withSecret { String(decoding: $0.insecureCopy(), as: UTF8.self) }
    var headers = [("Authorization", "Bearer \(token)"), ("Accept", "application/json")]
    if body != nil { headers.append(("Content-Type", "application/json")) }
    let response = try await answer(
      HTTPRequest(
        method: method, url: server.url(path: path) + (query.isEmpty ? "" : "?\(query)"), headers: headers,
        body: body?.bytes ?? []))
    guard (200...299).contains(response.status) else { throw Self.failure(response) }
    do {
      return try JSONObject(
        parsing: response.body,
        limits: JSONLimits(maximumByteCount: Self.maximumByteCount, maximumMemberCount: 1_000_000))
    } catch {
      throw CommandFailure(.protocolError, "the answer is not of this version of the protocol: \(error)")
    }
  }

  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    do { return try await transport.send(request) } catch { throw explained(error) }
  }

  /// Where nobody listens, or the issuer is unknown: the same with what an operator can do.
  private func explained(_ failure: TransportFailure) -> any Error {
    switch failure {
    case .unreachable(code: 7):  // CURLE_COULDNT_CONNECT
      CommandFailure(
        .unavailable,
        "the server cannot be reached at \(server.shortForm); "
          + (folder.map { "start it: signet-server serve --data \($0)" }
            ?? "check the address and that it runs"))
    case .certificateRefused(.unknownIssuer) where folder == nil:
      CommandFailure(
        .protocolError,
        "the server's certificate was refused: its issuer is not trusted; name the server's ca.pem with --ca")
    default: failure
    }
  }

  private static func failure(_ response: HTTPResponse) -> CommandFailure {
    guard let problem = Problem(parsing: response.body) else {
      return CommandFailure(
        .protocolError, "what answered (status \(response.status)) is no Signet server; check host and port")
    }
    // What is unknown is better said by the detail alone.
    let sentences = problem.code == .unknown && !problem.detail.isEmpty ? [] : [problem.code.title]
    let message = (sentences + [problem.detail]).filter { !$0.isEmpty }.joined(separator: " ")
    return CommandFailure(ExitCodes.code(problem.code), message)
  }

  /// A path segment (RFC 3986 section 3.3).
  private static func percentEncoded(_ segment: String) -> String {
    segment.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// Where a command's server is, whom it trusts and which key it shows.
private struct Access {
  let server: ServerURL
  let authorityPEM: String?
  let key: SharedSecretBox

  init(_ arguments: Arguments, _ role: OperatorClient.Role) throws {
    if let data = arguments.optionalString("data") {
      for other in ["server", "ca"] where arguments.isSet(other) {
        throw UsageFailure.refused("--\(other) and --data exclude each other")
      }
      let folder = try ServerFolder(opening: data)
      server = folder.settings.serverURL
      authorityPEM = try folder.authorityPEM()
      key = try Self.key(arguments, role, folder)
    } else {
      guard let text = arguments.optionalString("server") ?? Environment.server else {
        throw UsageFailure.refused("say which server: --data DIR, or --server with --ca and --key-file")
      }
      do { server = try ServerURL(text) } catch { throw UsageFailure.refused("--server: \(error)") }
      authorityPEM = try (arguments.optionalString("ca") ?? Environment.authorityFile).map(Self.text)
      key = try Self.key(arguments, role, nil)
    }
  }

  private static func key(
    _ arguments: Arguments, _ role: OperatorClient.Role, _ folder: ServerFolder?
  ) throws -> SharedSecretBox {
    if let file = arguments.optionalString("key-file") { return try ServerFolder.apiKey(at: file) }
    if role == .admin, let folder { return try folder.adminKey() }
    guard let file = Environment.apiKeyFile else {
      throw UsageFailure.refused(
        role == .admin
          ? "--key-file is missing: the file with an API key of scope admin"
          : "--key-file is missing: a relying party's key, which "
            + "'signet-server key create NAME --output FILE' makes; the operator's is not good for this")
    }
    return try ServerFolder.apiKey(at: file)
  }

  private static func text(_ path: String) throws -> String {
    do { return try String(contentsOfFile: path, encoding: .utf8) } catch {
      throw CommandFailure(.noInput, "\(path) can't be read as text; check --ca")
    }
  }
}
