import Foundation
import SignetImages
import SignetJSON
import SignetTestKit
import Testing

/// Push messages of authenticator apps, with both real commands: enrolment by a URI or a picture, request, answer, lock,
/// removal.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AppCommandTests {
  /// Enrols `device` with a URI of the server.
  private func enrol(
    _ device: InstalledSignet, at server: RunningServer, _ words: [String] = []
  ) async throws -> (authenticator: String, uri: String) {
    let result = try await ServerCommand.run(
      ["app", "invite", "alice", "--issuer", "Bank", "--data", server.data, "--json"] + words)
    try #require(result.status == 0, result.summary)
    let answer = try JSONObject(parsing: Array(result.output.utf8))
    let (id, uri) = (try answer.string("id"), try answer.string("uri"))
    _ = try await device.json("import", uri, "--push-token", "gateway-7", "--push-service", "webhook")
    return (id, uri)
  }

  /// Creates a request for alice and passes the message to the device.
  private func ask(
    _ text: String, _ device: InstalledSignet, at server: RunningServer, kind: String = "default"
  ) async throws -> (asked: JSONObject, message: String) {
    let asked = try await server.json(
      "message", "create", "alice", text, "--kind", kind, "--key-file", server.shopKey)
    let push = try asked.object("push")
    let file = try server.write(String(decoding: push.bytes, as: UTF8.self), to: "push")
    let received = try await device.run("message", "receive", file)
    try #require(received.status == 0 && received.output.contains(text), received.summary)
    return (asked, try push.string("messageId"))
  }

  private func show(_ asked: JSONObject, at server: RunningServer) async throws -> ServerCommand.Result {
    try await server.run(
      "message", "show", try asked.string("id"), "--wait", "0s", "--key-file", server.shopKey)
  }

  @Test("an app is enrolled, accepts, denies or picks a number, and the relying party gets the outcome")
  func asked() async throws {
    let server = try await RunningServer.startWithShop()
    let device = server.device()
    try await server.addUser("alice")
    let unknown = try await server.run("app", "invite", "nobody")
    #expect(unknown.isRefusal(67, "'signet-server user add' adds one"), unknown.summary)
    let malformed = try await server.run(
      "app", "invite", "alice", "--policies", #"{"inactivity":{"days":0}}"#)
    #expect(malformed.isRefusal(65, "days is out of range"), malformed.summary)
    let misspelt = try await server.run(
      "app", "invite", "alice", "--policies", #"{"screenLok":{}}"#)
    #expect(
      misspelt.isRefusal(65, "--policies: there is no policy screenLok; did you mean screenLock?"),
      misspelt.summary)
    // A name that resembles no known policy may be one that an app defines.
    try await server.addUser("bob")
    let own = try await server.run("app", "invite", "bob", "--policies", #"{"tampering":{}}"#)
    let note = "signet-server: this server does not evaluate tampering: "
    #expect(
      own.status == 0 && own.errorOutput.contains(note)
        && own.errorOutput.contains("; known names: biometricAvailable, "),
      own.summary)
    let unenrolled = try await server.run("message", "create", "alice", "x", "--key-file", server.shopKey)
    #expect(unenrolled.isRefusal(67, "signet-server app invite USER"), unenrolled.summary)
    let stranger = try await server.run("message", "create", "nobody", "x", "--key-file", server.shopKey)
    #expect(stranger.isRefusal(67, "There is no user \"nobody\"; 'signet-server user add'"), stranger.summary)

    let picture = server.folder.file("invite.png")
    let invited = try await server.run(
      "app", "invite", "alice", "--issuer", "Bank", "--png", picture)
    #expect(invited.status == 0 && invited.output.contains("URI      pushauth://push/Bank:alice?"))
    #expect(permissions(of: picture) == 0o600)
    let pending = try await server.run("app", "list", "alice")
    #expect(pending.output.contains(/[^ ]+ +pending +- +- +- +2/), pending.summary)
    let scanned = try await device.run(
      "scan", picture, "--push-token", "gateway-7", "--push-service", "webhook")
    #expect(scanned.status == 0 && scanned.output.contains("Enrolled Bank (alice)"), scanned.summary)
    let listed = try await server.json("app", "list", "alice").array("authenticators")
    #expect(listed.count == 1)
    let table = try await server.run("app", "list", "alice")
    #expect(table.output.contains("active") && table.output.contains("webhook"), table.summary)
    #expect(table.output.contains(/[ ]Bank +alice\n/), table.summary)
    #expect(table.output.contains(" linux ") && !table.output.contains(" ios "), table.summary)

    let (yes, first) = try await ask("Sign in to the shop", device, at: server)
    #expect(try await show(yes, at: server).status == 75)
    #expect(try await device.run("message", "approve", first).status == 0)
    let approved = try await show(yes, at: server)
    #expect(approved.status == 0 && approved.output.contains("Status       approved"), approved.summary)
    let (no, second) = try await ask("Change the address", device, at: server)
    #expect(try await device.run("message", "deny", second).status == 0)
    let denied = try await show(no, at: server)
    #expect(denied.status == 1 && denied.output.contains("denied"), denied.summary)
    let (number, third) = try await ask("Sign in again", device, at: server, kind: "challenge")
    let digits = String(try number.integer("number"))
    #expect(try await device.run("message", "approve", third, "--number", digits).status == 0)
    #expect(try await show(number, at: server).status == 0)
    let shown = try await server.run(
      "message", "create", "alice", "Again", "--kind", "challenge", "--key-file", server.shopKey)
    #expect(
      shown.output.contains("Delivery     not sent: no service in \"push\" of server.json"), shown.summary)
    #expect(!shown.output.contains("the app asks for it"), shown.summary)
    let used = try await server.json("app", "list", "alice").array("authenticators")
    guard case .object(let app)? = used.first else { throw JSONFailure.missingMember("authenticators") }
    #expect(try app.integer("lastAnswered") >= app.integer("created") && app.string("state") == "active")
    let again = try await server.json(
      "message", "create", "alice", "Withdrawn", "--key-file", server.shopKey)
    let transaction = try again.string("transaction")
    #expect(
      try await server.run("transaction", "withdraw", transaction, "--key-file", server.shopKey).status == 0)
    let withdrawn = try await show(again, at: server)
    #expect(withdrawn.status == 1 && withdrawn.output.contains("Status       withdrawn\n"), withdrawn.summary)
    #expect(shown.output.contains(/Number       [1-9][0-9]\n/), shown.summary)
    let long = try await server.run(
      "message", "create", "alice", "x", "--lifetime", "2h", "--key-file", server.shopKey)
    #expect(long.isRefusal(64, "from 10s to 1h"), long.summary)
    for context in ["{", "[]", "Bern"] {
      let garbage = try await server.run(
        "message", "create", "alice", "x", "--context", context, "--key-file", server.shopKey)
      #expect(garbage.isRefusal(65, "--context has to be a JSON object"), garbage.summary)
    }
    let missing = try await server.run("message", "show", "none", "--key-file", server.shopKey)
    #expect(missing.isRefusal(67, "There is no message with this id"), missing.summary)
    await server.stop()
  }

  @Test(
    "an account that has push messages only is listed, locked and deleted, and the server removes its side")
  func listed() async throws {
    let server = try await RunningServer.startWithShop()
    let device = server.device()
    try await server.addUser("alice")
    let early = try await device.run("account", "lock", "Bank")
    #expect(early.isRefusal(65, "nothing was imported in"), early.summary)
    let (authenticator, _) = try await enrol(device, at: server)
    _ = try await device.json("import", "otpauth://totp/Mail:alice?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    let accounts = try await device.json("account", "list").array("accounts").compactMap { value in
      if case .object(let object) = value { object } else { nil }
    }
    #expect(try accounts.map { try $0.string("issuer") } == ["Bank", "Mail"])
    #expect(try accounts.map { try $0.string("type") } == ["push", "totp"])
    #expect(try accounts.map { try $0.bool("push") } == [true, false])
    #expect(try accounts.allSatisfy { try !$0.bool("isLocked") })
    let noCodes = try await device.run("otp", "Bank")
    #expect(noCodes.isRefusal(65, "Bank (alice) makes no codes"), noCodes.summary)
    // A single account that makes codes needs no name.
    #expect(try await device.json("otp").string("code").count == 6)
    let unknown = try await device.run("account", "lock", "Post")
    #expect(
      unknown.isRefusal(65, "no account is called that; signet account list shows them"), unknown.summary)

    let (asked, message) = try await ask("Sign in", device, at: server)
    #expect(try await device.run("account", "lock", "Bank", "--reason", "lent").status == 0)
    let table = try await device.run("account", "list")
    #expect(table.output.contains(/Bank +alice +push +locked \(by hand\)/), table.summary)
    #expect(table.output.contains(/Mail +alice +every 30 s +active/), table.summary)
    let refused = try await device.run("message", "approve", message)
    #expect(refused.isRefusal(77, "locked by hand: lent"), refused.summary)
    let again = try await device.run("account", "lock", "Bank")
    #expect(again.isRefusal(65, "locked already"), again.summary)
    let doctor = try await device.run("doctor")
    #expect(doctor.output.contains("imported accounts: some were locked by hand"), doctor.summary)
    #expect(try await device.run("message", "deny", message).status == 0)
    #expect(try await show(asked, at: server).status == 1)
    #expect(try await device.run("account", "unlock", "Bank").output == "Bank (alice): not locked.\n")

    let deleted = try await device.run("account", "delete", "Bank:alice", "--yes")
    #expect(deleted.status == 0 && deleted.output == "Deleted Bank (alice).\n", deleted.summary)
    #expect(try await device.json("account", "list").array("accounts").count == 1)
    #expect(try await device.json("message", "list").array("messages").isEmpty)
    let gone = try await device.run("message", "deny", message)
    #expect(gone.status == 65, gone.summary)

    let removed = try await server.run("app", "remove", authenticator)
    #expect(removed.output == "removed \(authenticator)\n", removed.summary)
    let missing = try await server.run("app", "remove", authenticator)
    #expect(missing.isRefusal(67, "'signet-server app list USER' shows"), missing.summary)
    await server.stop()
  }

  @Test("an app that makes codes too is invited, renamed and removed as one; its token goes with it")
  func codes() async throws {
    let server = try await RunningServer.startWithShop()
    let device = server.device()
    try await server.addUser("alice")
    let lone = try await server.run("app", "invite", "alice", "--digits", "8")
    #expect(lone.isRefusal(64, "--digits goes with --codes"), lone.summary)
    let wrong = try await server.run(
      "app", "invite", "alice", "--codes", "hotp", "--period", "30s")
    #expect(wrong.isRefusal(64, "--period goes with --codes totp"), wrong.summary)
    let (authenticator, uri) = try await enrol(
      device, at: server, ["--codes", "totp", "--digits", "8", "--algorithm", "SHA256", "--period", "60s"])
    #expect(uri.hasPrefix("mfauth://totp/Bank:alice?"))
    let table = try await device.run("account", "list")
    #expect(table.output.contains(/Bank +alice +every 60 s, push +active/), table.summary)
    let code = try await device.json("otp", "Bank").string("code")
    #expect(code.count == 8)
    #expect(try await server.accepts(code, of: "alice"))
    // An import of the same code secret alone finds this account too; the message shows which account to delete.
    let query = try #require(URLComponents(string: uri)).queryItems?.filter {
      ["secret", "digits", "period", "algorithm"].contains($0.name)
    }
    let words = (query ?? []).map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&")
    let copy = try await device.run("import", "otpauth://totp/Copy:alice?\(words)")
    #expect(copy.status == 0 && copy.output == "There already: Bank (alice).\n", copy.summary)
    guard case .object(let listed)? = try await device.json("account", "list").array("accounts").first else {
      throw JSONFailure.missingMember("accounts")
    }
    let delete = try "signet account delete \(listed.string("id").prefix(8))"
    #expect(copy.errorOutput.contains(delete), copy.summary)
    let renamed = try await device.run("account", "rename", "Bank", "--issuer", "House bank")
    #expect(renamed.output == "Renamed to House bank (alice).\n", renamed.summary)
    // The account can still be selected by the name that it was enrolled with.
    #expect(try await device.json("account", "lock", "Bank")["lock"] != nil)
    #expect(try await device.run("otp", "House bank").status == 77)
    _ = try await device.json("account", "delete", "House bank", "--yes")
    #expect(try await device.json("account", "list").array("accounts").isEmpty)
    #expect(try await server.json("token", "list").array("tokens").count == 1)
    _ = try await server.json("app", "remove", authenticator)
    #expect(try await server.json("token", "list").array("tokens").isEmpty)
    await server.stop()
  }

  @Test("a user with several apps requires the app's name in the command")
  func several() async throws {
    let server = try await RunningServer.startWithShop()
    try await server.addUser("alice")
    let first = try await enrol(server.device("first"), at: server)
    _ = try await enrol(server.device("second"), at: server)
    let unnamed = try await server.run("message", "create", "alice", "x", "--key-file", server.shopKey)
    #expect(unnamed.isRefusal(65, "has 2 apps; name one by --app"), unnamed.summary)
    let named = try await server.json(
      "message", "create", "alice", "x", "--app", first.authenticator, "--key-file", server.shopKey)
    #expect(named["status"] == "pending")
    await server.stop()
  }

  @Test("the doctor names the cause of a lock and the remedy")
  func doctor() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let id = try #require(try await server.activeContainers("alice").first)
    _ = try await device.json("condition", "lock", "--reason", "lent")
    let byHand = try await device.run("doctor")
    // A lock by the user is no finding.
    #expect(byHand.status == 0, byHand.summary)
    #expect(byHand.output.contains("it was locked by hand: lent"), byHand.summary)
    #expect(byHand.output.contains("signet condition unlock --container"), byHand.summary)
    _ = try await device.json("condition", "unlock")
    _ = try await server.json("container", "policies", id, #"{"appIsUpToDate":{"minimumVersion":"99"}}"#)
    _ = try await device.run("pending")
    let broken = try await device.run("doctor")
    #expect(broken.status == 1, broken.summary)
    #expect(broken.output.contains("its policy appIsUpToDate locks it: "), broken.summary)
    #expect(broken.output.contains("its server locks it: appIsUpToDate: "), broken.summary)
    #expect(!broken.output.contains("the container is in order"), broken.summary)
    await server.stop()
    let unreachable = try await device.run("condition", "report")
    #expect(unreachable.isRefusal(69, "the server at 127.0.0.1:\(server.port) cannot be reached"))
  }
}
