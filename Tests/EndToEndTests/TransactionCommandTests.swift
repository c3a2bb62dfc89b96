import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// Transactions by the commands: requests of a relying party, and the users' reactions.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TransactionCommandTests {
  private func started() async throws -> (RunningServer, InstalledSignet) {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    return (server, device)
  }

  @Test("a report, a cancellation and a withdrawal are final on both sides")
  func lifeCycle() async throws {
    let (server, device) = try await started()
    let reported = try await server.ask("alice", "Pay 1 EUR")
    #expect(try await device.json("report", "--yes").string("status") == "reported")
    #expect(try await server.transaction(reported).string("status") == "reported")
    _ = try await server.json("user", "unlock", "alice")

    let cancelled = try await server.ask("alice", "Pay 2 EUR")
    let said = try await device.json("cancel", "--suspicious", "--message", "Who is that?")
    #expect(try said.string("status") == "cancelled" && said.string("id") == cancelled)
    let found = try await server.transaction(cancelled)
    #expect(try found.string("status") == "cancelled" && !found.contains("decision"))
    #expect(try found.object("end").string("reason") == "notifySuspicious")
    #expect(try found.object("end").string("message") == "Who is that?")
    let refused = try await server.run(
      "transaction", "withdraw", cancelled, "--key-file", server.shopKey)
    #expect(refused.status == 1 && refused.errorOutput.contains("cancelled or withdrawn"), refused.summary)
    _ = try await server.json("user", "unlock", "alice")

    let withdrawn = try await server.ask("alice", "Pay 3 EUR")
    _ = try await server.json(
      "transaction", "withdraw", withdrawn, "--reason", "no more stock & closed", "--key-file", server.shopKey
    )
    let end = try await server.transaction(withdrawn).object("end")
    #expect(try end.string("reason") == "no more stock & closed")
    // As after a link, or if the transaction ends while it is shown.
    for (id, words) in [
      (reported, "is already decided"), (cancelled, "was cancelled, or withdrawn"),
      (withdrawn, "was cancelled, or withdrawn"),
    ] {
      let late = try await device.run("approve", id, "--yes")
      #expect(late.isRefusal(1, words), late.summary)
    }
    for id in ["AAAAAAAAAAAAAAAAAAAAAA", "no id"] {
      let unknown = try await device.run("approve", id, "--yes")
      #expect(unknown.isRefusal(65, "no such transaction; 'signet pending'"), unknown.summary)
    }
    await server.stop()
  }

  @Test("a form is shown with all its fields and the requester, in the environment's language")
  func form() async throws {
    let (server, device) = try await started()
    let path = try server.write(
      #"{"template":"payment","fields":[{"type":"amount","value":"250.00","currency":"EUR"},"#
        + #"{"type":"payee","name":"Jane Doe"},{"type":"text","label":"Note","value":"a\nAmount: 1.00 EUR"}]}"#,
      to: "form.json")
    let made = try await server.json(
      "transaction", "create", "alice", "--form", path, "--place", "Bern", "--key-file", server.shopKey)
    let shown = try await device.run("pending")
    #expect(
      shown.output.contains(
        """
          from    shop
          | Payment
          | Amount: 250.00 EUR
          | Payee: Jane Doe
          | Note:
          |       a
          |       Amount: 1.00 EUR
          seen    Place: Bern
        """), shown.summary)
    var germanDevice = device
    germanDevice.locale = "de_DE.UTF-8"
    let german = try await germanDevice.run("pending")
    #expect(german.output.contains("  | Zahlung\n  | Betrag: 250.00 EUR\n"), german.summary)
    _ = try await device.json("approve", "--yes")
    let id = try made.string("id")
    let found = try await server.transaction(id)
    try SignedDecisionCheck.expectAccepted(found)
    #expect(try found.string("content") == made.string("content"))
    let neither = try await server.run("transaction", "create", "alice", "--key-file", server.shopKey)
    #expect(neither.status == 64, neither.summary)
    await server.stop()
  }

  @Test("a wrapped value is indented, so that no row resembles another field")
  func longValues() async throws {
    let (server, device) = try await started()
    let (spaces, bar) = (String(repeating: " ", count: 60), "  | Amount: 5.00 EUR")
    let name = "Jane Doe" + spaces + bar + spaces + bar
    let path = try server.write(
      #"{"template":"payment","fields":[{"type":"amount","value":"250.00","currency":"EUR"},"#
        + #"{"type":"payee","name":"\#(name)"}]}"#, to: "form.json")
    _ = try await server.json(
      "transaction", "create", "alice", "--form", path, "--browser", "x" + spaces + spaces + "  as      bob",
      "--key-file", server.shopKey)
    let shown = try await device.run("pending")
    let rows = shown.output.split(separator: "\n").dropFirst()
    #expect(rows.allSatisfy { $0.count < 80 }, shown.summary)
    #expect(rows.count { $0.hasPrefix("  | Amount:") } == 1, shown.summary)
    #expect(!rows.contains { $0.hasPrefix("  as") }, shown.summary)
    let known = ["  from    ", "  | ", "  seen    ", "          "]
    #expect(rows.allSatisfy { row in known.contains { row.hasPrefix($0) } }, shown.summary)
    await server.stop()
  }

  @Test("the relying party's number is typed at the terminal or given as an option")
  func number() async throws {
    let (server, device) = try await started()
    func ask() async throws -> (id: String, number: String) {
      let made = try await server.json(
        "transaction", "create", "alice", "Sign in", "--number", "3", "--key-file", server.shopKey)
      return (try made.string("id"), try made.string("number"))
    }
    let first = try await ask()
    let missing = try await device.run("approve", "--yes")
    #expect(missing.status == 64 && missing.errorOutput.contains("--number"), missing.summary)
    let wrong = try await device.run("approve", "--yes", "--number", first.number == "000" ? "001" : "000")
    #expect(wrong.status == 77 && wrong.errorOutput.contains("shows. Tries left: 2."), wrong.summary)
    let long = try await device.run("approve", "--yes", "--number", "1234")
    #expect(long.status == 64 && long.errorOutput.contains("3 digits"), long.summary)
    _ = try await device.json("approve", "--yes", "--number", first.number)
    try SignedDecisionCheck.expectAccepted(await server.transaction(first.id))
    let second = try await ask()
    let typed = try ControllingTerminal(device, ["approve", "--yes"])
    try typed.answer("The 3 digits that the other side shows: ", second.number)
    #expect(try await typed.end().status == 0)
    try SignedDecisionCheck.expectAccepted(await server.transaction(second.id))
    // A denial needs no number.
    let third = try await ask()
    _ = try await device.json("deny", "--yes")
    #expect(try await server.transaction(third.id).string("status") == "denied")
    await server.stop()
  }

  @Test("at a terminal the user chooses one of the pending transactions")
  func choosesAtTheTerminal() async throws {
    let (server, device) = try await started()
    let first = try await server.ask("alice", "Pay 1 EUR")
    let second = try await server.ask("alice", "Pay 2 EUR")
    let many = try await device.run("approve", "--yes")
    #expect(many.status == 64 && many.errorOutput.contains("2 transactions wait"), many.summary)
    let none = try ControllingTerminal(device, ["approve"])
    try none.expect("| Pay 1 EUR")
    try none.expect("| Pay 2 EUR")
    try none.answer("Which one? [1-2] ", "")
    #expect(try await none.end().status == 1)
    let chosen = try ControllingTerminal(device, ["approve"])
    try chosen.answer("Which one? [1-2] ", "2")
    try chosen.expect("You are about to approve:")
    try chosen.answer("Sign this? [y/N] ", "y")
    #expect(try await chosen.end().status == 0)
    #expect(try await server.transaction(first).string("status") == "pending")
    try SignedDecisionCheck.expectAccepted(await server.transaction(second))
    await server.stop()
  }
}
