import Foundation
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import Testing

/// `schemathesis` tests the server against its own API description.
///
/// Each run tests the limits of every parameter and member. In addition, `make test` has one random case for each operation, and
/// a run with `SIGNET_KILLS` has eight.
@Suite(.serialized, .timeLimit(.minutes(10))) struct APIDescriptionCheckTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Interop").standardized.path

  /// Indicates whether the tests run; without the program they are skipped, but fail in CI.
  static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    guard let python else { return false }
    // To import `schemathesis` takes 0.25 s of processor time.
    let program = """
      import importlib.util, sys
      sys.exit(None in [importlib.util.find_spec(name) for name in ("schemathesis", "argon2", "cryptography")])
      """
    do { return try ChildCommand([python, "-c", program]).finish().status == 0 } catch { return false }
  }()

  private static func run(_ server: RunningServer, _ words: [String]) async throws -> ServerCommand.Result {
    let python = try #require(python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    let environment = ServerCommand.cleanEnvironment.merging([
      "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1", "SCHEMATHESIS_HOOKS": "api_hooks",
      "SIGNET_API_KEY": "\(server.folder.path)/both.key",
      "SIGNET_API_STATE": "\(server.folder.path)/state.json", "SIGNET_API_CA": server.authority,
    ]) { $1 }
    return try await ChildCommand([python] + words, environment: environment, folder: server.folder.path)
      .finish(within: .seconds(240))
  }

  /// The methods and paths in the server's description.
  private static func operations(_ server: RunningServer) async throws -> [(method: String, path: String)] {
    let paths = try await APIClient(server).json(.get, "openapi.json").object("paths").members
    let operations = paths.flatMap { path, value -> [(String, String)] in
      guard case .object(let item) = value else { return [] }
      let methods = item.members.map(\.name).filter {
        ["get", "put", "post", "delete", "patch"].contains($0)
      }
      return methods.map { ($0.uppercased(), path) }
    }
    try #require(operations.count > 40)
    return operations
  }

  @Test(.enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func theServerDoesWhatItDescribes() async throws {
    let server = try await RunningServer.start(["--protection", "device"])
    _ = try await server.json(
      "key", "create", "both", "--scope", "admin", "--scope", "relying-party", "--output",
      "\(server.folder.path)/both.key")
    let code = try await server.codeFile("alice")
    let activated = try await Self.run(
      server,
      [
        "\(Self.folder)/client.py", "--ca", server.authority, "--state", "\(server.folder.path)/state.json",
        "activate", code,
      ])
    try #require(activated.status == 0, activated.summary)
    // Not "use_after_free": a withdrawn or revoked object can still be read, with its end.
    let checks = [
      "not_a_server_error", "status_code_conformance", "content_type_conformance",
      "response_headers_conformance", "response_schema_conformance", "negative_data_rejection",
      "missing_required_header", "unsupported_method", "ensure_resource_availability",
      "ignored_auth",
    ]
    // A fixed seed: each run has the same cases.
    let tried = try await Self.run(
      server,
      [
        "-m", "schemathesis.cli", "--config-file", "\(Self.folder)/schemathesis.toml", "run",
        "https://\(server.url)/v1/openapi.json", "--tls-verify", server.authority, "--checks",
        checks.joined(separator: ","), "--generation-deterministic", "--max-examples",
        KillCount.wanted == nil ? "1" : "8",
        "--continue-on-failure", "--no-color", "--warnings", "off",
      ])
    #expect(tried.status == 0, "\(tried.output.suffix(8000)) \(tried.errorOutput.suffix(2000))")
    let events = server.events.split(separator: "\n")
    // Each operation was requested.
    let asked = try Set(
      events.compactMap { line -> [String]? in
        guard line.contains("\"event\":\"request\"") else { return nil }
        let event = try JSONObject(parsing: Array(line.utf8))
        return [try event.string("method"), try event.string("path")]
      })
    for (method, path) in try await Self.operations(server) {
      let pattern = try Regex("/main" + path.replacing(/\{[^}]*\}/, with: "[^/]+"))
      #expect(
        asked.contains { $0[0] == method && $0[1].wholeMatch(of: pattern) != nil }, "\(method) \(path)")
    }
    // Each of the three kinds of client had successful requests, not only rejections.
    let served = events.filter { $0.contains("\"status\":\"200\"") }
    for path in [
      "/oidc/bc-authorize", "/v1/device/push-targets", "/v1/otp/validate", "/v1/admin/audit",
      "/v1/device/transactions",
    ] {
      #expect(served.contains { $0.contains("/main\(path)\"") }, "\(path)")
    }
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }
}
