import Foundation
import PostgreSQLFixture
import SignetJSON
import SignetProtocol
import SignetTestKit
import Testing

/// `signet-server user suspend`, `resume`, `delete` and `show`, for the offboarding of a user.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UserLifecycleCommandTests {
  private static func start(_ backend: StorageBackend) async throws -> RunningServer {
    var words = ["--protection", "device"]
    if backend == .postgreSQL {
      let server = try PrivatePostgreSQL.shared()
      words += ["--storage", try server.uri(server.makeDatabase())]
    }
    return try await RunningServer.startWithShop(words)
  }

  @Test(
    "a suspension ends pending operations at both server processes; a resumed user continues",
    arguments: StorageBackend.here)
  func suspends(_ backend: StorageBackend) async throws {
    let memory = try MemoryFolder()
    let first = try await Self.start(backend).sharing(memory)
    let port = try FreePort.find()
    let second = try await RunningServer(first.folder, port, ["--listen", "127.0.0.1:\(port)"])
    let parties = [try RelyingParty(first), try RelyingParty(first, port: port)]
    let device = first.device()
    _ = try await device.json("activate", "--code-file", first.codeFile("alice"))
    let request = try await first.ask("alice", "Pay 10")
    let invite = try first.write(await first.invite("alice").text, to: "late.code")
    let code = try await device.json("otp").string("code")

    let suspended = try await first.json("user", "suspend", "alice", "--reason", "left the company")
    #expect(try suspended.string("state") == "suspended")
    for party in parties {
      #expect(try await party.transaction(request).string("status") == "withdrawn")
      #expect(try await !party.validate(code, of: "alice"), "a code on its way")
    }
    let pending = try await device.run("pending")
    #expect(pending.status != 0 && pending.errorOutput.contains("suspended"), pending.summary)
    let late = try await first.device("late").run("activate", "--code-file", invite)
    #expect(late.status != 0, late.summary)
    let asked = try await first.run("transaction", "create", "alice", "Pay 11", "--key-file", first.shopKey)
    #expect(asked.status != 0 && asked.errorOutput.contains("suspended"), asked.summary)
    let invited = try await first.run("activation", "create", "alice")
    #expect(invited.status != 0, invited.summary)
    let shown = try await first.json("user", "show", "alice")
    #expect(try shown.string("state") == "suspended" && shown.string("reason") == "left the company")
    #expect(try shown.array("requests").isEmpty && shown.array("authenticators").count == 1)
    let screen = try await first.run("user", "show", "alice")
    #expect(screen.output.contains("State") && screen.output.contains("left the company"), screen.summary)
    let ended = try await first.run("transaction", "show", request, "--key-file", first.shopKey)
    #expect(ended.output.contains("the user is suspended or deleted"), ended.summary)

    #expect(try await first.json("user", "resume", "alice").string("state") == "active")
    let next = try await first.ask("alice", "Pay 12")
    let approved = try await device.run("approve", next, "--yes")
    #expect(approved.status == 0, approved.summary)
    for event in ["user.suspended", "user.resumed"] {
      #expect(try await first.audited(event).count == 1, "\(event)")
    }
    await first.stop()
    await second.stop()
    withExtendedLifetime(memory) {}
  }

  @Test("the device of a suspended user gets a lock or a wipe, and nothing else")
  func orders() async throws {
    let server = try await Self.start(.sqlite)
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let id = try #require(try await server.activeContainers("alice").first)
    _ = try await server.json("user", "suspend", "alice")
    let suspended = "suspended"
    for words in [["pending"], ["condition", "report"]] {
      let refused = try await device.run(words)
      #expect(refused.status == 77 && refused.errorOutput.contains(suspended), refused.summary)
    }
    _ = try await server.json("container", "lock", id, "--reason", "left on a train")
    #expect(try await device.run("pending").errorOutput.contains(suspended))
    let locked = try await device.run("otp")
    #expect(locked.isRefusal(77, "left on a train"), locked.summary)
    _ = try await server.json("container", "unlock", id)
    #expect(try await device.run("pending").errorOutput.contains(suspended))
    #expect(try await device.run("otp").status == 77, "who is suspended is not told of the end of a lock")
    for order in ["lock", "unlock"] { _ = try await server.json("container", order, id) }
    #expect(try await device.run("pending").errorOutput.contains(suspended))
    #expect(try await device.run("otp").status == 77, "nor of one that came and went")
    _ = try await server.json("container", "wipe", id, "--reason", "stolen")
    let wiped = try await device.run("pending")
    #expect(wiped.status != 0 && wiped.errorOutput.contains("had the container deleted"), wiped.summary)
    #expect(try await device.containers().isEmpty)
    // Along with the wipe, the device gets all orders that it has not received, and acknowledges each.
    let (ordered, done) = (
      try await server.audited("account.ordered"), try await server.audited("account.orderDone")
    )
    #expect(done.count == ordered.count, "\(done.map { JSONValue.object($0).text })")
    await server.stop()
  }

  @Test("a user's display name exists until the deletion and never appears in the audit log")
  func named() async throws {
    let server = try await Self.start(.sqlite)
    _ = try await server.json("user", "add", "alice", "--name", "Alice Adams")
    #expect(try await server.json("user", "show", "alice").string("displayName") == "Alice Adams")
    let renamed = try await server.json("user", "rename", "alice", "Álice Brown")
    #expect(try renamed.string("displayName") == "Álice Brown" && renamed.string("user") == "alice")
    for screen in [try await server.run("user", "show", "alice"), try await server.run("user", "list")] {
      #expect(screen.output.contains("Álice Brown") && !screen.output.contains("Adams"), screen.summary)
    }
    for name in ["two\nlines", "", String(repeating: "x", count: 129), "turned \u{202E}round"] {
      for refused in [
        try await server.run("user", "rename", "alice", name),
        try await server.run("user", "add", "bob", "--name", name),
      ] {
        #expect(refused.status != 0, "\(name.count): \(refused.summary)")
      }
    }
    #expect(try await server.json("user", "list").array("users").count == 1)
    #expect(try await server.json("user", "rename", "alice")["displayName"] == nil)
    #expect(
      try await server.run("user", "rename", "alice").output == "alice has no display name now\n")
    #expect(try await server.json("user", "show", "alice")["displayName"] == nil)
    _ = try await server.json("user", "rename", "alice", "Alice Adams")
    let left = try await server.json("user", "delete", "alice")
    #expect(left["displayName"] == nil)
    for user in ["alice", try left.string("user")] {
      #expect(try await server.run("user", "rename", user, "Alice Adams").status != 0, "\(user)")
    }
    #expect(try await !server.run("user", "list").output.contains("Adams"))
    #expect(try await server.audited("user.renamed").count == 3)
    let log = try await server.run("audit", "list", "--json").output
    #expect(log.contains("user.renamed") && !log.contains("Adams") && !log.contains("Brown"))
    await server.stop()
  }

  @Test("a deletion removes everything bound to the account and frees its id")
  func deletes() async throws {
    let server = try await Self.start(.sqlite)
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let code = try await device.json("otp").string("code")
    let subject = try await server.json("user", "show", "alice").string("subject")
    #expect(try await server.audited("container.activated").map { try $0.string("user") } == ["alice"])
    let left = try await server.json("user", "delete", "alice")
    #expect(try left.string("state") == "deleted" && left.string("user") == subject)
    #expect(try await !server.accepts(code, of: "alice"))
    #expect(try await server.activeContainers(subject).isEmpty)
    let ended = try await device.run("delete", "--yes")
    #expect(
      ended.status == 0 && !ended.errorOutput.contains("notified"),
      "it need not say so again: \(ended.summary)")
    let again = try await server.run("user", "delete", "alice")
    #expect(again.status != 0 && again.errorOutput.contains("There is no user"), again.summary)
    _ = try await server.json("user", "add", "alice")
    #expect(try await !server.accepts(code, of: "alice"), "a code of who had the id before")
    #expect(try await server.activeContainers("alice").isEmpty)
    // Only the log distinguishes the two users, and the file has the ID of neither.
    #expect(try await server.audited("user.added").map { try $0.string("user") } == [subject, "alice"])
    let lookalike = try await server.run("user", "add", subject)
    #expect(
      lookalike.status != 0 && lookalike.errorOutput.contains("does not begin with ~"), lookalike.summary)
    let resumed = try await server.run("user", "resume", subject)
    #expect(resumed.status != 0, resumed.summary)
    let nobody = try await server.run("user", "suspend", "nobody")
    #expect(nobody.status != 0, nobody.summary)
    #expect(try await server.audited("user.deleted").count == 1)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }
}
