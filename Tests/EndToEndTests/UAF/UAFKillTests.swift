import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// `kill -9` at random moments of UAF operations; after a check and a synchronization both sides agree.
@Suite(.serialized, .timeLimit(KillRounds.timeLimit)) struct UAFKillTests {
  /// The first PIN, and the one after a change.
  private static let pins = ["271828", "161803"]

  /// An operation that is killed during its course: its words and its typed input.
  private typealias Step = (name: String, words: [String], typed: [String])

  @Test("if either side is killed, both sides agree in the end", arguments: KillBench.Victim.allCases)
  fileprivate func agree(_ victim: KillBench.Victim) async throws {
    var party = try await UAFParty.start()
    var bench = KillBench(party.server, SeededRandom(test: "UAFKillTests"))
    var round = 0
    while round <= KillRounds.longCount || bench.kills == 0 {
      defer { round += 1 }
      try #require(round < KillRounds.longCount + 20, "no kill comes in time")
      bench.beginRound()
      let device = party.device("device-\(round)")
      // A new user, since one who leaves many requests unanswered, as the kills do, is rate limited.
      let user = "person-\(round)"
      try await party.server.addUser(user)
      // Each step is made after the ones before it, since a code is valid for a limited time.
      for number in 0..<Self.stepCount {
        let step = try await self.step(number, user, round, party)
        let process = try device.process(step.words, passwords: step.typed)
        if round == 0 {
          let result = try await bench.measure(step.name, process)
          try #require(result.status == 0, result.summary)
          continue
        }
        _ = try await bench.run(step.name, victim, process)
        party.replace(bench.server)
      }
      if round > 0 { try await settle(device, user, party, bench.history) }
    }
    await party.server.stop()
  }

  private static let stepCount = 7

  private func step(_ number: Int, _ user: String, _ round: Int, _ party: UAFParty) async throws -> Step {
    let (first, second) = (Self.pins[0], Self.pins[1])
    let name = ["--device-name", "device-\(round)"]
    switch number {
    case 0:
      let words = ["uaf", "register", user, "-a", "pin", "--token-fd", "0"] + name + party.words
      return ("register", words, [party.key, first])
    case 1: return ("authenticate", ["uaf", "authenticate", user, "-a", "pin"] + party.words, [first])
    case 2: return ("change the PIN", ["uaf", "pin", user], [first, second])
    case 3:
      let link = try await party.link("registration", ["username": .string(user)])
      let words = ["uaf", "oob", "run", link, "-a", "password"] + name + party.words
      return ("register by a code", words, ["correct horse"])
    case 4: return ("confirm by a code", try await confirmation(user, party), [second])
    case 5: return ("synchronize", ["uaf", "device", "sync", "--token-fd", "0"] + party.words, [party.key])
    default: return ("deregister", ["uaf", "deregister", user, "--yes"] + party.words, [])
    }
  }

  private func confirmation(_ user: String, _ party: UAFParty) async throws -> [String] {
    let context: JSONObject = ["username": .string(user), "transaction": "Pay 20 EUR to Bob"]
    let answer = try await party.ask(
      "/token/dispatch/authentication",
      ["dispatcher": "link", "getUafRequest": ["context": .string(context.text)]])
    // If the registration was killed, there is no target: the device looks for pending operations instead.
    guard try answer.string("dispatchResult") == "dispatched" else {
      return ["uaf", "pending"] + party.words
    }
    let link = try answer.object("dispatcherInformation").string("response")
    return ["uaf", "oob", "run", try party.server.write(link, to: "\(UUID()).link"), "-a", "pin"]
      + party.words
  }

  /// Registers again if nothing is left, and runs check and synchronization.
  private func settle(_ device: InstalledSignet, _ user: String, _ party: UAFParty, _ history: [String])
    async throws
  {
    let name = device.data.split(separator: "/").last.map(String.init) ?? "device"
    var said = history
    func run(_ words: [String], _ typed: [String] = []) async throws -> ServerCommand.Result {
      let result = try await device.run(["uaf"] + words + party.words, passwords: typed)
      said.append("\(words.prefix(2).joined(separator: " ")): \(result.summary)")
      return result
    }
    // The number of repetitions that decision 137 promises.
    for _ in 0..<2 {
      let made = try await run(
        ["register", user, "-a", "pin", "--device-name", name, "--token-fd", "0"],
        [party.key, Self.pins[0]])
      // An existing registration is not repeated.
      if ![0, 65].contains(made.status) { break }
      _ = try await run(["device", "sync", "--token-fd", "0"], [party.key])
      guard try await run(["device", "check"]).status == 0 else { continue }
      // The PIN is the one before or after a change.
      for pin in Self.pins where try await run(["authenticate", user, "-a", "pin"], [pin]).status == 0 {
        return
      }
    }
    said += try await state(device, user, party)
    Issue.record("the two sides do not agree:\n\(said.joined(separator: "\n"))")
  }

  /// The state of both sides and the server's log, for the analysis of a difference.
  private func state(_ device: InstalledSignet, _ user: String, _ party: UAFParty) async throws -> [String] {
    var lines: [String] = []
    for words in [["uaf", "list", "--json"], ["uaf", "device", "show", "--json"]] {
      lines.append("the device, \(words[1]): \(try await device.run(words).summary)")
    }
    for list in ["credentials", "targets"] {
      let result = try await party.server.run("uaf", list, "--user", user, "--json")
      lines.append("the server, \(list): \(result.summary)")
    }
    let events = party.server.events.split(separator: "\n").suffix(30)
    return lines + ["the server's log since it was started last:"] + events.map(String.init)
  }
}
