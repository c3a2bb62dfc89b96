import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// `kill -9` of either side at random points: afterwards both start again and agree.
@Suite(.serialized, .timeLimit(KillRounds.timeLimit)) struct KillTests {
  private let password = "winter-garden-42"

  @Test(arguments: ["device", "password"])
  func bothSidesAgreeAfterEachKill(protection: String) async throws {
    let server = try await RunningServer.startWithShop(["--protection", protection])
    var bench = KillBench(server, SeededRandom(test: "kill test, protection \(protection)"))
    let passwords = protection == "password" ? [password] : []
    try await measure(&bench, passwords)
    var round = 0
    while bench.kills < KillRounds.count {
      round += 1
      bench.beginRound()
      try await self.round(round, &bench, passwords)
    }
    print("kill test, protection \(protection): \(bench.kills) kills in \(round) rounds")
    let report = try await bench.server.json("audit", "verify")
    #expect(report["intact"] == true)
    await bench.server.stop()
  }

  /// Runs each command once without disturbance.
  private func measure(_ bench: inout KillBench, _ passwords: [String]) async throws {
    let device = bench.server.device("measured")
    let code = try await bench.server.codeFile("measured")
    let activated = try await bench.measure(
      "activate", device.process(["activate", "--code-file", code], passwords: passwords))
    try #require(activated.status == 0, activated.summary)
    let otp = try await bench.measure("otp", device.process(["otp"], passwords: passwords))
    let digits = otp.output.trimmingCharacters(in: .newlines)
    let validated = try await bench.measure("validate", validation(bench.server, digits, "measured"))
    #expect(validated.status == 0, validated.summary)
    let id = try await bench.server.ask("measured", "Pay")
    let approved = try await bench.measure(
      "approve", device.process(["approve", id, "--yes"], passwords: passwords))
    #expect(approved.status == 0, approved.summary)
  }

  private func validation(_ server: RunningServer, _ code: String, _ user: String) throws -> ChildCommand {
    try ServerCommand.process([
      "otp", "validate", user, code, "--data", server.data, "--key-file", server.shopKey,
    ])
  }

  private func round(_ number: Int, _ bench: inout KillBench, _ passwords: [String]) async throws {
    let user = "user-\(number)"
    let device = bench.server.device(user)
    try await activate(device, user, &bench, passwords)
    try await useCode(device, user, &bench, passwords)
    try await approve(device, user, &bench, passwords)
    try KillBench.checkDatabase("\(device.data)/vault.sqlite", bench.comment)
  }

  /// Checks that both sides have the container, or neither; then the same invite works until it is used.
  private func activate(
    _ device: InstalledSignet, _ user: String, _ bench: inout KillBench, _ passwords: [String]
  ) async throws {
    let code = try await bench.server.codeFile(user)
    let words = ["activate", "--code-file", code, "--timeout", "20"]
    let victim = KillBench.Victim.allCases.randomElement(using: &bench.random) ?? .device
    let killed = try await bench.run("activate", victim, device.process(words, passwords: passwords))
    let vault = "\(device.data)/vault.sqlite"
    try KillBench.checkDatabase(vault, bench.comment)
    // The next contact; without a container the command reports that it has nothing to ask for.
    let contact = try await device.run("pending")
    #expect([0, 65, 73, 78].contains(contact.status), "\(bench.step): \(contact.summary)")
    let listed = [0, 78].contains(contact.status) ? try await device.containers() : []
    let active = try await bench.server.activeContainers(user)
    #expect(listed.filter(\.isConfirmed).count == active.count, bench.comment)
    #expect(listed.allSatisfy(\.isConfirmed) && active.count <= 1, bench.comment)
    if killed.status == 0 { #expect(active.count == 1, bench.comment) }
    if active.isEmpty {
      let again = try await device.run(words, passwords: passwords)
      #expect(again.status == 0, "\(bench.step): \(again.summary)")
      #expect(try await device.containers().map(\.isConfirmed) == [true], bench.comment)
      #expect(try await bench.server.activeContainers(user).count == 1, bench.comment)
    }
    let used = try await bench.server.device("\(user)-late").run(words, passwords: passwords)
    #expect(used.isRefusal(76, "the server refused the activation"), "\(bench.step): \(used.summary)")
    #expect(try await bench.server.activeContainers(user).count == 1, bench.comment)
  }

  /// Checks that a code is accepted once, after any interruption.
  private func useCode(
    _ device: InstalledSignet, _ user: String, _ bench: inout KillBench, _ passwords: [String]
  ) async throws {
    let cut = try await bench.run("otp", .device, device.process(["otp"], passwords: passwords))
    #expect([0, -SIGKILL].contains(cut.status), "\(bench.step): \(cut.summary)")
    let code = try await device.json("otp", passwords: passwords).string("code")
    let first = try await bench.run("validate", .server, validation(bench.server, code, user))
    #expect(first.status != 1, "\(bench.step): \(first.summary)")
    var accepted = first.status == 0 ? 1 : 0
    for _ in 0..<3 where try await bench.server.accepts(code, of: user) { accepted += 1 }
    // One answer may have been lost with the server, but the log has exactly one acceptance.
    #expect(accepted <= 1, bench.comment)
    let entries = try await bench.server.audited("code.accepted").filter { try $0.string("user") == user }
    #expect(entries.count == 1, bench.comment)
  }

  /// Checks that a transaction is pending, or accepted with a valid signature; an acceptance that was reported holds.
  private func approve(
    _ device: InstalledSignet, _ user: String, _ bench: inout KillBench, _ passwords: [String]
  ) async throws {
    let id = try await bench.server.ask(user, "Pay \(user) 250.00 EUR")
    let victim = KillBench.Victim.allCases.randomElement(using: &bench.random) ?? .server
    let words = ["approve", id, "--yes"]
    let killed = try await bench.run("approve", victim, device.process(words, passwords: passwords))
    let found = try await bench.server.transaction(id)
    let status = try found.string("status")
    #expect(["pending", "accepted"].contains(status), bench.comment)
    if killed.status == 0 { #expect(status == "accepted", bench.comment) }
    if status == "pending" {
      #expect(found["decision"] == nil, bench.comment)
      let again = try await device.run(words, passwords: passwords)
      #expect(again.status == 0, "\(bench.step): \(again.summary)")
    } else {
      let again = try await device.run(words, passwords: passwords)
      #expect(again.isRefusal(1, "is already decided"), "\(bench.step): \(again.summary)")
      // The first signature stays.
      #expect(try await bench.server.transaction(id) == found, bench.comment)
    }
    try SignedDecisionCheck.expectAccepted(await bench.server.transaction(id), bench.comment)
  }
}
