import Foundation
import Signet
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import Testing

// Operators' and relying parties' operations on a running server. Frequent ones use HTTP, as the commands do: starting a program
// costs far more than the request. The commands have separate tests (`ServerCommandOperatorTests` and others).
extension RunningServer {
  /// The key file of the relying party that ``startWithShop(_:_:)`` makes.
  var shopKey: String { "\(folder.path)/shop.key" }

  var authority: String { "\(data)/ca.pem" }

  /// Makes and serves a folder, with the key of a relying party.
  ///
  /// `change` gets the path and the settings of the data folder before it is served.
  static func startWithShop(
    _ initWords: [String] = [],
    _ change: ((_ data: String, _ settings: inout JSONObject) throws -> Void)? = nil
  ) async throws -> RunningServer {
    let server = try await start(initWords, change)
    try await server.addShop()
    return server
  }

  /// Makes the key of a relying party.
  func addShop() async throws {
    let body: JSONObject = ["name": "shop", "scopes": ["relying-party"]]
    let key = try await APIClient(self).json(.post, "admin/keys", body).string("key")
    let isWritten = FileManager.default.createFile(
      atPath: shopKey, contents: Data("\(key)\n".utf8), attributes: [.posixPermissions: 0o600])
    try #require(isWritten)
  }

  /// A device whose data folder is next to the server's.
  func device(_ name: String = "device") -> InstalledSignet {
    InstalledSignet(data: "\(folder.path)/\(name)", authority: authority)
  }

  /// Serves the same folder at the same port again, after the server has ended.
  func again(launcher: [String] = []) async throws -> RunningServer {
    try await RunningServer(folder, port, launcher: launcher)
  }

  /// Stops the server and serves the folder again with a launcher.
  func restarted(launcher: [String]) async throws -> RunningServer {
    await stop()
    return try await again(launcher: launcher)
  }

  /// Stops the server and serves the folder again with changed settings.
  func restarted(_ change: (inout JSONObject) throws -> Void) async throws -> RunningServer {
    await stop()
    try changeSettings(change)
    return try await again()
  }

  /// Restarts the server so that other processes can serve the folder too; they share keys in a memory folder.
  func sharing(_ memory: MemoryFolder) async throws -> RunningServer {
    try await restarted { $0["runtime"] = .string(memory.path) }
  }

  /// Changes the settings of a stopped server.
  func changeSettings(_ change: (inout JSONObject) throws -> Void) throws {
    try Self.changeSettings(of: data, change)
  }

  static func changeSettings(of data: String, _ change: (inout JSONObject) throws -> Void) throws {
    let file = try FileHandle(forUpdating: URL(filePath: "\(data)/server.json"))
    defer { do { try file.close() } catch {} }
    var settings = try JSONObject(parsing: Array(try file.readToEnd() ?? Data()))
    try change(&settings)
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(settings.bytes))
  }

  /// Makes an activation code for an existing user.
  func invite(_ user: String) async throws -> ActivationCode {
    let body: JSONObject = ["user": .string(user), "lifetime": 86_400]
    return try ActivationCode(
      parsing: await APIClient(self).json(.post, "admin/activations", body).string("code"))
  }

  /// Adds a user.
  func addUser(_ user: String) async throws {
    _ = try await APIClient(self).json(.post, "admin/users", ["user": .string(user)])
  }

  /// Adds a user and writes an activation code to a file.
  func codeFile(_ user: String) async throws -> String {
    try await addUser(user)
    return try write(await invite(user).text, to: "\(user).code")
  }

  /// Writes a file next to the data folder.
  func write(_ text: String, to name: String) throws -> String {
    let path = "\(folder.path)/\(name)"
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  /// Makes the URI by which a user's app enrols for push messages and, if requested, for codes: time-based (`totp`) or
  /// counter-based (`hotp`).
  func inviteApp(_ user: String, _ issuer: String, codes: String? = nil) async throws -> String {
    var body: JSONObject = ["user": .string(user), "issuer": .string(issuer)]
    body["codes"] = codes.map { .object(["kind": .string($0)]) }
    return try await APIClient(self).json(.post, "admin/pushauth/mechanisms", body).string("uri")
  }

  /// Asks a user by the user's app; returns a file with the push, and the ID of the message.
  func push(_ text: String, to user: String) async throws -> (file: String, id: String) {
    let sent = try await APIClient(self, keyFile: shopKey).json(
      .post, "pushauth/messages", ["user": .string(user), "text": .string(text)])
    let push = try sent.object("push")
    return (
      try write(String(decoding: push.bytes, as: UTF8.self), to: "push"), try push.string("messageId")
    )
  }

  /// The IDs of a user's active containers.
  func activeContainers(_ user: String) async throws -> [String] {
    let name = try #require(user.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed))
    return try await APIClient(self).json(.get, "admin/users/\(name)/containers").array("containers")
      .compactMap {
        value in
        guard case .object(let container) = value, try container.string("state") == "active" else {
          return nil
        }
        return try container.string("id")
      }
  }

  /// Asks for a decision and returns the ID of the transaction.
  func ask(_ user: String, _ text: String, requiring requirement: String? = nil) async throws -> String {
    var body: JSONObject = ["user": .string(user), "text": .string(text), "lifetime": 300]
    if let requirement { body["requirement"] = .string(requirement) }
    return try await APIClient(self, keyFile: shopKey).json(.post, "transactions", body).string("id")
  }

  /// A transaction as its relying party sees it.
  func transaction(_ id: String) async throws -> JSONObject {
    try await APIClient(self, keyFile: shopKey).json(.get, "transactions/\(id)")
  }

  /// Returns whether the server accepted the code; any answer but a yes or a no fails the test.
  func accepts(_ code: String, of user: String) async throws -> Bool {
    try await APIClient(self, keyFile: shopKey).json(
      .post, "otp/validate", ["user": .string(user), "code": .string(code)]
    ).bool("valid")
  }

  /// All entries of the audit log with this event.
  func audited(_ event: String) async throws -> [JSONObject] {
    let client = try APIClient(self)
    var (found, last): ([JSONObject], String) = ([], "0")
    while true {
      let page = try await client.json(.get, "admin/audit?after=\(last)&limit=1000")
      let entries = try page.array("entries")
      if entries.isEmpty { return found }
      for case .object(let entry) in entries where try entry.string("event") == event { found.append(entry) }
      last = try page.string("next")
    }
  }
}

/// A relying party that speaks HTTP to one of the processes of a server.
struct RelyingParty: Sendable {
  private let url: String
  private let key: String
  private let transport: CurlTransport

  /// Creates a client; `port` is that of the process, if it is not the one in the server's URL.
  init(_ server: RunningServer, port: UInt16? = nil) throws {
    url = "https://127.0.0.1:\(port ?? server.port)/main/v1"
    key = try String(contentsOfFile: server.shopKey, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let authority = try String(contentsOfFile: server.authority, encoding: .utf8)
    transport = try CurlTransport(ConnectionConfiguration(certificateAuthoritiesPEM: authority))
  }

  /// Asks the server to validate a code.
  func validate(_ code: String, of user: String) async throws -> Bool {
    try await post("otp/validate", ["user": .string(user), "code": .string(code)], status: 200).bool("valid")
  }

  /// Creates a request to any user.
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

  /// A transaction as this process returns it.
  func transaction(_ id: String) async throws -> JSONObject {
    let response = try await transport.send(
      HTTPRequest(url: "\(url)/transactions/\(id)", headers: [("Authorization", "Bearer \(key)")]))
    try #require(response.status == 200, "status \(response.status)")
    return try JSONObject(parsing: response.body)
  }
}
