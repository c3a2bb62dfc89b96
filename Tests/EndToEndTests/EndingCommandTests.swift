import Foundation
import Signet
import SignetJSON
import SignetSQLite
import SignetTestKit
import Testing

/// `signet delete`, `signet reset` and the erasure after too many wrong passwords, with and without a server.
@Suite(.serialized, .timeLimit(.minutes(10))) struct EndingCommandTests {
  @Test func deletesAndTellsTheServerWhy() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let answer = try await device.json("delete", "--yes", "--reason", "lost my laptop")
    #expect(answer["server"] == "told")
    let event = try #require(try await server.audited("container.deleted").first)
    #expect(try event.string("reason") == "lost my laptop" && event.string("user") == "alice")
    #expect(try await server.activeContainers("alice").isEmpty)
    let listed = try await server.run("container", "list", "alice")
    #expect(listed.output.contains("revoked (deleted)"), listed.summary)
    await server.stop()
  }

  @Test("without a connection the keys are deleted, and a later command notifies the server")
  func deletesOffline() async throws {
    var server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    for user in ["alice", "bob"] {
      _ = try await device.json("activate", "--code-file", server.codeFile(user))
    }
    await server.stop()
    let alice = try #require(try await device.containers().first { $0.user == "alice" })
    let deleted = try await device.run("delete", "--yes", "--container", alice.id, "--json")
    #expect(deleted.status == 0 && deleted.errorOutput.contains("was not notified yet"), deleted.summary)
    #expect(deleted.output.contains(#""server":"queued""#), deleted.summary)
    #expect(try await device.containers().map(\.user) == ["bob"])
    server = try await server.again()
    #expect(try await server.activeContainers("alice").count == 1)
    // The first wait is a minute; until then a command sends nothing and reports nothing.
    let early = try await device.run("pending")
    #expect(early.status == 0 && !early.errorOutput.contains("notified"), early.summary)
    #expect(try await server.activeContainers("alice").count == 1)
    // Another deletion retries the pending notifications of its server.
    let report = try await device.json("reset", "--yes")
    #expect(report["erased"] == true && report["server"] == "told")
    for user in ["alice", "bob"] { #expect(try await server.activeContainers(user).isEmpty) }
    #expect(try await server.audited("container.deleted").count == 1)
    #expect(try await server.audited("container.reset").count == 1)
    #expect(!FileManager.default.fileExists(atPath: device.data))
    await server.stop()
  }

  @Test("without containers, the doctor reports pending notices to servers and sends them at once")
  func tellsTheLastOne() async throws {
    var server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    try await server.addUser("alice")
    for command in ["pending", "otp", "list"] {
      let code = try server.write(await server.invite("alice").text, to: command)
      _ = try await device.json("activate", "--code-file", code)
      await server.stop()
      // The steps before the notification do not depend on the command that sends it.
      let isFirst = command == "pending"
      if isFirst {
        let kept = try ControllingTerminal(device, ["delete"])
        try kept.answer("for good? [y/N] ", "")
        let declined = try await kept.end()
        #expect(declined.status == 1 && declined.shown.contains("Nothing was deleted."), "\(declined)")
      }
      #expect(try await device.run("delete", "--yes").status == 0)
      if isFirst {
        let doctor = try await device.run("doctor")
        #expect(
          doctor.status == 0
            && doctor.output.contains(
              "note    alice at \(server.url): the server was not notified yet of its end")
            && doctor.output.contains("-> signet pending notifies it"), doctor.summary)
      }
      server = try await server.again()
      let next = try await device.run(command)
      #expect(next.status == (command == "list" ? 0 : 78), next.summary)
      #expect(
        next.errorOutput.contains("the server was notified of the end of alice at \(server.url)"),
        next.summary)
      #expect(try await server.activeContainers("alice").isEmpty)
      #expect(try await !device.run("doctor").output.contains("notified yet"))
    }
    await server.stop()
  }

  @Test func resetKeepsWhatNobodyHeardUnlessItIsForced() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let known = try #require(try await server.activeContainers("alice").first)
    await server.stop()
    let unsure = try await device.run("reset")
    #expect(unsure.isRefusal(64, "--yes"), unsure.summary)
    let left = try await device.run("reset", "--yes")
    #expect(left.status == 69 && left.output.contains("notices to servers are left"), left.summary)
    #expect(try await device.containers().isEmpty)
    let again = try await device.run("reset", "--yes", "--json")
    #expect(again.status == 69 && again.output.contains(#""erased":false"#), again.summary)
    #expect(again.output.contains(#""server":"queued""#), again.summary)
    let forced = try await device.run("reset", "--yes", "--force")
    #expect(forced.status == 0 && forced.output.contains("Deleted everything"), forced.summary)
    #expect(forced.errorOutput.contains("  alice at \(server.url), container \(known)\n"), forced.summary)
    #expect(!forced.errorOutput.contains("tries again later"), forced.summary)
    #expect(!FileManager.default.fileExists(atPath: device.data))
  }

  @Test(
    "a reset shows an altered container's stored name and warns that it may be forged"
  )
  func namesWhatWasAltered() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    for (user, change, name) in [
      ("alice", "name = 'other'", "alice at \(server.url), container "),
      ("bob", "user_id = 'mallory'", "mallory at \(server.url), container "),
      (
        "carol", "user_id = printf('%.*c', 5000, 'x')",
        "one that was changed from outside, of which nothing can be read\n"
      ),
    ] {
      let device = server.device()
      _ = try await device.json("activate", "--code-file", server.codeFile(user))
      try Database(path: "\(device.data)/vault.sqlite", mode: .readWrite).execute(
        "UPDATE container SET \(change)")
      let reset = try await device.run("reset", "--yes", "--json")
      #expect(reset.status == 0 && reset.output.contains(#""erased":true,"server":"untold""#), reset.summary)
      #expect(reset.errorOutput.contains("  \(name)"), reset.summary)
      let isNamed = reset.errorOutput.contains(", as the folder says, which was changed from outside\n")
      #expect(isNamed != name.hasPrefix("one"), reset.summary)
    }
    await server.stop()
  }

  @Test func forceAlsoDeletesAVaultThatDoesNotOpen() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    #expect(unlink("\(device.data)/software-keystore.key") == 0)
    let refused = try await device.run("reset", "--yes")
    #expect(refused.status == 65 && refused.output.isEmpty, refused.summary)
    let forced = try await device.run("reset", "--yes", "--force", "--json")
    #expect(forced.status == 0 && forced.output.contains(#""server":"untold""#), forced.summary)
    #expect(!FileManager.default.fileExists(atPath: device.data))
    await server.stop()
  }

  @Test func aWipeIsToldByTheNextCommand() async throws {
    let folder = try TemporaryFolder()
    let policy = "\(folder.path)/policy.json"
    let text = """
      {"type":"password","password":{"minLength":6,"maxLength":64},"lock":{"type":"lock","limit":2,"atLimit":"wipe"}}
      """
    try Data(text.utf8).write(to: URL(filePath: policy))
    let server = try await RunningServer.startWithShop(["--policy-file", policy])
    let device = server.device()
    let code = try await server.codeFile("alice")
    _ = try await device.json("activate", "--code-file", code, passwords: ["winter-garden-42"])
    for _ in 0..<2 { #expect(try await device.run("otp", passwords: ["summer-garden"]).status == 77) }
    let next = try await device.run("pending")
    #expect(next.errorOutput.contains("the server was notified"), next.summary)
    #expect(try await device.containers().isEmpty)
    #expect(try await server.activeContainers("alice").isEmpty)
    let event = try #require(try await server.audited("container.wiped").first)
    #expect(try event.string("reason").contains("2 wrong passwords"))
    await server.stop()
  }

  @Test(
    "killed at any point, the container exists or is gone completely, and the server is notified in the end")
  func survivesKills() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    var bench = KillBench(server, SeededRandom(test: "deletion kill test"))
    var round = 0
    while bench.kills < KillRounds.count {
      round += 1
      bench.beginRound()
      let user = "user-\(round)"
      let device = bench.server.device(user)
      _ = try await device.json("activate", "--code-file", bench.server.codeFile(user))
      let words = ["delete", "--yes", "--reason", "kill test"]
      if round == 1 {
        let undisturbed = try await bench.measure("delete", device.process(words))
        #expect(undisturbed.status == 0, undisturbed.summary)
        continue
      }
      let victim = KillBench.Victim.allCases.randomElement(using: &bench.random) ?? .device
      let killed = try await bench.run("delete", victim, device.process(words))
      try KillBench.checkDatabase("\(device.data)/vault.sqlite", bench.comment)
      let left = try await device.containers()
      if killed.status == 0 { #expect(left.isEmpty, bench.comment) }
      // A container that still exists can be used; a deleted one is reported to the server in the end.
      if !left.isEmpty {
        #expect(try await device.run("pending").status == 0, bench.comment)
        #expect(try await bench.server.activeContainers(user).count == 1, bench.comment)
      }
      let reset = try await device.json("reset", "--yes")
      #expect(reset["erased"] == true, bench.comment)
      #expect(try await bench.server.activeContainers(user).isEmpty, bench.comment)
      let events =
        try await bench.server.audited("container.deleted") + bench.server.audited("container.reset")
      #expect(try events.filter { try $0.string("user") == user }.count == 1, bench.comment)
    }
    print("deletion kill test: \(bench.kills) kills in \(round) rounds")
    await bench.server.stop()
  }
}
