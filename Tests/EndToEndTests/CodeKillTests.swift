import Foundation
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetOATH
import SignetTestKit
import Synchronization
import Testing

/// A server that is killed while 64 clients use up codes: an accepted code stays used up.
@Suite(.serialized, .timeLimit(KillRounds.timeLimit)) struct CodeKillTests {
  private static let clients = 64

  @Test func noCodeIsAcceptedTwice() async throws {
    var random = SeededRandom(test: "CodeKillTests")
    var server = try await RunningServer.start()
    let keyFile = "\(server.folder.path)/shop.key"
    #expect(try await server.run("key", "create", "shop", "--output", keyFile).status == 0)
    let load = try CodeLoad(server, keyFile: keyFile, clients: Self.clients)
    try await load.enrol()
    var counters = try await load.counters()
    #expect(counters.count == Self.clients)
    var accepted = 0
    for kill in 1...KillRounds.count {
      let wanted = Int.random(in: 1...400, using: &random)
      let victim = server
      accepted += try await load.run(until: wanted) { victim.send(SIGKILL) }
      #expect(await server.status() == -SIGKILL)
      server = try await RunningServer(server.folder, server.port)
      #expect(try await server.json("audit", "verify")["intact"] == true, "kill \(kill)")
      // No counter went back, and no accepted code is valid again.
      let now = try await load.counters()
      #expect(now.count == Self.clients, "kill \(kill)")
      for (serial, counter) in now {
        #expect(counter >= counters[serial] ?? .max, "kill \(kill), \(serial)")
        #expect(counter > load.lastAccepted(serial), "kill \(kill), \(serial)")
      }
      counters = now
      #expect(
        try await load.replay(from: "replay-\(kill)") == 0, "kill \(kill): codes that were accepted again")
    }
    print("CodeKillTests: \(KillRounds.count) kills, \(accepted) codes accepted")
    #expect(accepted > 0)
    await server.stop()
  }
}

/// Users with one token each, who send their codes in order.
final class CodeLoad: Sendable {
  private let url: String
  private let transport: CurlTransport
  private let adminKey: String
  private let key: String
  private let clients: Int
  private let state: Mutex<State>

  private struct State {
    /// The counter that each user sends next.
    var next: [Int64]
    /// The highest counter for which each user received an acceptance.
    var accepted: [Int64]
    var acceptedInRun = 0
    var isKilled = false
  }

  init(_ server: RunningServer, keyFile: String, clients: Int, timeoutSeconds: Int = 30) throws {
    func line(_ path: String) throws -> String {
      String(try String(contentsOfFile: path, encoding: .utf8).prefix { $0 != "\n" })
    }
    url = "https://\(server.url)/v1"
    adminKey = try line("\(server.data)/admin.key")
    key = try line(keyFile)
    self.clients = clients
    let authority = try String(contentsOfFile: "\(server.data)/ca.pem", encoding: .utf8)
    transport = try CurlTransport(
      ConnectionConfiguration(
        timeoutSeconds: timeoutSeconds, certificateAuthoritiesPEM: authority, maximumConnections: 64))
    state = Mutex(
      State(next: [Int64](repeating: 0, count: clients), accepted: [Int64](repeating: -1, count: clients)))
  }

  private static func secret(_ user: Int) -> [UInt8] { Array("secret of the user \(1000 + user)".utf8) }

  private func code(_ user: Int, _ counter: Int64) throws -> String {
    // Eight digits: with six, two codes in a window are equal once in 100,000, and the first would use up both.
    try HOTP(secret: SecretBytes(copying: Self.secret(user)), digits: 8).code(at: UInt64(counter))
  }

  private func post(_ path: String, _ body: JSONObject, _ key: String) async throws -> JSONObject {
    let response = try await transport.send(
      HTTPRequest(
        method: .post, url: "\(url)/\(path)",
        headers: [("Authorization", "Bearer \(key)"), ("Content-Type", "application/json")], body: body.bytes)
    )
    try #require((200...299).contains(response.status), "\(path): \(response.status)")
    return try JSONObject(parsing: response.body)
  }

  /// Adds users and tokens, and verifies each token with its first code.
  func enrol() async throws {
    for user in 0..<clients {
      _ = try await post("admin/users", ["user": .string("user\(user)")], adminKey)
      let token: JSONObject = [
        "serial": .string("T\(user)"), "kind": "hotp", "digits": 8, "user": .string("user\(user)"),
        "secret": .string(Base64URL.encode(Self.secret(user))),
      ]
      _ = try await post("admin/tokens", ["tokens": [.object(token)]], adminKey)
      let verified = try await post(
        "admin/tokens/T\(user)/verify", ["code": .string(code(user, 0))], adminKey)
      #expect(try verified.bool("verified"))
      state.withLock { ($0.next[user], $0.accepted[user]) = (1, 0) }
    }
  }

  func lastAccepted(_ serial: String) -> Int64 {
    state.withLock { $0.accepted[Int(serial.dropFirst()) ?? 0] }
  }

  private func validate(_ user: Int, _ counter: Int64, from client: String = "192.0.2.1") async throws -> Bool
  {
    try await post(
      "otp/validate",
      [
        "user": .string("user\(user)"), "code": .string(code(user, counter)),
        "client": .string(client),
      ], key
    ).bool("valid")
  }

  /// Sends the next code of a user.
  func validateNext(_ user: Int) async throws -> Bool {
    let counter = state.withLock { state in
      defer { state.next[user] += 1 }
      return state.next[user]
    }
    let isValid = try await validate(user, counter)
    if isValid { state.withLock { $0.accepted[user] = max($0.accepted[user], counter) } }
    return isValid
  }

  /// Sends codes of all users until enough were accepted, then kills the server during their requests.
  ///
  /// - Parameters:
  ///   - wanted: The number of acceptances before the kill.
  ///   - kill: Kills the server.
  /// - Returns: The number of acceptances in this run.
  /// - Throws: Errors of reading an answer.
  func run(until wanted: Int, kill: @escaping @Sendable () -> Void) async throws -> Int {
    state.withLock { ($0.acceptedInRun, $0.isKilled) = (0, false) }
    await withTaskGroup(of: Void.self) { group in
      for user in 0..<clients {
        group.addTask { [self] in
          // The loop ends with the server. The last code may or may not have been accepted, so it is not sent again.
          while true {
            let counter = state.withLock { state in
              defer { state.next[user] += 1 }
              return state.next[user]
            }
            let isValid: Bool
            do { isValid = try await validate(user, counter) } catch { return }
            #expect(isValid, "user \(user), counter \(counter)")
            let kills = state.withLock { state -> Bool in
              state.accepted[user] = max(state.accepted[user], counter)
              state.acceptedInRun += 1
              defer { if state.acceptedInRun >= wanted { state.isKilled = true } }
              return state.acceptedInRun >= wanted && !state.isKilled
            }
            if kills { kill() }
          }
        }
      }
    }
    return state.withLock { $0.acceptedInRun }
  }

  /// The counter of each token's next code, from the server.
  func counters() async throws -> [String: Int64] {
    let response = try await transport.send(
      HTTPRequest(
        url: "\(url)/admin/tokens?limit=500", headers: [("Authorization", "Bearer \(adminKey)")]))
    try #require(response.status == 200)
    return try JSONObject(parsing: response.body).array("tokens").reduce(into: [:]) { counters, value in
      guard case .object(let token) = value else { throw JSONFailure.notAnObject }
      counters[try token.string("serial")] = try token.integer("counter")
    }
  }

  /// Sends the last accepted code of every user again.
  ///
  /// - Parameter client: An address without other attempts, so that none has to wait.
  /// - Returns: The number of accepted codes.
  /// - Throws: Errors of a request.
  func replay(from client: String) async throws -> Int {
    let accepted = state.withLock { $0.accepted }
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      for user in 0..<clients {
        group.addTask { [self] in try await validate(user, accepted[user], from: client) }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
  }
}
