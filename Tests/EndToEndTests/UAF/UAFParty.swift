import Foundation
import Signet
import SignetJSON
import SignetTestKit
import SignetTransport
import Testing

/// A server with UAF as a process of its own, with the user alice, and a relying party's way to it.
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

  /// The words that every command to the server has.
  var words: [String] { ["--uaf-server", url] }

  /// Goes on with a server that was started again.
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

  /// Asks as the relying party.
  func ask(_ path: String, _ body: JSONObject) async throws -> JSONObject {
    let response = try await post(path, body)
    try #require(response.status == 200, "status \(response.status)")
    return try JSONObject(parsing: response.body)
  }

  /// Has a token sent in some way; what was made of it, and its session.
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

  /// Writes a link to a file, which a command reads.
  func link(_ operation: String, to target: String? = nil, _ context: JSONObject) async throws -> String {
    try server.write(try await dispatch(operation, to: target, context).response, to: "\(UUID()).link")
  }

  func status(_ session: String) async throws -> String {
    try await ask("/status", ["sessionId": .string(session)]).string("status")
  }
}
