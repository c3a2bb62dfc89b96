import Foundation
import Signet
import SignetHTTPClient
import SignetJSON
import SignetTesting
import SignetTestKit
import Testing

/// Two concurrent processes, on one data folder and on one database.
@Suite(.serialized, .timeLimit(.minutes(10 + KillRounds.races(0)))) struct TwoProcessTests {
  /// Starts all, then waits for all.
  private func together(_ processes: [ChildCommand]) async throws -> [ServerCommand.Result] {
    let running = try processes.map { try $0.start() }
    var results: [ServerCommand.Result] = []
    for child in running { results.append(try await child.result()) }
    return results
  }

  @Test func activationsOfTwoUsersInOneNewFolder() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    for round in 0..<KillRounds.races(2) {
      let device = server.device("device-\(round)")
      let users = ["a-\(round)", "b-\(round)"]
      var processes: [ChildCommand] = []
      for user in users {
        processes.append(try device.process(["activate", "--code-file", await server.codeFile(user)]))
      }
      for result in try await together(processes) { #expect(result.status == 0, result.summary) }
      let listed = try await device.containers()
      #expect(Set(listed.map(\.user)) == Set(users) && listed.allSatisfy(\.isConfirmed))
      for user in users { #expect(try await server.activeContainers(user).count == 1) }
      try KillBench.checkDatabase("\(device.data)/vault.sqlite", "round \(round)")
    }
    await server.stop()
  }

  @Test func activationsOfOneUserWithTwoInvitesOrOne() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    for round in 0..<KillRounds.races(2) {
      let user = "user-\(round)"
      let device = server.device(user)
      let first = try await server.codeFile(user)
      // In every other round a second invite, which replaces the first.
      let second =
        round.isMultiple(of: 2) ? first : try server.write(await server.invite(user).text, to: "second")
      let results = try await together(
        [first, second].map { try device.process(["activate", "--code-file", $0]) })
      #expect(results.filter { $0.status == 0 }.count == 1, "\(results)")
      for result in results where result.status != 0 {
        // Rejected, or replaced by the other before its confirmation, on either side; or the other finished before this one
        // looked.
        let cameLate = result.status == 64 && result.errorOutput.contains("this replaces \(user)")
        let wasReplaced = result.status == 65 && result.errorOutput.contains("there is no such container")
        #expect(
          (result.status == 76 || cameLate || wasReplaced) && result.output.isEmpty, result.summary)
      }
      _ = try await device.json("pending")
      #expect(try await device.containers().map(\.isConfirmed) == [true])
      #expect(try await server.activeContainers(user).count == 1)
      #expect(try await server.accepts(device.json("otp").string("code"), of: user))
    }
    await server.stop()
  }

  @Test func codesAndWrongPasswordsInOneFolder() async throws {
    let server = try await RunningServer.startWithShop(["--attempts", "50"])
    let device = server.device()
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: ["winter-garden"])
    for _ in 0..<3 {
      let right = try (0..<2).map { _ in try device.process(["otp"], passwords: ["winter-garden"]) }
      for result in try await together(right) {
        #expect(result.status == 0 && result.output.count == 7, result.summary)
      }
    }
    // Two wrong passwords at once count as two attempts.
    var left: Int32 = 50
    for _ in 0..<3 {
      let wrong = try (0..<2).map { _ in try device.process(["otp"], passwords: ["summer-garden"]) }
      for result in try await together(wrong) { #expect(result.status == 77, result.summary) }
      left -= 2
    }
    let last = try await device.run("otp", passwords: ["summer-garden"])
    #expect(last.isRefusal(77, "\(left - 1) tries are left"), last.summary)
    await server.stop()
  }

  @Test func decisionsInOneFolderAndFromTwoDevices() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let (first, second) = (server.device("first"), server.device("second"))
    _ = try await first.json("activate", "--code-file", server.codeFile("alice"))
    let code = try server.write(await server.invite("alice").text, to: "again")
    _ = try await second.json("activate", "--code-file", code)
    for round in 0..<KillRounds.races(3) {
      let id = try await server.ask("alice", "Pay \(round)")
      let pair: [(InstalledSignet, String)] =
        switch round % 3 {
        case 0: [(first, "approve"), (second, "approve")]
        case 1: [(first, "approve"), (first, "deny")]
        default: [(first, "approve"), (first, "approve")]
        }
      let results = try await together(pair.map { try $0.process([$1, id, "--yes"]) })
      let winners = zip(pair, results).filter { $1.status == 0 }
      if round % 3 == 2 {
        // A repeated decision of the same container gets the first answer; there is one signature.
        #expect(!winners.isEmpty, "\(results)")
      } else {
        #expect(winners.count == 1, "\(results)")
      }
      for result in results where result.status != 0 {
        // Also if it came so late that the transaction was no longer listed.
        #expect(result.isRefusal(1, "is already decided"), result.summary)
      }
      let found = try await server.transaction(id)
      let expected = winners.first?.0.1 == "deny" ? "denied" : "accepted"
      #expect(try found.string("status") == expected)
      #expect(try SignedDecisionCheck.payload(of: found).string("status") == expected)
      let decisions = try await server.audited("transaction.accepted") + server.audited("transaction.denied")
      #expect(try decisions.filter { try $0.string("transaction") == id }.count == 1)
    }
    await server.stop()
  }

  @Test func oneCodeAtTwoServersOfOneDatabase() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    try await Self.acceptOneOfTwo(server, rounds: KillRounds.races(5))
  }

  /// Serves the folder of `first` with another process too, sends each code to both at once, and then ends both.
  static func acceptOneOfTwo(_ first: RunningServer, rounds: Int) async throws {
    let memory = try MemoryFolder()
    let first = try await first.sharing(memory)
    let port = try FreePort.find()
    let second = try await RunningServer(first.folder, port, ["--listen", "127.0.0.1:\(port)"])
    let parties = [try RelyingParty(first), try RelyingParty(first, port: port)]
    let device = first.device()
    for round in 0..<rounds {
      let user = "user-\(round)"
      _ = try await device.json("activate", "--code-file", first.codeFile(user))
      let name = "\(user)@127.0.0.1:\(first.port)/main"
      let code = try await device.json("otp", "--container", name).string("code")
      let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
        for party in parties { group.addTask { try await party.validate(code, of: user) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.filter { $0 }.count == 1, "round \(round): \(answers)")
    }
    #expect(try await first.audited("code.accepted").count == rounds)
    #expect(try await first.json("audit", "verify")["intact"] == true)
    await first.stop()
    await second.stop()
    withExtendedLifetime(memory) {}
  }

  /// A separate device for each server process; both belong to the same user.
  @Test func decisionsAtTwoServersOfOneDatabase() async throws {
    let memory = try MemoryFolder()
    let first = try await RunningServer.startWithShop(["--protection", "device"]) {
      $1["runtime"] = .string(memory.path)
    }
    let port = try FreePort.find()
    let second = try await RunningServer(first.folder, port, ["--listen", "127.0.0.1:\(port)"])
    let parties = [try RelyingParty(first), try RelyingParty(first, port: port)]
    try await first.addUser("alice")
    var hands: [(device: Device, container: Container)] = []
    for listening in [first.port, port] {
      let folder = "\(first.folder.path)/device-\(listening)"
      var connection = ConnectionConfiguration(
        certificateAuthoritiesPEM: try String(contentsOfFile: first.authority, encoding: .utf8))
      connection.connectAddress = ConnectAddress(address: "127.0.0.1", port: listening)
      let device = Device(
        vault: try Vault(directory: folder, keystore: SoftwareKeystore(directory: folder)),
        connection: connection)
      let container = try await device.createContainer(
        ContainerInitialization(code: await first.invite("alice")),
        handler: ScriptedActivation(reply: .abort))
      hands.append((device, container))
    }
    var wins = [0, 0]
    let rounds = KillRounds.races(10)
    var uncontested = 0
    for round in 0..<rounds {
      let id = try await first.ask("alice", "Pay \(round)")
      let statuses: [DecisionStatus] = round.isMultiple(of: 2) ? [.accepted, .denied] : [.denied, .accepted]
      var requests: [TransactionRequest] = []
      for hand in hands {
        let pending = try await hand.device.pendingTransactions(for: hand.container)
        requests.append(try #require(pending.first { $0.id.text == id }))
      }
      let outcomes = await withTaskGroup(of: (Int, (any Error)?).self) { [requests, hands] group in
        for index in hands.indices {
          group.addTask {
            do {
              try await hands[index].device.decide(
                requests[index], statuses[index], with: hands[index].container)
              return (index, nil)
            } catch { return (index, error) }
          }
        }
        return await group.reduce(into: [Int: (any Error)?]()) { $0[$1.0] = .some($1.1) }
      }
      let winners = outcomes.filter { $0.value == nil }.map(\.key)
      #expect(winners.count == 1, "round \(round): \(outcomes)")
      let winner = try #require(winners.first)
      wins[winner] += 1
      let other = try #require(outcomes[1 - winner] ?? nil)
      #expect(other as? SignetError == .transactionDecided, "round \(round): \(other)")
      // Both processes return the same status, as the winner signed it.
      for party in parties {
        let found = try await party.transaction(id)
        let status = statuses[winner] == .accepted ? "accepted" : "denied"
        #expect(try found.string("status") == status)
        let signed = try SignedDecisionCheck.payload(of: found)
        #expect(try signed.string("status") == status)
      }
      // A user who denies several requests in a row is rate limited for a while.
      if statuses[winner] == .denied {
        let next = try await first.ask("alice", "Pay after \(round)")
        let (device, container) = hands[round % 2]
        let pending = try await device.pendingTransactions(for: container)
        try await device.decide(
          #require(pending.first { $0.id.text == next }), .accepted, with: container)
        uncontested += 1
      }
    }
    print(
      "TwoProcessTests: of \(rounds) transactions the first process decided \(wins[0]), the second \(wins[1])"
    )
    #expect(!second.events.isEmpty)
    let decided = try await first.audited("transaction.accepted") + first.audited("transaction.denied")
    #expect(decided.count == rounds + uncontested)
    #expect(try await first.json("audit", "verify")["intact"] == true)
    await first.stop()
    await second.stop()
    withExtendedLifetime(memory) {}
  }
}
