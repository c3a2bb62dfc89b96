import Foundation
import Signet
import SignetJSON
import SignetTestKit
import SignetTesting
import Synchronization
import Testing

/// A server that is killed under 64 clients, some of which use up codes, approve or register: all acknowledged data exists after
/// the restart.
@Suite(.serialized, .timeLimit(KillRounds.timeLimit)) struct ServiceKillTests {
  @Test func nothingAcknowledgedIsLost() async throws {
    var random = SeededRandom(test: "ServiceKillTests")
    // Each device has separate connections, and all come from one address.
    var server = try await RunningServer.startWithShop(["--protection", "device"]) {
      $1["connections"] = ["perAddress": 256]
    }
    let codes = try CodeLoad(server, keyFile: server.shopKey, clients: 32)
    try await codes.enrol()
    let approvals = try await ApprovalLoad(server, clients: 16)
    let registrations = try RegistrationLoad(server, clients: 16)
    var counters = try await codes.counters()
    var accepted = 0
    for kill in 1...KillRounds.count {
      // The first kill comes late enough for a registration, which takes several messages.
      let wanted = kill == 1 ? 3_000 : Int.random(in: 1...1000, using: &random)
      let victim = server
      async let approving: Void = approvals.run()
      async let registering: Void = registrations.run()
      accepted += try await codes.run(until: wanted) { victim.send(SIGKILL) }
      await approving
      await registering
      #expect(await server.status() == -SIGKILL)
      server = try await server.again()
      #expect(try await server.json("audit", "verify")["intact"] == true, "kill \(kill)")
      let now = try await codes.counters()
      #expect(now.count == 32, "kill \(kill)")
      for (serial, counter) in now {
        #expect(counter >= counters[serial] ?? .max, "kill \(kill), \(serial)")
        #expect(counter > codes.lastAccepted(serial), "kill \(kill), \(serial)")
      }
      counters = now
      #expect(try await codes.replay(from: "replay-\(kill)") == 0, "kill \(kill): codes accepted again")
      try await approvals.check("kill \(kill)")
      try await registrations.check("kill \(kill)")
    }
    let (approved, registered) = (approvals.total, registrations.total)
    print(
      """
      ServiceKillTests: \(KillRounds.count) kills, \(accepted) codes, \(approved) approvals and \(registered) registrations \
      acknowledged
      """)
    #expect(accepted > 0 && approved > 0 && registered > 0)
    await server.stop()
  }
}

/// Handles the failure of a load: the end of the server ends the load, any other failure fails the test.
private func expectTheServerHasGone(_ error: any Error) {
  switch error {
  case is TransportFailure, SignetError.transport: return
  default: Issue.record(error)
  }
}

private func openDevice(_ folder: String, _ server: RunningServer) throws -> Device {
  let vault = try Vault(directory: folder, keystore: SoftwareKeystore(directory: folder))
  return Device(
    vault: vault,
    connection: ConnectionConfiguration(
      certificateAuthoritiesPEM: try String(contentsOfFile: server.authority, encoding: .utf8)))
}

/// Users who approve the requests of a relying party.
private final class ApprovalLoad: Sendable {
  private let shop: APIClient
  private let devices: [(device: Device, container: Container)]
  private let state = Mutex(State())

  private struct State {
    var created: [String] = []
    var accepted: Set<String> = []
    var total = 0
  }

  var total: Int { state.withLock { $0.total } }

  init(_ server: RunningServer, clients: Int) async throws {
    shop = try APIClient(server, keyFile: server.shopKey)
    var devices: [(Device, Container)] = []
    for client in 0..<clients {
      let device = try openDevice("\(server.folder.path)/approver-\(client)", server)
      try await server.addUser("approver\(client)")
      let code = try await server.invite("approver\(client)")
      let container = try await device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
      devices.append((device, container))
    }
    self.devices = devices
  }

  /// Approves until the server has ended.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      for client in devices.indices {
        group.addTask { [self] in
          do { while true { try await approve(client) } } catch { expectTheServerHasGone(error) }
        }
      }
    }
  }

  private func approve(_ client: Int) async throws {
    let (device, container) = devices[client]
    // Includes those left open by the kill: a user who accepts none of several requests is rate limited for a while.
    for transaction in try await device.pendingTransactions(for: container) {
      try await device.decide(transaction, .accepted, with: container)
      state.withLock { state in
        state.accepted.insert(transaction.id.text)
        state.total += 1
      }
    }
    let made = try await shop.json(
      .post, "transactions", ["user": .string("approver\(client)"), "text": "Pay 1 EUR"])
    let id = try made.string("id")
    state.withLock { $0.created.append(id) }
  }

  /// Checks for all data that was acknowledged since the last check.
  func check(_ comment: Comment) async throws {
    let (created, accepted) = state.withLock { state in
      defer { (state.created, state.accepted) = ([], []) }
      return (state.created, state.accepted)
    }
    for id in accepted {
      let transaction = try await shop.json(.get, "transactions/\(id)")
      #expect(try transaction.string("status") == "accepted", comment)
      #expect(try SignedDecisionCheck.payload(of: transaction).string("transaction") == id, comment)
    }
    for id in created where !accepted.contains(id) {
      // The answer to the decision was lost, or there was none.
      let status = try await shop.json(.get, "transactions/\(id)").string("status")
      #expect(["pending", "accepted"].contains(status), comment)
    }
  }
}

/// Operators who register users, and users who activate devices.
private final class RegistrationLoad: Sendable {
  private let server: RunningServer
  private let admin: APIClient
  private let shop: APIClient
  private let clients: Int
  private let state: Mutex<State>

  private struct State {
    var number = 0
    var users: [String] = []
    var registered: [(user: String, device: Device, container: Container)] = []
    var begun: [(user: String, device: Device)?]
    var total = 0
  }

  var total: Int { state.withLock { $0.total } }

  init(_ server: RunningServer, clients: Int) throws {
    (self.server, self.clients) = (server, clients)
    (admin, shop) = (try APIClient(server), try APIClient(server, keyFile: server.shopKey))
    state = Mutex(State(begun: Array(repeating: nil, count: clients)))
  }

  /// Registers until the server has ended.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      for client in 0..<clients {
        group.addTask { [self] in
          do { while true { try await register(client) } } catch { expectTheServerHasGone(error) }
        }
      }
    }
  }

  private func register(_ client: Int) async throws {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    let user = "registered\(number)"
    _ = try await admin.json(.post, "admin/users", ["user": .string(user)])
    state.withLock { $0.users.append(user) }
    let invited = try await admin.json(.post, "admin/activations", ["user": .string(user)])
    let code = try ActivationCode(parsing: invited.string("code"))
    let device = try openDevice("\(server.folder.path)/registered-\(number)", server)
    state.withLock { $0.begun[client] = (user, device) }
    let container = try await device.createContainer(
      ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    state.withLock { state in
      state.begun[client] = nil
      state.registered.append((user, device, container))
      state.total += 1
    }
  }

  private func activeContainers(of user: String) async throws -> Int {
    try await admin.json(.get, "admin/users/\(user)/containers").array("containers").count { value in
      guard case .object(let container) = value else { return false }
      return container["state"] == "active"
    }
  }

  /// Checks for all data that was acknowledged since the last check, and completes interrupted activations.
  func check(_ comment: Comment) async throws {
    let found = state.withLock { state in
      defer { (state.users, state.registered) = ([], []) }
      defer { state.begun = Array(repeating: nil, count: clients) }
      return (users: state.users, registered: state.registered, begun: state.begun.compactMap { $0 })
    }
    let known = try await admin.json(.get, "admin/users").array("users").map { value in
      guard case .object(let user) = value else { throw JSONFailure.notAnObject }
      return try user.string("user")
    }
    #expect(Set(found.users).isSubset(of: known), comment)
    for (user, _, _) in found.registered {
      #expect(try await activeContainers(of: user) == 1, "\(comment): \(user)")
    }
    // An activated device works.
    if let (user, device, container) = found.registered.last {
      let code = try await device.oneTimePassword(for: container).code
      let body: JSONObject = ["user": .string(user), "code": .string(code)]
      #expect(try await shop.json(.post, "otp/validate", body).bool("valid"), comment)
      #expect(try await !shop.json(.post, "otp/validate", body).bool("valid"), comment)
    }
    for (user, device) in found.begun {
      let confirmed = try await device.finishActivations().count
      #expect(try await device.unconfirmedContainers().isEmpty, "\(comment): \(user)")
      let own = try await device.containers().count
      #expect(try await activeContainers(of: user) == own && confirmed <= own, "\(comment): \(user)")
    }
  }
}
