import Foundation
import SignetJSON
import SignetProtocol
import SignetTestKit
import Testing

/// `signet listen` at a terminal: each kind of request is shown and answered there, and its end by other means is reported.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ListenAnswerTests {
  private static let password = "correct horse battery"

  private func withdraw(_ id: String, at server: RunningServer) async throws {
    _ = try await server.json("transaction", "withdraw", id, "--key-file", server.shopKey)
  }

  @Test(
    "a shown transaction is approved, denied or reported only by the user's input"
  )
  func transactions() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.expect("Listening; Ctrl-C ends it.")
    let first = try await server.ask("alice", "Pay 1 EUR")
    try terminal.expect("Request 1: approve, deny or report")
    try terminal.answer("  | Pay 1 EUR", "yes")
    try terminal.answer("To answer, write approve, deny or report", "approve")
    try terminal.expect("You are about to approve:")
    try terminal.answer("Sign this? [y/N] ", "n")
    try terminal.expect("Nothing was answered; request 1 still waits.")
    #expect(try await server.transaction(first).string("status") == "pending")
    let second = try await server.ask("alice", "Pay 2 EUR")
    try terminal.expect("Request 2: approve, deny or report")
    // With two pending requests, the answer must name one.
    try terminal.answer("  | Pay 2 EUR", "deny")
    try terminal.answer("Name one that waits: deny NUMBER.", "deny 2")
    try terminal.answer("Sign this? [y/N] ", "y")
    try terminal.answer("Denied \(second).", "approve")
    try terminal.expect("  | Pay 1 EUR")
    try terminal.answer("Sign this? [y/N] ", "y")
    try terminal.expect("Accepted \(first).")
    let third = try await server.ask("alice", "Pay 3 EUR")
    try terminal.answer("Request 3: approve, deny or report", "report 3")
    try terminal.answer("Sign this? [y/N] ", "y")
    try terminal.answer("Reported \(third).", "\u{4}", newline: false)
    let ended = try await terminal.end()
    // The result of an answer here is not followed by a report of the end.
    #expect(ended.status == 0, "\(ended.shown)")
    for number in 1...3 { #expect(!ended.shown.contains("Request \(number) was answered"), "\(ended.shown)") }
    for (id, status) in [(first, "accepted"), (second, "denied"), (third, "reported")] {
      #expect(try await server.transaction(id).string("status") == status)
    }
    await server.stop()
  }

  @Test(
    "input typed while an answer is sent does not answer the next prompt", arguments: ["y", "n"])
  func typedAhead(_ reply: String) async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.expect("Listening; Ctrl-C ends it.")
    _ = try await server.ask("alice", "Pay 1 EUR")
    try terminal.expect("  | Pay 1 EUR")
    let second = try await server.ask("alice", "Pay 2 EUR")
    try terminal.answer("  | Pay 2 EUR", "approve 1")
    // Once the first is answered, the second is the only pending one.
    try terminal.answer("Sign this? [y/N] ", "\(reply)\napprove 2", isSecret: false)
    try terminal.answer(
      reply == "y" ? "Accepted " : "Nothing was answered", "\u{4}", newline: false, isSecret: false)
    let ended = try await terminal.end()
    #expect(ended.status == 0 && ended.shown.ranges(of: "You are about to").count == 1, "\(ended.shown)")
    #expect(try await server.transaction(second).string("status") == "pending")
    await server.stop()
  }

  @Test(
    "a number and a password are asked for; a wrong number leaves the request, and nothing typed is shown")
  func numberAndPassword() async throws {
    let server = try await RunningServer.startWithShop()
    let device = server.device()
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: [Self.password])
    let asked = try await server.json(
      "transaction", "create", "alice", "Pay 1 EUR", "--number", "4", "--key-file", server.shopKey)
    let (id, number) = (try asked.string("id"), try asked.string("number"))
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.answer("Request 1: approve, deny or report", "approve")
    try terminal.answer("The 4 digits that the other side shows: ", number == "1234" ? "4321" : "1234")
    try terminal.answer("Password for alice at", Self.password)
    try terminal.answer("signet: the number is not the one that the other side shows", "approve 1")
    try terminal.answer("The 4 digits that the other side shows: ", number)
    try terminal.answer("Password for alice at", Self.password)
    try terminal.answer("Accepted \(id).", "\u{4}", newline: false)
    let ended = try await terminal.end()
    #expect(ended.status == 0 && !ended.shown.contains(Self.password), "\(ended.shown)")
    await server.stop()
  }

  @Test(
    "answers of other devices and withdrawals are shown, also during a prompt"
  )
  func endedElsewhere() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let (device, other) = (server.device(), server.device("other"))
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let code = try server.write(await server.invite("alice").text, to: "other.code")
    _ = try await other.json("activate", "--code-file", code)
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.expect("Listening; Ctrl-C ends it.")
    let first = try await server.ask("alice", "Pay 1 EUR")
    try terminal.expect("  | Pay 1 EUR")
    try await withdraw(first, at: server)
    try terminal.expect("Request 1 was cancelled or withdrawn.")
    let second = try await server.ask("alice", "Pay 2 EUR")
    try terminal.expect("  | Pay 2 EUR")
    _ = try await other.json("approve", second, "--yes")
    try terminal.expect("Request 2 was answered.")
    let third = try await server.ask("alice", "Pay 3 EUR")
    // Other requests are pending since: the answer could be meant for one of these.
    try terminal.answer("  | Pay 3 EUR", "approve")
    try terminal.answer("Name one that waits: approve NUMBER.", "approve")
    try terminal.expect("Sign this? [y/N] ")
    _ = try await other.json("deny", third, "--yes")
    try terminal.answer("", "y", isSecret: false)
    try terminal.expect("signet: the transaction is already decided")
    try terminal.answer("Request 3 was answered.", "\u{4}", newline: false)
    #expect(try await terminal.end().status == 0)
    await server.stop()
  }

  @Test(
    "texts of a server get their own rows, apart from typed input and prompts")
  func rowsOfTheirOwn() async throws {
    let server = try await RunningServer.startWithShop()
    let device = server.device()
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: [Self.password])
    _ = try await server.ask("alice", "Pay 1 EUR")
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.answer("Request 1: approve, deny or report", "approv", newline: false, isSecret: false)
    await server.stop()
    try terminal.expect("\r\u{1B}[Ksignet: ")
    try terminal.expect("it is tried again until it answers")
    let again = try await server.again()
    try terminal.expect("\r\u{1B}[Ksignet: ")
    try terminal.expect("the server answers again")
    _ = try await again.ask("alice", "Pay 2 EUR")
    try terminal.expect("\r\u{1B}[KRequest 2: ")
    // The text that was typed before the notice still begins the line.
    try terminal.answer("  | Pay 2 EUR", "e 1", isSecret: false)
    try terminal.expect("Password for alice at")
    await again.stop()
    try terminal.answer("", Self.password)
    try terminal.answer("it is tried again until it answers", "\u{4}", newline: false, isSecret: false)
    let shown = try await terminal.end().shown
    let prompt = try #require(shown.range(of: "Password for alice at"))
    let rest = try #require(shown[prompt.upperBound...].split(separator: "\n").first)
    #expect(!rest.contains("signet: "), "\(shown)")
  }

  @Test("with --json each request and each end is a line of JSON, without prompts")
  func objects() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    var command = try device.process(["listen", "--json", "--no-notify"])
    (command.output, command.errorOutput) = (.pipe, .pipe)
    let process = try command.start()
    defer { process.send(SIGTERM) }
    #expect(await process.errorOutput.firstLine() == "Listening; Ctrl-C ends it.")
    let id = try await server.ask("alice", "Pay 1 EUR")
    let asked = try JSONObject(parsing: Array(#require(await process.output.firstLine()).utf8))
    #expect(try asked.string("kind") == "transaction" && asked.string("id") == id)
    try await withdraw(id, at: server)
    let ended = try JSONObject(parsing: Array(#require(await process.output.firstLine()).utf8))
    #expect(ended == ["kind": "transaction", "id": .string(id), "ended": "withdrawn"])
    process.send(SIGTERM)
    _ = await process.status()
    await server.stop()
  }

  // MARK: A proxy without its server

  @Test("UAF keys wait while a proxy says that their server is away", .enabled(if: FakeServer.canRun))
  func uafBehindAProxy() async throws {
    let (party, device) = try await party()
    try await ListenCommandTests.expectWaitedOut(device, party.server, showing: "  | Pay 20 EUR to Bob\n") {
      _ = try await $0.ask("alice", "Pay 20 EUR to Bob")
    }
  }

  @Test("an app waits while a proxy says that its server is away", .enabled(if: FakeServer.canRun))
  func appBehindAProxy() async throws {
    let (server, device) = try await app()
    try await ListenCommandTests.expectWaitedOut(device, server, showing: "  | Log in?\n") {
      _ = try await send("Log in?", by: $0)
    }
  }

  // MARK: UAF

  /// A server with UAF, and a device without a container on which alice has registered a PIN.
  private func party() async throws -> (party: UAFParty, device: InstalledSignet) {
    let party = try await UAFParty.start()
    let device = party.device()
    let code = try await party.link("registration", ["username": "alice"])
    let made = try await device.run(
      ["uaf", "oob", "run", code, "-a", "pin", "--device-name", "laptop"] + party.words,
      passwords: ["271828"])
    try #require(made.status == 0, made.summary)
    return (party, device)
  }

  @Test(
    "a UAF key on a device without a container gets a transaction; the PIN confirms it or the user denies")
  func uafTransactions() async throws {
    let (party, device) = try await party()
    let server = party.server
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.expect("Listening; Ctrl-C ends it.")
    let first = try await server.ask("alice", "Pay 20 EUR to Bob")
    try terminal.expect("Request 1: approve or deny")
    try terminal.expect("UAF authentication")
    try terminal.expect("  as      alice")
    // The text is shown before the token is redeemed, and again before the PIN.
    try terminal.answer("  | Pay 20 EUR to Bob", "approve")
    try terminal.expect("You are about to confirm:")
    try terminal.expect("  | Pay 20 EUR to Bob")
    try terminal.answer("PIN of alice: ", "271829")
    try terminal.answer("4 tries are left.\nPIN of alice: ", "271828")
    try terminal.expect("Confirmed with UAF.")
    #expect(try await server.transaction(first).string("status") == "accepted")
    let second = try await server.ask("alice", "Pay 30 EUR to Bob")
    try terminal.answer("Request 2: approve or deny", "deny")
    try terminal.expect("Denied: it is not confirmed with UAF.")
    // The denial concerns this UAF operation only: the relying party may still ask by other means.
    #expect(try await server.transaction(second).string("status") == "pending")
    let third = try await server.ask("alice", "Pay 40 EUR to Bob")
    try terminal.expect("  | Pay 40 EUR to Bob")
    try await withdraw(third, at: server)
    try terminal.answer("Request 3 was cancelled or withdrawn.", "\u{4}", newline: false)
    let ended = try await terminal.end()
    #expect(ended.status == 0 && !ended.shown.contains("271828"), "\(ended.shown)")
    #expect(!ended.shown.contains("Request 1 ") && !ended.shown.contains("Request 2 "), "\(ended.shown)")
    await server.stop()
  }

  @Test(
    "a token for a device without an address waits; another device's approval ends the UAF request"
  )
  func uafTokens() async throws {
    let (party, device) = try await party()
    let server = party.server
    let phone = server.device("phone")
    let code = try server.write(await server.invite("alice").text, to: "phone.code")
    _ = try await phone.json("activate", "--code-file", code, passwords: [Self.password])
    guard
      case .object(let target)? = try await device.json("uaf", "device", "show").array("dispatchTargets")
        .first
    else { throw JSONFailure.missingMember("dispatchTargets") }
    let context: JSONObject = ["username": "alice"]
    let sent = try await party.ask(
      "/token/dispatch/authentication",
      [
        "dispatchTargetId": .string(try target.string("id")),
        "getUafRequest": ["context": .string(context.text)],
      ])
    #expect(try sent.string("dispatchResult") == "dispatched")
    #expect(try sent.object("dispatcherInformation") == ["name": "live"])
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.answer("Request 1: approve or deny", "approve")
    try terminal.answer("PIN of alice: ", "271828")
    try terminal.expect("Confirmed with UAF.")
    #expect(try await party.status(sent.string("sessionId")) == "succeeded")
    let id = try await server.ask("alice", "Pay 20 EUR to Bob")
    try terminal.expect("  | Pay 20 EUR to Bob")
    let approved = try await phone.run("approve", id, passwords: [Self.password])
    #expect(approved.status == 0, approved.summary)
    try terminal.answer("Request 2 was answered.", "\u{4}", newline: false)
    #expect(try await terminal.end().status == 0)
    await server.stop()
  }

  // MARK: Push messages

  /// A server, and a device without a container but with an account whose push messages it polls.
  private func app() async throws -> (server: RunningServer, device: InstalledSignet) {
    let server = try await RunningServer.startWithShop()
    try await server.addUser("alice")
    let invited = try await server.json("app", "invite", "alice", "--issuer", "Bank")
    let device = server.device()
    let refused = try await device.run(
      "import", invited.string("uri"), "--push-service", "live", "--push-token", "AB")
    #expect(refused.isRefusal(64, "--push-token exclude each other"), refused.summary)
    let enrolled = try await device.json(
      "import", invited.string("uri"), "--push-service", "live")
    #expect(try enrolled.bool("push"))
    return (server, device)
  }

  private func send(_ words: String..., by server: RunningServer) async throws -> JSONObject {
    let result = try await ServerCommand.run(
      ["message", "create", "alice"] + words + [
        "--key-file", server.shopKey, "--data", server.data, "--json",
      ])
    try #require(result.status == 0, result.summary)
    return try JSONObject(parsing: Array(result.output.utf8))
  }

  private func status(_ message: JSONObject, at server: RunningServer) async throws -> String {
    try await server.json("message", "show", message.string("id"), "--key-file", server.shopKey)
      .string("status")
  }

  @Test(
    "a polling app gets push messages and approves, denies or picks a number; a wrong number denies"
  )
  func messages() async throws {
    let (server, device) = try await app()
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.expect("Listening; Ctrl-C ends it.")
    let first = try await send("Log in?", by: server)
    try terminal.expect("Request 1: approve or deny")
    try terminal.expect("  from    Bank (alice)")
    try terminal.answer("  | Log in?", "approve")
    try terminal.expect("You are about to approve:")
    try terminal.expect("  | Log in?")
    try terminal.expect("Approved.")
    #expect(try await status(first, at: server) == "approved")
    let second = try await send("Log in again?", by: server)
    try terminal.answer("  | Log in again?", "deny")
    try terminal.expect("Denied.")
    #expect(try await status(second, at: server) == "denied")
    let third = try await send("Pick the number", "--kind", "challenge", by: server)
    let right = try third.integer("number")
    try terminal.answer("  | Pick the number", "approve")
    try terminal.answer("The number that the sign-in shows, of ", "\(right)")
    try terminal.expect("Approved.")
    #expect(try await status(third, at: server) == "approved")
    let fourth = try await send("Pick another one", "--kind", "challenge", by: server)
    try terminal.answer("  | Pick another one", "approve")
    // A wrong number is not sent and does not end the prompt.
    try terminal.answer("The number that the sign-in shows, of ", "1000")
    try terminal.expect("That is not one of them; nothing was sent.")
    #expect(try await status(fourth, at: server) == "pending")
    let offered = try await listed(device).first?.array("numbers") ?? []
    let wrong = try #require(offered.first { $0 != fourth["number"] })
    try terminal.answer(
      "The number that the sign-in shows, of ", JSONValue.array([wrong]).text.filter(\.isNumber))
    try terminal.answer("No try is left: the message is denied.", "\u{4}", newline: false)
    let ended = try await terminal.end()
    #expect(ended.status == 0 && !ended.shown.contains("elsewhere"), "\(ended.shown)")
    #expect(try await status(fourth, at: server) == "denied")
    await server.stop()
  }

  /// The messages that another process lists, the newest first.
  private func listed(_ device: InstalledSignet) async throws -> [JSONObject] {
    try await device.json("message", "list").array("messages").compactMap {
      if case .object(let object) = $0 { object } else { nil }
    }
  }

  @Test("a shown request can be answered at another terminal; an ended one is listed as ended")
  func anotherTerminal() async throws {
    let (server, device) = try await app()
    var command = try device.process(["listen", "--json", "--no-notify"])
    (command.output, command.errorOutput) = (.pipe, .pipe)
    let process = try command.start()
    defer { process.send(SIGTERM) }
    #expect(await process.errorOutput.firstLine() == "Listening; Ctrl-C ends it.")
    let first = try await send("Log in?", by: server)
    let shown = try JSONObject(parsing: Array(#require(await process.output.firstLine()).utf8))
    let id = try shown.string("id")
    let other = device
    #expect(try await other.json("message", "show", id).string("status") == "pending")
    let approved = try await other.run("message", "approve", id)
    #expect(approved.status == 0 && approved.output == "Approved.\n", approved.summary)
    #expect(try await status(first, at: server) == "approved")
    let answered = try JSONObject(parsing: Array(#require(await process.output.firstLine()).utf8))
    #expect(answered == ["kind": "message", "id": .string(id), "ended": "answered"])
    let second = try await send("Log in again?", by: server)
    let again = try JSONObject(parsing: Array(#require(await process.output.firstLine()).utf8))
    try await withdraw(second.string("transaction"), at: server)
    let ended = try JSONObject(parsing: Array(#require(await process.output.firstLine()).utf8))
    #expect(try ended["id"] == again["id"] && ended.string("ended") == "withdrawn")
    #expect(try await listed(other).map { try $0.string("status") } == ["ended", "approved"])
    let late = try await other.run("message", "approve", again.string("id"))
    #expect(late.isRefusal(1, "the request has ended"), late.summary)
    process.send(SIGTERM)
    _ = await process.status()
    // Without a listener, the answering command asks the server itself.
    let third = try await send("Pick the number", "--kind", "challenge", by: server)
    let slip = try await other.run("message", "approve", "--number", "1000")
    #expect(slip.isRefusal(64, "not one of those that the message offers"), slip.summary)
    #expect(try await status(third, at: server) == "pending")
    let number = try await other.run("message", "approve", "--number", "\(third.integer("number"))")
    #expect(number.status == 0, number.summary)
    #expect(try await status(third, at: server) == "approved")
    await server.stop()
  }

  @Test("a container and an app report a suspension, its effects and its end alike")
  func suspensions() async throws {
    let (server, device) = try await app()
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("bob"), passwords: [Self.password])
    for (user, text) in [("alice", "Log in, Alice?"), ("bob", "Pay 2 EUR")] {
      let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
      try terminal.expect("Listening; Ctrl-C ends it.")
      if user == "alice" {
        _ = try await send(text, by: server)
      } else {
        _ = try await server.ask(user, text)
      }
      try terminal.expect("  | \(text)")
      _ = try await server.json("user", "suspend", user, "--reason", "on leave")
      try terminal.expect("; the server is asked again until that changes")
      try terminal.expect("Request 1 was cancelled or withdrawn.")
      _ = try await server.json("user", "resume", user)
      try terminal.answer("the suspension or the lock has ended", "\u{4}", newline: false)
      #expect(try await terminal.end().status == 0)
    }
    await server.stop()
  }

  @Test("a command reports that an operator removed the app, and nothing of it is pending")
  func removedApp() async throws {
    let (server, device) = try await app()
    _ = try await send("Log in?", by: server)
    #expect(try await listed(device).map { try $0.string("status") } == ["pending"])
    let apps = try await server.json("app", "list", "alice").array("authenticators")
    guard case .object(let app)? = apps.first else { throw JSONFailure.missingMember("authenticators") }
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.expect("  | Log in?")
    _ = try await server.json("app", "remove", app.string("id"))
    try terminal.expect("Request 1 has ended.")
    try terminal.expect("the server does not know this account any more")
    #expect(try await terminal.end().status == 76)
    let list = try await device.run("message", "list", "--json")
    let known = try JSONObject(parsing: Array(list.output.utf8))
    guard case .object(let message)? = try known.array("messages").first,
      case .object(let failed)? = try known.array("notAsked").first
    else { throw JSONFailure.missingMember("messages") }
    #expect(
      list.status == 76 && list.errorOutput.contains("does not know this account any more"), list.summary)
    #expect(try message.string("status") == "ended" && failed.string("issuer") == "Bank")
    let approved = try await device.run("message", "approve")
    #expect(approved.isRefusal(76, "no message is known that waits; not every server"), approved.summary)
    await server.stop()
  }

  @Test("an unreachable server is not reported as having nothing pending")
  func unreachable() async throws {
    let (server, device) = try await app()
    await server.stop()
    for words in [["list"], ["list", "--pending"]] {
      let listed = try await device.run(["message"] + words)
      #expect(
        listed.isRefusal(69, "No message is known here; not every server could be asked."), listed.summary)
      #expect(!listed.errorOutput.contains("No message waits"), listed.summary)
    }
    let json = try await device.run("message", "list", "--json")
    let object = try JSONObject(parsing: Array(json.output.utf8))
    #expect(try json.status == 69 && object.array("notAsked").count == 1, json.summary)
    #expect(try object.array("messages").isEmpty)
    let denied = try await device.run("message", "deny")
    #expect(denied.isRefusal(69, "not every server could be asked"), denied.summary)
  }

  @Test("without a terminal a challenge is shown with its numbers and a warning about wrong ones")
  func numbersWithoutATerminal() async throws {
    let (server, device) = try await app()
    let made = try await send("Pick the number", "--kind", "challenge", by: server)
    let right = try made.integer("number")
    let shown = try await device.run("listen", "--once", "--no-notify")
    let line = shown.output.split(separator: "\n").first { $0.hasPrefix("Message ") }
    #expect(
      line?.contains(": the sign-in shows one of ") == true && line?.contains(" \(right)") == true,
      shown.summary)
    let unnumbered = try await device.run("message", "approve")
    #expect(unnumbered.isRefusal(64, "A wrong number may deny the message"), unnumbered.summary)
    await server.stop()
  }

  @Test("an imported app gets transactions, and shows withdrawals and expiries")
  func appTransactions() async throws {
    let (server, device) = try await app()
    let terminal = try ControllingTerminal(device, ["listen", "--no-notify"])
    try terminal.expect("Listening; Ctrl-C ends it.")
    let answered = "urn:signet:acr:answered"
    let first = try await server.ask("alice", "Pay 1 EUR", requiring: answered)
    try terminal.answer("  | Pay 1 EUR", "approve 1")
    try terminal.expect("Approved.")
    let accepted = try await server.transaction(first)
    #expect(try accepted.string("status") == "accepted" && accepted.contains("app"))
    // Only the server that has the app's key can verify its answer.
    let file = try server.write(accepted.text, to: "answer.json")
    let words = ["transaction", "verify", file]
    let elsewhere = try await ServerCommand.run(words)
    #expect(
      elsewhere.status == 1 && elsewhere.errorOutput.contains("only the app and the server"),
      elsewhere.summary)
    let here = try await ServerCommand.run(words + ["--data", server.data])
    #expect(here.status == 0 && here.output.contains("to the server alone"), here.summary)
    let json = try await ServerCommand.run(words + ["--data", server.data, "--json"])
    #expect(json.status == 0 && json.output.contains("\"provesToOthers\": false"), json.summary)
    let second = try await server.ask("alice", "Pay 2 EUR", requiring: answered)
    try terminal.expect("  | Pay 2 EUR")
    try await withdraw(second, at: server)
    try terminal.expect("Request 2 was cancelled or withdrawn.")
    _ = try await send("Log in?", "--lifetime", "10s", by: server)
    try terminal.expect("  | Log in?")
    try terminal.answer("Request 3 has expired.", "\u{4}", newline: false)
    #expect(try await terminal.end().status == 0)
    await server.stop()
  }
}
