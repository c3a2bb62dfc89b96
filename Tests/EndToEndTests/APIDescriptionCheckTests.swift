import Foundation
import SignetJSON
import SignetTesting
import Testing

/// `schemathesis` reads what the server says of its API, and tries all of it against the server: what is described, and what
/// breaks the description.
@Suite(.serialized, .timeLimit(.minutes(3))) struct APIDescriptionCheckTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Interop").standardized.path

  /// Skipped without the program, except in CI: a failure there.
  static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    guard let python else { return false }
    let process = Process()
    process.executableURL = URL(filePath: python)
    process.arguments = ["-c", "import schemathesis, argon2.low_level, cryptography"]
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  private static func run(_ server: RunningServer, _ words: [String]) async throws -> ServerCommand.Result {
    let process = Process()
    process.executableURL = URL(
      filePath: try #require(python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it"))
    process.arguments = words
    process.environment = ServerCommand.cleanEnvironment.merging([
      "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1", "SCHEMATHESIS_HOOKS": "api_hooks",
      "SIGNET_API_KEY": "\(server.folder.path)/both.key",
      "SIGNET_API_STATE": "\(server.folder.path)/state.json", "SIGNET_API_CA": server.authority,
    ]) { $1 }
    process.currentDirectoryURL = URL(filePath: server.folder.path)
    process.standardInput = FileHandle.nullDevice
    return try await ChildProcess.finish(process)
  }

  @Test(.enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func theServerDoesWhatItDescribes() async throws {
    let server = try await RunningServer.start(["--protection", "device"])
    _ = try await server.answer(
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
    // Not "use_after_free": what is withdrawn or revoked can still be looked at, with its end.
    let checks = [
      "not_a_server_error", "status_code_conformance", "content_type_conformance",
      "response_headers_conformance", "response_schema_conformance", "negative_data_rejection",
      "missing_required_header", "unsupported_method", "ensure_resource_availability",
      "ignored_auth",
    ]
    // The same cases each time, for 40 seconds at most.
    let tried = try await Self.run(
      server,
      [
        "-m", "schemathesis.cli", "--config-file", "\(Self.folder)/schemathesis.toml", "run",
        "https://\(server.url)/v1/openapi.json", "--tls-verify", server.authority, "--checks",
        checks.joined(separator: ","), "--generation-deterministic", "--max-examples", "15", "--max-time",
        "40",
        "--continue-on-failure", "--no-color", "--warnings", "off",
      ])
    #expect(tried.status == 0, "\(tried.output.suffix(8000)) \(tried.errorOutput.suffix(2000))")
    // It has spoken as each of the three, and was not just turned away.
    let served = try server.events.split(separator: "\n").filter { $0.contains("\"status\":\"200\"") }
    for path in [
      "/oidc/bc-authorize", "/v1/device/push-targets", "/v1/otp/validate", "/v1/admin/audit",
      "/v1/device/transactions",
    ] {
      #expect(served.contains { $0.contains("/main\(path)\"") }, "\(path)")
    }
    #expect(try await server.answer("audit", "verify")["intact"] == true)
    await server.stopAndWait()
  }
}
