import Foundation
import SignetJSON
import SignetTesting
import Testing

/// `kill -9` at random moments of UAF operations; a check and a synchronization lead to two sides that agree.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UAFKillTests {
  private let rounds = ContinuousIntegration.isHere ? 6 : 4

  @Test("Whoever is killed, both sides agree in the end", arguments: KillBench.Victim.allCases)
  fileprivate func agree(_ victim: KillBench.Victim) async throws {
    var party = try await UAFParty.start()
    var bench = KillBench(party.server, SeededRandom(test: "UAFKillTests"))
    for round in 0..<rounds {
      let device = party.device("device-\(round)")
      let register = try device.process(
        ["uaf", "register", "alice", "-a", "pin", "--device-name", "device-\(round)", "--token-fd", "0"]
          + party.words, passwords: [party.key, "271828"])
      if round == 0 {
        let made = try await bench.measure("register", register)
        try #require(made.status == 0, made.summary)
        for (name, words) in Self.later {
          let process = try device.process(words + party.words, passwords: ["271828"])
          let result = try await bench.measure(name, process)
          try #require(result.status == 0, result.summary)
        }
        continue
      }
      _ = try await bench.run("register", victim, register)
      party.replace(bench.server)
      for (name, words) in Self.later {
        _ = try await bench.run(name, victim, device.process(words + party.words, passwords: ["271828"]))
        party.replace(bench.server)
      }
      try await settle(device, party, bench.comment)
    }
    await party.server.stopAndWait()
  }

  private static let later = [
    ("authenticate", ["uaf", "authenticate", "alice", "-a", "pin"]),
    ("deregister", ["uaf", "deregister", "alice", "--yes"]),
  ]

  /// Registers again where nothing is left, and lets check and synchronization do their part.
  private func settle(
    _ device: DeviceCommand, _ party: UAFParty, _ comment: Comment
  ) async throws {
    let name = device.data.split(separator: "/").last.map(String.init) ?? "device"
    for _ in 0..<3 {
      let made = try await device.run(
        ["uaf", "register", "alice", "-a", "pin", "--device-name", name, "--token-fd", "0"] + party.words,
        passwords: [party.key, "271828"])
      // What is registered already is not registered again.
      #expect([0, 65].contains(made.status), "\(comment): \(made.errorOutput)")
      _ = try await device.run(
        ["uaf", "device", "sync", "--token-fd", "0"] + party.words, passwords: [party.key])
      let check = try await device.run(["uaf", "device", "check"] + party.words)
      if check.status == 0 {
        let used = try await device.run(
          ["uaf", "authenticate", "alice", "-a", "pin"] + party.words, passwords: ["271828"])
        if used.status == 0 { return }
      }
    }
    Issue.record("the two sides do not agree after \(comment)")
  }
}
