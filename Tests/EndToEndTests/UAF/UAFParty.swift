import Foundation
import Signet
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import Testing

/// A server process with UAF and the user alice, and access as a relying party.
struct UAFParty: Sendable {
  private(set) var server: RunningServer
  let key: String
  private let transport: CurlTransport

  /// The metadata of our authenticators, as the command writes it: `metadata` in a folder, of which each server gets a copy.
  static let statements = Task {
    let folder = try TemporaryFolder()
    let written = try await InstalledSignet(data: folder.file("device")).run(
      "uaf", "metadata", "--output", folder.file("metadata"))
    try #require(written.status == 0, written.summary)
    return folder
  }

  static func start() async throws -> UAFParty {
    let statements = try await Self.statements.value
    let server = try await RunningServer.startWithShop { data, settings in
      try FileManager.default.copyItem(atPath: statements.file("metadata"), toPath: "\(data)/metadata")
      settings["uaf"] = ["facets": ["linux:app-id:signet"], "metadata": "metadata"]
    }
    try await server.addUser("alice")
    return try UAFParty(server)
  }

  private init(_ server: RunningServer) throws {
    self.server = server
    key = try String(contentsOfFile: server.shopKey, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    transport = try CurlTransport(
      ConnectionConfiguration(
        certificateAuthoritiesPEM: String(contentsOfFile: server.authority, encoding: .utf8)))
  }

  var url: String { "https://127.0.0.1:\(server.port)/nevisfido" }

  /// The words of every command for the server.
  var words: [String] { ["--uaf-server", url] }

  /// Continues with a restarted server.
  mutating func replace(_ server: RunningServer) { self.server = server }

  func device(_ name: String = "device") -> InstalledSignet { server.device(name) }

  /// Sends a request as the relying party.
  func post(_ path: String, _ body: JSONObject) async throws -> HTTPResponse {
    try await transport.send(
      HTTPRequest(
        method: .post, url: url + path,
        headers: [("Content-Type", "application/json"), ("Authorization", "Bearer \(key)")],
        body: body.bytes))
  }

  /// Sends a request as the relying party, which must succeed.
  func ask(_ path: String, _ body: JSONObject) async throws -> JSONObject {
    let response = try await post(path, body)
    try #require(response.status == 200, "status \(response.status)")
    return try JSONObject(parsing: response.body)
  }

  /// Dispatches a token; returns the dispatcher's response and the session.
  func dispatch(
    _ operation: String, by dispatcher: String = "link", to target: String? = nil, _ context: JSONObject
  ) async throws -> (response: String, session: String) {
    var body: JSONObject = [
      "dispatcher": .string(dispatcher), "getUafRequest": ["context": .string(context.text)],
    ]
    if let target { body["dispatchTargetId"] = .string(target) }
    let answer = try await ask("/token/dispatch/\(operation)", body)
    return (
      try answer.object("dispatcherInformation").string("response"), try answer.string("sessionId")
    )
  }

  /// Dispatches a token as a link and writes it to a file for a command.
  func link(_ operation: String, to target: String? = nil, _ context: JSONObject) async throws -> String {
    try server.write(try await dispatch(operation, to: target, context).response, to: "\(UUID()).link")
  }

  func status(_ session: String) async throws -> String {
    try await ask("/status", ["sessionId": .string(session)]).string("status")
  }
}
