import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// Account policies and locks with the real commands: set by an operator, by policies and by the user.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AccountLockCommandTests {
  @Test("an operator locks, attaches policies and wipes; the device obeys, can deny, and sends receipts")
  func locksAndUnlocks() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let id = try #require(try await server.activeContainers("alice").first)
    let early = try await device.json("otp").string("code")
    let ordered = try await server.json("container", "lock", id, "--reason", "reported lost")
    #expect(ordered["action"] == "lock")
    // The lock holds at the server at once, before the device knows of it.
    #expect(try await !server.accepts(early, of: "alice"))
    let asked = try await server.run(
      "transaction", "create", "alice", "Pay 1.00 EUR", "--key-file", server.shopKey)
    #expect(asked.status != 0 && asked.errorOutput.contains("no authenticator"), asked.summary)
    // The device can deny a request to any user, but not approve it.
    let offer = try await server.json("transaction", "offer", "Pay 1.00 EUR", "--key-file", server.shopKey)
    let (first, second) = (try offer.string("link"), try offer.string("id"))
    let unheard = try await device.run("approve", first, "--yes")
    #expect(unheard.status != 0, unheard.summary)
    let heard = try await device.run("pending")
    #expect(heard.status == 0, heard.summary)
    for words in [["otp"], ["approve", first, "--yes"], ["rename", "mine"]] {
      let refused = try await device.run(words)
      #expect(refused.status == 77, "\(words): \(refused.summary)")
      #expect(refused.errorOutput.contains("locked by its server: reported lost"), refused.summary)
    }
    let denied = try await device.run("deny", first, "--yes")
    #expect(denied.status == 0, denied.summary)
    #expect(try await server.transaction(second).string("status") == "denied")
    let listed = try await device.run("list")
    #expect(listed.status == 0 && listed.output.contains("locked (by its server)"), listed.summary)
    let shown = try await device.run("condition", "show")
    #expect(shown.status == 1 && shown.output.contains("locked by its server"), shown.summary)
    try await expectReceipts(server, id, ["lock"])
    _ = try await server.json("container", "unlock", id)
    _ = try await device.run("pending")
    #expect(try await server.accepts(device.json("otp").string("code"), of: "alice"))
    try await expectReceipts(server, id, ["lock", "unlock"])

    let policies =
      #"{"appIsUpToDate":{"minimumVersion":"99"},"mine":{},"osVersion":{"linx":{"minimum":"99"}}}"#
    let attached = try await server.run("container", "policies", id, policies)
    #expect(attached.status == 0 && attached.errorOutput.contains("does not evaluate mine"), attached.summary)
    #expect(attached.errorOutput.contains("osVersion.linx: "), attached.summary)
    #expect(attached.errorOutput.contains("; did you mean linux?"), attached.summary)
    let malformed = try await server.run("container", "policies", id, #"{"inactivity":{"days":0}}"#)
    #expect(malformed.status != 0 && malformed.errorOutput.contains("days"), malformed.summary)
    _ = try await device.run("pending")
    let broken = try await device.run("otp")
    #expect(broken.status == 77, broken.summary)
    #expect(broken.errorOutput.contains("policy appIsUpToDate"), broken.summary)
    let evaluated = try await device.run("condition", "show", "--json")
    #expect(evaluated.status == 1, evaluated.summary)
    let status = try JSONObject(parsing: Array(evaluated.output.utf8))
    #expect(try status.string("lockingPolicy") == "appIsUpToDate")
    #expect(try status.strings("unknown") == ["mine"])
    #expect(try status.object("evidence").string("osName") == "linux")
    // The server comes to the same verdict; without the policies the container is unlocked.
    _ = try await device.run("condition", "report")
    let account = try await server.json("container", "account", id)
    #expect(try account.string("standing") == "locked")
    #expect(try account.string("reason").hasPrefix("appIsUpToDate: "))
    // Reading the policies changes nothing.
    let looked = try await server.run("container", "policies", id)
    #expect(looked.output == "\(policies)\n", looked.summary)
    #expect(try await server.json("container", "policies", id).object("policies").contains("mine"))
    let both = try await server.run("container", "policies", id, "{}", "--of-profile")
    #expect(both.isRefusal(64, "--of-profile goes without policies"), both.summary)
    let taken = try await server.run("container", "policies", id, "--of-profile")
    #expect(taken.output == "\(id) has the policies of its profile\n", taken.summary)
    #expect(try await server.run("container", "policies", id).output == "none\n")
    let reported = try await device.run("condition", "report")
    #expect(reported.status == 0, reported.summary)
    _ = try await device.json("otp")

    _ = try await server.json("container", "wipe", id, "--reason", "stolen")
    let wiped = try await device.run("pending")
    #expect(wiped.status != 0 && wiped.errorOutput.contains("had the container deleted"), wiped.summary)
    #expect(try await device.containers().isEmpty)
    let revoked = try await server.run("container", "list", "alice")
    #expect(revoked.output.contains("revoked (wiped)"), revoked.summary)
    try await expectReceipts(server, id, ["lock", "unlock", "wipe"])
    #expect(try await server.audited("account.ordered").count == 3)
    #expect(try await server.audited("account.orderDone").count == 3)
    await server.stop()
  }

  @Test("a device that violates its profile's policies is refused")
  func enrolment() async throws {
    let refused = try await ServerCommand.run(
      "init", "--data", "/nowhere/x", "--url", "localhost/x", "--account-policies",
      #"{"deviceTampering":{"score":2}}"#)
    #expect(refused.status == 64 && refused.errorOutput.contains("score"), refused.summary)
    let server = try await RunningServer.startWithShop([
      "--protection", "device", "--account-policies", #"{"hardwareKeystore":{}}"#,
    ])
    let device = server.device()
    let activated = try await device.run("activate", "--code-file", server.codeFile("alice"))
    #expect(activated.status == 77, activated.summary)
    #expect(activated.errorOutput.contains("hardwareKeystore: the keys are kept in files"), activated.summary)
    #expect(try await server.activeContainers("alice").isEmpty)
    await server.stop()
  }

  @Test(
    "a manual lock lasts until the container's unlock method removes it; imported accounts have their own locks"
  )
  func byHand() async throws {
    let password = "winter-garden-42"
    let server = try await RunningServer.startWithShop(["--attempts", "5"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [password])
    _ = try await device.json("condition", "lock", "--reason", "lent")
    let refused = try await device.run("otp", passwords: [password])
    #expect(refused.status == 77 && refused.errorOutput.contains("locked by hand: lent"), refused.summary)
    let again = try await device.run("condition", "lock")
    #expect(again.status == 65 && again.errorOutput.contains("locked already"), again.summary)
    let foreign = try await device.run("condition", "lock", "--policy", "screenLock")
    #expect(foreign.status == 65, foreign.summary)
    let wrong = try await device.run("condition", "unlock", passwords: ["summer-garden-42"])
    #expect(wrong.status == 77 && wrong.errorOutput.contains("password is wrong"), wrong.summary)
    let unlocked = try await device.run("condition", "unlock", passwords: [password])
    #expect(unlocked.status == 0 && unlocked.output.contains("not locked"), unlocked.summary)
    _ = try await device.json("otp", passwords: [password])

    let uri = "otpauth://totp/Example:bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    let file = try server.write(uri, to: "account")
    _ = try await device.json("import", file)
    _ = try await device.json("account", "lock", "bob")
    let noCode = try await device.run("otp", "bob")
    #expect(noCode.status == 77 && noCode.errorOutput.contains("locked by hand"), noCode.summary)
    _ = try await device.json("account", "unlock", "bob")
    _ = try await device.json("otp", "bob")
    await server.stop()
  }

  private func expectReceipts(
    _ server: RunningServer, _ id: String, _ actions: [String]
  ) async throws {
    let orders = try await AccountLockKillTests.orders(server, id)
    #expect(try orders.map { try $0.string("action") } == actions)
    #expect(try orders.allSatisfy { try $0.bool("done") && $0.contains("receipt") })
  }
}

/// `kill -9` of either side between an order and its receipt: the order is done once, and the receipt arrives.
@Suite(.serialized, .timeLimit(KillRounds.timeLimit)) struct AccountLockKillTests {
  @Test func killed() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    var bench = KillBench(server, SeededRandom(test: "account lock kill test"))
    let device = bench.server.device("locked")
    _ = try await device.json("activate", "--code-file", try await bench.server.codeFile("alice"))
    let id = try #require(try await bench.server.activeContainers("alice").first)
    _ = try await bench.server.json("container", "lock", id)
    _ = try await bench.measure("pending", device.process(["pending"]))
    var (round, isLocked, ordered) = (0, true, 1)
    while bench.kills < KillRounds.pairCount {
      round += 1
      bench.beginRound()
      isLocked.toggle()
      _ = try await bench.server.json("container", isLocked ? "lock" : "unlock", id)
      ordered += 1
      let victim = KillBench.Victim.inRound(round, using: &bench.random)
      _ = try await bench.run("pending", victim, device.process(["pending", "--timeout", "20"]))
      try KillBench.checkDatabase("\(device.data)/vault.sqlite", bench.comment)
      // The next contact completes the order, whichever side was killed.
      for _ in 0..<2 {
        let contact = try await device.run("pending")
        #expect(contact.status == 0, "\(bench.step): \(contact.summary)")
      }
      let code = try await device.run("otp")
      #expect(code.status == (isLocked ? 77 : 0), "\(bench.step): \(code.summary)")
      let orders = try await Self.orders(bench.server, id)
      #expect(orders.count == ordered, bench.comment)
      #expect(try orders.allSatisfy { try $0.bool("done") }, bench.comment)
      #expect(try await bench.server.audited("account.orderDone").count == ordered, bench.comment)
    }
    for (number, user) in ["bob", "carol", "dave"].prefix(KillRounds.pairCount).enumerated() {
      let other = bench.server.device(user)
      _ = try await other.json("activate", "--code-file", try await bench.server.codeFile(user))
      let theirs = try #require(try await bench.server.activeContainers(user).first)
      _ = try await bench.server.json("container", "wipe", theirs)
      let victim = KillBench.Victim.inRound(number, using: &bench.random)
      _ = try await bench.run("pending", victim, other.process(["pending", "--timeout", "20"]))
      for _ in 0..<2 { _ = try await other.run("pending") }
      #expect(try await other.containers().isEmpty, bench.comment)
      let orders = try await Self.orders(bench.server, theirs)
      #expect(try orders.map { try $0.bool("done") } == [true], bench.comment)
      #expect(try await bench.server.activeContainers(user).isEmpty, bench.comment)
    }
    let report = try await bench.server.json("audit", "verify")
    #expect(report["intact"] == true)
    print("account lock kill test: \(bench.kills) kills in \(round) rounds")
    await bench.server.stop()
  }

  static func orders(_ server: RunningServer, _ id: String) async throws -> [JSONObject] {
    try await server.json("container", "account", id).array("orders").compactMap { value in
      guard case .object(let order) = value else { return nil }
      return order
    }
  }
}
