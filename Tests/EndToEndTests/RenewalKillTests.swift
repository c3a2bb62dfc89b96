import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// `kill -9` of either side during a renewal: afterwards both sides have the new keys, or both have the old ones.
@Suite(.serialized, .timeLimit(KillRounds.timeLimit)) struct RenewalKillTests {
  private let password = "winter-garden-42"

  @Test(arguments: ["device", "password"])
  func bothSidesAgreeAfterEachKill(protection: String) async throws {
    let server = try await RunningServer.startWithShop(["--protection", protection])
    var bench = KillBench(server, SeededRandom(test: "renewal kill test, protection \(protection)"))
    let passwords = protection == "password" ? [password] : []
    let device = bench.server.device("renewed")
    let code = try await bench.server.codeFile("alice")
    _ = try await device.json("activate", "--code-file", code, passwords: passwords)
    let plain = try bench.server.write("kept through all renewals", to: "plain")
    let sealed = "\(bench.server.folder.path)/sealed"
    let encrypted = try await device.run(
      "data", "encrypt", "--label", "x", plain, sealed, passwords: passwords)
    try #require(encrypted.status == 0, encrypted.summary)
    let undisturbed = try await bench.measure("renew", device.process(["renew"], passwords: passwords))
    try #require(undisturbed.status == 0, undisturbed.summary)
    var renewals = try await agreed(device, bench, passwords)
    #expect(renewals == 1)
    var (round, renewed, kept) = (0, 0, 0)
    while bench.kills < KillRounds.pairCount {
      round += 1
      bench.beginRound()
      let victim = KillBench.Victim.inRound(round, using: &bench.random)
      let words = ["renew", "--timeout", "20"]
      let killed = try await bench.run("renew", victim, device.process(words, passwords: passwords))
      try KillBench.checkDatabase("\(device.data)/vault.sqlite", bench.comment)
      let found = try await agreed(device, bench, passwords)
      #expect([renewals, renewals + 1].contains(found), bench.comment)
      if killed.status == 0 { #expect(found == renewals + 1, bench.comment) }
      if found > renewals { renewed += 1 } else { kept += 1 }
      let opened = try await device.run(
        "data", "decrypt", "--label", "x", sealed, "\(plain).\(round)", passwords: passwords)
      #expect(opened.status == 0, "\(bench.step): \(opened.summary)")
      #expect(try String(contentsOfFile: "\(plain).\(round)", encoding: .utf8) == "kept through all renewals")
      // A retry always works.
      let again = try await device.json("renew", passwords: passwords)
      #expect(try again.integer("renewals") == found + 1, bench.comment)
      renewals = try await agreed(device, bench, passwords)
      #expect(renewals == found + 1, bench.comment)
    }
    print(
      "renewal kill test, protection \(protection): \(bench.kills) kills in \(round) rounds, "
        + "\(renewed) times the new keys, \(kept) times the present ones")
    let report = try await bench.server.json("audit", "verify")
    #expect(report["intact"] == true)
    #expect(try await bench.server.audited("container.renewed").count == Int(renewals))
    await bench.server.stop()
  }

  /// Makes contact, and expects that both sides have the same container and that the server accepts the device's decision.
  ///
  /// - Returns: The number of renewals of the container.
  private func agreed(
    _ device: InstalledSignet, _ bench: KillBench, _ passwords: [String]
  ) async throws -> Int64 {
    let contact = try await device.run("pending")
    #expect(contact.status == 0, "\(bench.step): \(contact.summary)")
    let listed = try await device.json("list").array("containers")
    guard listed.count == 1, case .object(let container)? = listed.first else {
      Issue.record("\(bench.step): \(listed.count) containers")
      return -1
    }
    #expect(try container.bool("confirmed"), bench.comment)
    #expect(try await bench.server.activeContainers("alice").count == 1, bench.comment)
    let id = try await bench.server.ask("alice", "Pay 250.00 EUR")
    let approved = try await device.run("approve", id, "--yes", passwords: passwords)
    #expect(approved.status == 0, "\(bench.step): \(approved.summary)")
    try SignedDecisionCheck.expectAccepted(await bench.server.transaction(id), bench.comment)
    return try container.integer("renewals")
  }
}
