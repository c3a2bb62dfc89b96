import Foundation
import Signet
import SignetJSON
import SignetTestKit
import SignetTransport
import Testing

// What operators and relying parties do with a running server.
extension RunningServer {
  /// The file with the key of a relying party that ``startWithShop(_:)`` made.
  var shopKey: String { "\(folder.path)/shop.key" }

  var authority: String { "\(data)/ca.pem" }

  /// Makes and serves a folder, with the key of a relying party.
  static func startWithShop(_ initWords: [String] = []) async throws -> RunningServer {
    let server = try await start(initWords)
    _ = try await server.json("key", "create", "shop", "--output", server.shopKey)
    return server
  }

  /// A device with a data folder of its own beside the server's.
  func device(_ name: String = "device") -> DeviceCommand {
    DeviceCommand(data: "\(folder.path)/\(name)", authority: authority)
  }

  /// Serves the same folder at the same port again, after an end.
  ///
  /// The port may be in use as the local port of someone's connection for a moment.
  func again(launcher: [String] = []) async throws -> RunningServer {
    for _ in 0..<20 {
      do { return try await RunningServer(folder, port, launcher: launcher) } catch let failure as NotReady {
        guard failure.status == 69 else { throw failure }
        try await Task.sleep(for: .milliseconds(100))
      }
    }
    return try await RunningServer(folder, port, launcher: launcher)
  }

  /// Stops it and has the folder served by what a launcher becomes.
  func restarted(launcher: [String]) async throws -> RunningServer {
    await stop()
    return try await again(launcher: launcher)
  }

  /// Stops it and serves the folder again with other limits of connections in its settings.
  func restarted(connections: JSONObject) async throws -> RunningServer {
    try await restarted { $0["connections"] = .object(connections) }
  }

  /// Stops it and serves the folder again with changed settings.
  func restarted(_ change: (inout JSONObject) throws -> Void) async throws -> RunningServer {
    await stop()
    try changeSettings(change)
    return try await again()
  }

  /// Stops it and serves the folder again so that other processes can too: they share keys in a folder in memory.
  func sharing(_ memory: MemoryFolder) async throws -> RunningServer {
    try await restarted { $0["runtime"] = .string(memory.path) }
  }

  /// Changes the settings of a server that does not run.
  func changeSettings(_ change: (inout JSONObject) throws -> Void) throws {
    let file = try FileHandle(forUpdating: URL(filePath: "\(data)/server.json"))
    defer { do { try file.close() } catch {} }
    var settings = try JSONObject(parsing: Array(try file.readToEnd() ?? Data()))
    try change(&settings)
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(settings.bytes))
  }

  /// Makes an activation code for a user that exists.
  func invite(_ user: String) async throws -> ActivationCode {
    try ActivationCode(parsing: await json("activation", "create", user).string("code"))
  }

  /// Makes a user and an activation code, in a file.
  func codeFile(_ user: String) async throws -> String {
    _ = try await json("user", "add", user)
    return try write(await invite(user).text, to: "\(user).code")
  }

  /// Writes a file beside the data folder.
  func write(_ text: String, to name: String) throws -> String {
    let path = "\(folder.path)/\(name)"
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  /// The ids of a user's containers that are active.
  func activeContainers(_ user: String) async throws -> [String] {
    try await json("container", "list", user).array("containers").compactMap { value in
      guard case .object(let container) = value, try container.string("state") == "active" else { return nil }
      return try container.string("id")
    }
  }

  /// Asks for a decision; the id of the transaction.
  func ask(_ user: String, _ text: String, requiring requirement: String? = nil) async throws -> String {
    let required = requirement.map { ["--requirement", $0] } ?? []
    return try await json(["transaction", "create", user, text, "--key-file", shopKey] + required).string(
      "id")
  }

  /// A transaction as its relying party sees it.
  func transaction(_ id: String) async throws -> JSONObject {
    try await json("transaction", "show", id, "--key-file", shopKey)
  }

  /// Whether the code was accepted; exit status 1 is a no, anything else a failure of the test.
  func accepts(_ code: String, of user: String) async throws -> Bool {
    let result = try await run("otp", "validate", user, code, "--key-file", shopKey)
    try #require([0, 1].contains(result.status), result.summary)
    return result.status == 0
  }

  /// All entries of the audit log with this event.
  func audited(_ event: String) async throws -> [JSONObject] {
    try await json("audit", "list").array("entries").compactMap { value in
      guard case .object(let entry) = value, try entry.string("event") == event else { return nil }
      return entry
    }
  }
}

/// A relying party that speaks HTTP to one of the processes of a server.
struct RelyingParty: Sendable {
  private let url: String
  private let key: String
  private let transport: CurlTransport

  /// `port` is where the process listens, if not where the server's URL says.
  init(_ server: RunningServer, port: UInt16? = nil) throws {
    url = "https://127.0.0.1:\(port ?? server.port)/main/v1"
    key = try String(contentsOfFile: server.shopKey, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let authority = try String(contentsOfFile: server.authority, encoding: .utf8)
    transport = try CurlTransport(ConnectionConfiguration(certificateAuthoritiesPEM: authority))
  }

  /// Asks the server whether a code is good.
  func validate(_ code: String, of user: String) async throws -> Bool {
    try await post("otp/validate", ["user": .string(user), "code": .string(code)], status: 200).bool("valid")
  }

  /// Asks anybody to decide.
  func offer(_ text: String) async throws {
    _ = try await post("transactions", ["anybody": true, "text": .string(text)], status: 201)
  }

  private func post(_ path: String, _ body: JSONObject, status: Int) async throws -> JSONObject {
    let response = try await transport.send(
      HTTPRequest(
        method: .post, url: "\(url)/\(path)",
        headers: [("Authorization", "Bearer \(key)"), ("Content-Type", "application/json")],
        body: JSONValue.object(body).bytes))
    try #require(response.status == status, "status \(response.status)")
    return try JSONObject(parsing: response.body)
  }

  /// A transaction as this process tells it.
  func transaction(_ id: String) async throws -> JSONObject {
    let response = try await transport.send(
      HTTPRequest(url: "\(url)/transactions/\(id)", headers: [("Authorization", "Bearer \(key)")]))
    try #require(response.status == 200, "status \(response.status)")
    return try JSONObject(parsing: response.body)
  }
}
