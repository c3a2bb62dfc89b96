import Foundation
import SignetJSON
import SignetProtocol
import SignetSQLite
import SignetTestKit
import Testing

/// `signet-server user show`: a user with all authenticators of the account on one screen.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UserShowCommandTests {
  private static func kinds(_ user: JSONObject) throws -> [String: JSONObject] {
    var kinds: [String: JSONObject] = [:]
    for case .object(let one) in try user.array("authenticators") { kinds[try one.string("kind")] = one }
    return kinds
  }

  @Test("shows devices with all authenticators, pending requests and the last events")
  func oneScreen() async throws {
    let party = try await UAFParty.start()
    let server = party.server
    let device = party.device()
    let code = try server.write(await server.invite("alice").text, to: "alice.code")
    _ = try await device.json(
      "activate", "--code-file", code, "--device-name", "laptop", passwords: ["winter-garden-42"])
    let link = try await party.link("registration", ["username": "alice"])
    let registered = try await device.run(
      ["uaf", "oob", "run", link, "-a", "pin", "--device-name", "laptop"] + party.words, passwords: ["271828"]
    )
    try #require(registered.status == 0, registered.summary)
    _ = try await server.json("user", "add", "bob")
    let bob = try await party.device("tablet").run(
      ["uaf", "oob", "run", try await party.link("registration", ["username": "bob"]), "-a", "pin"]
        + party.words, passwords: ["314159"])
    try #require(bob.status == 0, bob.summary)
    // Authenticators on none of the user's devices: an authenticator app, and a token that makes codes.
    let app = try await server.inviteApp("alice", "Bank")
    _ = try await party.device("app").json("import", app, "--push-service", "live")
    let tokens = try server.write(
      "serial,kind,secret-hex,digits,user\nHT-1,hotp,3132333435363738393031323334353637383930,6,alice\n",
      to: "tokens.csv")
    #expect(try await server.run("token", "import", tokens).status == 0)
    let request = try await server.ask("alice", "Pay 10")
    let other = try await server.ask("bob", "Pay 11")

    let shown = try await server.json("user", "show", "alice")
    guard case .object(let found)? = try shown.array("devices").first else {
      throw JSONFailure.missingMember("devices")
    }
    #expect(try shown.array("devices").count == 1 && shown.array("authenticators").count == 4)
    let kinds = try Self.kinds(shown)
    for kind in ["container", "uaf"] {
      let one = try #require(kinds[kind], "\(kind)")
      #expect(try one.string("device") == found.string("id") && one.string("state") == "active", "\(kind)")
    }
    for (kind, state) in [("push-app", "active"), ("otp", "pending")] {
      let one = try #require(kinds[kind], "\(kind)")
      #expect(one["device"] == nil && one["reason"] == nil, "\(kind)")
      #expect(try one.string("state") == state, "\(kind)")
    }
    #expect(try kinds["otp"]?.string("id") == "HT-1")
    try await expectUses(shown, party, device)
    guard case .object(let asked)? = try shown.array("requests").first else {
      throw JSONFailure.missingMember("requests")
    }
    #expect(try shown.array("requests").count == 1 && asked.string("id") == request)
    #expect(try asked.string("kind") == "transaction" && asked.string("requester").hasPrefix("key:"))
    let events = try shown.array("events").compactMap { value -> String? in
      guard case .object(let event) = value else { return nil }
      return try event.string("event")
    }
    // The UAF key is asked right after.
    #expect(
      events.prefix(2).contains("transaction.added") && events.contains("container.activated"), "\(events)")
    #expect(!shown.text.contains("\"bob\"") && !shown.text.contains(other))

    let before = try await server.run("user", "show", "alice")
    for text in [request, "Pay 10", "\npush-app ", "\notp ", "HT-1"] {
      #expect(before.output.contains(text), "\(text): \(before.summary)")
    }

    _ = try await server.json("device", "lock", try found.string("id"), "--reason", "left in a train")
    let locked = try await server.json("user", "show", "alice")
    for (kind, reason) in [("container", "left in a train"), ("uaf", "the device is locked")] {
      let one = try #require(try Self.kinds(locked)[kind], "\(kind)")
      #expect(try one.string("state") == "suspended" && one.string("reason") == reason, "\(kind)")
    }
    let screen = try await server.run("user", "show", "alice")
    #expect(screen.status == 0)
    for text in ["laptop", "locked", "left in a train", "  container", "  uaf", "device.locked"] {
      #expect(screen.output.contains(text), "\(text): \(screen.summary)")
    }
    #expect(!screen.output.contains("Pay 10"), "nothing that is left could answer it: \(screen.summary)")
    let nobody = try await server.run("user", "show", "nobody")
    #expect(nobody.status == 67, nobody.summary)
    await server.stop()
  }

  /// Expects the factors of each authenticator, no uses, and the changes by a code and a report.
  private func expectUses(_ before: JSONObject, _ party: UAFParty, _ device: InstalledSignet) async throws {
    let server = party.server
    func place(of user: JSONObject) throws -> JSONObject {
      guard case .object(let one)? = try user.array("devices").first else {
        throw JSONFailure.missingMember("devices")
      }
      return one
    }
    let kinds = try Self.kinds(before)
    #expect(kinds.values.allSatisfy { $0["lastUsed"] == nil })
    for kind in ["container", "uaf", "push-app", "otp"] {
      let proves = try #require(kinds[kind], "\(kind)").object("proves")
      let isSigning = kind == "container" || kind == "uaf"
      #expect(try proves.bool("contentSigned") == isSigning, "\(kind)")
      #expect(try proves.bool("phishingResistance") == (kind == "uaf"), "\(kind)")
      #expect(try proves.bool("userVerification") == isSigning, "\(kind)")
      #expect(try proves.integer("factors") == (isSigning ? 2 : 1), "\(kind)")
      let protection = try kinds[kind]?.string("keyProtection")
      #expect(isSigning ? protection != nil : protection == "software", "\(kind)")
    }
    let code = try await device.json("otp", passwords: ["winter-garden-42"]).string("code")
    #expect(try await server.accepts(code, of: "alice"))
    let used = try await server.json("user", "show", "alice")
    let time = try #require(Self.kinds(used)["container"]).integer("lastUsed")
    #expect(try place(of: used).integer("lastSeen") >= time)
    let report = try await device.run("condition", "report")
    #expect(report.status == 0, report.summary)
    let reported = try await server.json("user", "show", "alice")
    #expect(try place(of: reported).integer("lastSeen") >= time)
    let version = try place(of: reported).string("appVersion")
    let list = try await server.run("device", "list", "alice")
    #expect(!version.isEmpty && list.output.contains(version), list.summary)
    let screen = try await server.run("user", "show", "alice")
    for text in ["LAST USED", "2 factors, user verified, content signed", "phishing resistant"] {
      #expect(screen.output.contains(text), "\(text): \(screen.summary)")
    }
  }

  @Test("if the search stopped early, the screen shows from when on the list is complete")
  func searchEnds() async throws {
    let server = try await RunningServer.start()
    _ = try await server.json("user", "add", "alice")
    let before = try await server.run("user", "show", "alice")
    #expect(
      before.output.contains("user.added") && !before.output.contains("complete after"), "\(before.summary)")
    // More entries, of other users, than a search reads.
    let database = try Database(path: "\(server.data)/signet.sqlite", mode: .readWrite)
    try database.execute(
      """
      INSERT INTO audit (lane, number, event, hash)
      WITH RECURSIVE later(number) AS (
        SELECT max(number) + 1 FROM audit UNION ALL SELECT number + 1 FROM later LIMIT 100001
      )
      SELECT 0, number, '{"time":1700000000,"event":"key.revoked","by":"local","key":"k"}', zeroblob(32) FROM later
      """)
    #expect(try await server.json("user", "show", "alice").integer("eventsAfter") == 1_700_000_000)
    let shown = try await server.run("user", "show", "alice")
    #expect(
      shown.output.contains("The list is complete after 2023-11-14T22:13:20Z"),
      "\(shown.summary)")
    #expect(!shown.output.contains("user.added"), "\(shown.summary)")
    await server.stop()
  }
}
