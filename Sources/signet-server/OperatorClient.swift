import SignetCrypto
import SignetDataDirectory
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetServer
import SignetStorage
import SignetSystem
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

struct Answer<Message: Sendable>: Sendable {
  let message: Message
  /// The answer as received, including members that this version does not know: the output of `--json`.
  var json: JSONObject
}

/// A client of a running server, with an API key (`docs/protocol.md` section 7).
struct OperatorClient: Sendable {
  /// The maximum size of an answer in bytes: enough for a list of a hundred thousand users.
  private static let maximumByteCount = 16 << 20
  /// The time in which the server of a folder must listen after its start.
  private static let longestStart = Duration.seconds(2)

  let server: ServerURL
  private let arguments: Arguments
  private let folder: String?
  /// The transports to the server, in the order of trial.
  private let transports: [any HTTPTransport]
  private let key: APIKey

  /// Determines server, trust and API key for an endpoint from the options and the environment.
  init(_ arguments: Arguments, for endpoint: some DescribedEndpoint) throws {
    guard case .key(let scope) = endpoint.description.access else {
      preconditionFailure("\(endpoint.description.id) takes no API key")
    }
    let access = try ServerAccess(arguments, scope)
    self.arguments = arguments
    server = access.server
    folder = arguments.optionalString("data")
    key = access.key
    var configuration = ConnectionConfiguration(
      certificateAuthoritiesPEM: access.authorityPEM, maximumResponseByteCount: Self.maximumByteCount)
    let byName = try CurlTransport(configuration)
    guard let listen = access.listen else {
      transports = [byName]
      return
    }
    // The server's own machine uses its listening address: its public name may not resolve to it yet.
    configuration.connectAddress = ConnectAddress(address: listen.reachable, port: listen.port)
    transports = [try CurlTransport(configuration), byName]
  }

  /// Calls an endpoint; the parameters of its path are the command's arguments of the same names.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint.
  ///   - input: The input.
  ///   - options: The options for members of the input; error messages name them instead of the members.
  /// - Returns: The answer.
  /// - Throws: ``ServerRefusal``; `CommandFailure`; `UsageFailure` for a value that cannot be a path segment.
  func send<Input, Output>(
    _ endpoint: Endpoint<APIKeyRecord, Input, Output>, _ input: Input,
    sayingFor options: KeyValuePairs<String, String> = [:]
  ) async throws -> Answer<Output> {
    let content = endpoint.content(input)
    let json: JSONObject
    do { json = try await answer(endpoint.description, content) } catch let refusal as ServerRefusal {
      throw refusal.naming(options)
    }
    do { return Answer(message: try endpoint.message(in: json), json: json) } catch {
      throw Self.otherVersion(error)
    }
  }

  /// Calls an endpoint without input.
  ///
  /// - Throws: The errors of ``send(_:_:sayingFor:)``.
  func send<Output>(_ endpoint: Endpoint<APIKeyRecord, Void, Output>) async throws -> Answer<Output> {
    try await send(endpoint, ())
  }

  /// Polls once a second until a decision or the time-out.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint that shows the state.
  ///   - seconds: The time-out; 0 asks once.
  ///   - isPending: Returns true if an answer can still change.
  /// - Returns: The last answer, which may still be pending.
  /// - Throws: The errors of ``send(_:_:sayingFor:)``.
  func decided<Output>(
    _ endpoint: Endpoint<APIKeyRecord, Void, Output>, within seconds: Int, while isPending: (Output) -> Bool
  ) async throws -> Answer<Output> {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var answer = try await send(endpoint)
    while isPending(answer.message), ContinuousClock.now < deadline {
      try await Task.sleep(for: min(.seconds(1), ContinuousClock.now.duration(to: deadline)))
      answer = try await send(endpoint)
    }
    return answer
  }

  private func answer(_ endpoint: EndpointDescription, _ content: RequestContent) async throws -> JSONObject {
    var path = endpoint.path(uaf: "")
    for parameter in endpoint.parameters {
      let value = arguments.string(parameter.rawValue)
      guard PercentEncoding.isSegment(value) else {
        throw UsageFailure.refused(
          "\(ours: parameter.rawValue.uppercased()) cannot be empty, . or .., which name nothing in a URL")
      }
      path = path.replacing("{\(parameter.rawValue)}", with: PercentEncoding.encode(value))
    }
    let token = key.secret.withSecret { String(decoding: $0.insecureCopy(), as: UTF8.self) }
    var headers = [("Authorization", "Bearer \(token)"), ("Accept", "application/json")]
    if let type = endpoint.request.mediaType { headers.append(("Content-Type", type)) }
    let fields = content.query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    guard let method = HTTPMethod(rawValue: endpoint.method.rawValue) else {
      preconditionFailure("\(endpoint.method) is no method")
    }
    let response = try await answer(
      HTTPRequest(
        method: method,
        url: server.url(path: String(path.dropFirst())) + (fields.isEmpty ? "" : "?\(fields)"),
        headers: headers, body: content.body))
    guard (200...299).contains(response.status) else { throw failure(response, of: endpoint) }
    do {
      return try JSONObject(
        parsing: response.body,
        limits: JSONLimits(maximumByteCount: Self.maximumByteCount, maximumMemberCount: 1_000_000))
    } catch { throw Self.otherVersion(error) }
  }

  static func otherVersion(_ error: any Error) -> CommandFailure {
    CommandFailure(.protocolError, "the answer does not conform to this version of the protocol: \(error)")
  }

  /// Sends a request; retries if the server of a folder does not listen yet, because it may be starting.
  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    let deadline = ContinuousClock.now + Self.longestStart
    while true {
      do { return try await send(request) } catch TransportFailure.unreachable
        where folder != nil && ContinuousClock.now < deadline
      {
        try await Task.sleep(for: .milliseconds(50))
      } catch { throw explained(error) }
    }
  }

  /// Sends a request once, over the first transport that reaches the server.
  private func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    for transport in transports.dropLast() {
      // These failures happen before the request is sent, so another transport cannot cause a second processing.
      do { return try await transport.send(request) } catch TransportFailure.unreachable {
      } catch TransportFailure.certificateRefused {
      } catch TransportFailure.tlsRefused {
      }
    }
    return try await transports[transports.count - 1].send(request)
  }

  /// Adds the operator's remedy to a failure to connect, or to an unknown issuer.
  private func explained(_ failure: TransportFailure) -> any Error {
    switch failure {
    case .unreachable(let code):
      CommandFailure(
        .unavailable, "the server cannot be reached at \(server.shortForm); \(remedy(ofCode: code))")
    case .certificateRefused(.unknownIssuer):
      CommandFailure(
        .protocolError,
        "the server's certificate was refused: its issuer is not trusted; \(remedyOfUnknownIssuer)")
    default: failure
    }
  }

  /// Returns the remedy if no server listens; the code is libcurl's.
  private func remedy(ofCode code: Int32) -> TerminalText {
    if let folder { return "start it: \(command: "signet-server serve --data \(shellWord(folder))")" }
    guard code == 6 else { return "check the address and that it runs" }  // CURLE_COULDNT_RESOLVE_HOST
    return "the name \(server.host) was not found: check it, or give its address in /etc/hosts"
  }

  private var remedyOfUnknownIssuer: TerminalText {
    guard let folder else { return "name the server's ca.pem with --ca" }
    do {
      // The authority verifies the certificate in the folder, so the server uses another one.
      if try DataDirectory(opening: folder).certificate().authorityRefusal == nil {
        return
          "it shows another certificate than the one in \(folder): send SIGHUP to the server, or start it again"
      }
    } catch {}  // for an unreadable certificate, give the advice below
    return
      "\"tls.authority\" of \(folder)/server.json has to name the authority that issued the server's certificate"
  }

  private func failure(_ response: HTTPResponse, of endpoint: EndpointDescription) -> any Error {
    guard let problem = Problem(parsing: response.body) else {
      return CommandFailure(
        .protocolError, "what answered (status \(response.status)) is no Signet server; check host and port")
    }
    return ServerRefusal(problem: problem, shown: shown(problem, of: endpoint))
  }

  /// Returns the message for a problem, with the remedy.
  private func shown(_ problem: Problem, of endpoint: EndpointDescription) -> CommandFailure {
    // A user named in a body is no token. If the server's detail names a command in this form, it is the remedy.
    if problem.code == .unknown, !problem.detail.contains("'signet-server "), let list = Self.list(endpoint) {
      let failure = CommandFailure(problem)
      return CommandFailure(
        failure.exitCode, "\(failure.message) 'signet-server \(ours: list)' shows what there is.")
    }
    switch problem.code {
    case .unauthorized:
      return CommandFailure(
        .permissionDenied, "the server does not accept the API key in \(key.path); \(key.remedy)")
    case .forbidden:
      let failure = CommandFailure(problem)
      return CommandFailure(
        failure.exitCode, "\(failure.message) It is in \(key.path); \(key.remedy)")
    default: return CommandFailure(problem)
    }
  }

  /// Returns the command that lists the objects of which one was not found.
  private static func list(_ endpoint: EndpointDescription) -> String? {
    let path = endpoint.path.split(separator: "/").drop { $0 == "admin" }
    switch (path.first, path.count) {
    case ("clients", 2...): return "client list"
    case ("containers", 2...): return "container list USER"
    case ("keys", 2...): return "key list"
    case ("pushauth", 3...) where path.dropFirst().first == "mechanisms": return "app list USER"
    case ("tokens", 2...): return "token list"
    case ("transactions", 2...): return "transaction list"
    default: return nil
    }
  }
}

/// The address of a command's server, its trusted authority and the API key.
private struct ServerAccess {
  let server: ServerURL
  let authorityPEM: String?
  let key: APIKey
  /// The address on which the server of a folder listens.
  let listen: ListenAddress?

  init(_ arguments: Arguments, _ scope: APIKeyService.Scope) throws {
    if let data = arguments.optionalString("data") {
      for other in ["server", "ca"] where arguments.isSet(other) {
        throw UsageFailure.refused("--\(ours: other) and --data exclude each other")
      }
      let folder = try DataDirectory(opening: data)
      server = folder.settings.serverURL
      authorityPEM = try folder.authorityPEM()
      key = try Self.key(arguments, scope, folder)
      listen = ListenAddress(folder.settings)
    } else {
      guard let text = arguments.optionalString("server") ?? Environment.server else {
        throw UsageFailure.refused("say which server: --data DIR, or --server with --ca and --key-file")
      }
      do { server = try ServerURL(text) } catch { throw UsageFailure.refused("--server: \(error)") }
      authorityPEM = try (arguments.optionalString("ca") ?? Environment.authorityFile).map {
        try InputFile.text(of: $0)
      }
      key = try Self.key(arguments, scope, nil)
      listen = nil
    }
  }

  private static func key(
    _ arguments: Arguments, _ scope: APIKeyService.Scope, _ folder: DataDirectory?
  ) throws -> APIKey {
    if let file = arguments.optionalString("key-file") { return try APIKey(file, scope) }
    if scope == .admin, let folder {
      return try APIKey(of: folder)
    }
    guard let file = Environment.apiKeyFile else {
      throw UsageFailure.refused(
        scope == .admin
          ? "--key-file is missing: the file with an API key of scope admin"
          : "--key-file is missing: a relying party's key, which 'signet-server key create NAME --output "
            + "FILE' creates; the operator's key cannot be used for this")
    }
    return try APIKey(file, scope)
  }
}

private struct APIKey {
  let secret: SharedSecretBox
  let path: String
  /// The remedy if the server rejects the key.
  let remedy: TerminalText

  /// Reads a file that the command line or the environment names.
  init(_ path: String, _ scope: APIKeyService.Scope) throws {
    let command = "signet-server key create NAME --scope \(scope.rawValue) --output FILE"
    remedy = "name another with --key-file, or make one: \(command: command)"
    do throws(DataDirectoryFailure) { secret = try DataDirectory.apiKey(at: path) } catch {
      guard case .fileMissing = error else { throw error }
      throw InputFile.unreadable(path, "\(ours: systemMessage(ENOENT)); \(remedy)")
    }
    self.path = path
  }

  /// Reads the operator's key of a folder.
  init(of folder: DataDirectory) throws {
    let path = "\(folder.path)/admin.key"
    let command =
      "signet-server key create operator --scope admin --offline --data \(shellWord(folder.path)) --output \(shellWord(path))"
    self.path = path
    remedy = "if it was revoked, remove the file and make another: \(command: command)"
    do throws(DataDirectoryFailure) { secret = try folder.adminKey() } catch {
      guard case .fileMissing = error else { throw error }
      throw CommandFailure(.noInput, "\(path) is missing; put it back, or make another: \(command: command)")
    }
  }
}

extension CommandFailure {
  /// Creates a failure from a problem that a server or a service reports.
  init(_ problem: Problem) {
    // For an unknown object the detail alone is clearer.
    let hasTitle = problem.code != .unknown || problem.detail.isEmpty
    let title = hasTitle ? problem.code.title : ""
    let gap = title.isEmpty || problem.detail.isEmpty ? "" : " "
    self.init(
      ExitCodes.code(problem.code), "\(ours: title)\(ours: gap)\(problem.detail, limit: 2000)")
  }
}
