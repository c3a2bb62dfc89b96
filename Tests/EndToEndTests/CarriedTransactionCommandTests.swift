import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// Transactions that are scanned, begun on the device, or answered without a network, with the commands.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CarriedTransactionCommandTests {
  @Test("the user who scans and approves an offer becomes its user; one of several containers is chosen")
  func anybody() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    for user in ["alice", "bob"] {
      _ = try await device.json("activate", "--code-file", server.codeFile(user))
    }
    let picture = "\(server.folder.path)/offer.png"
    let offer = try await server.json(
      "transaction", "offer", "Sign in", "--png", picture, "--place", "Bern", "--key-file", server.shopKey)
    let (id, link) = (try offer.string("id"), try offer.string("link"))
    let several = try await device.run("approve", link, "--yes")
    #expect(several.status == 65 && several.errorOutput.contains("alice, bob"), several.summary)
    let both = try await device.run("approve", "--qr", picture, "AAAAAAAAAAAAAAAAAAAAAA", "--yes")
    #expect(both.isRefusal(64, "--qr excludes an id"), both.summary)
    for chosen in [[], ["--container", "bob"]] as [[String]] {
      let unnamed = try await device.run(["approve", id, "--yes"] + chosen)
      #expect(unnamed.isRefusal(65, "the transaction is for any user; give its link"), unnamed.summary)
    }
    _ = try await device.json("approve", "--qr", picture, "--yes", "--container", "bob")
    let found = try await server.transaction(id)
    #expect(try found.string("user") == "bob" && found.string("status") == "accepted")
    let late = try await device.run("approve", link, "--yes", "--container", "alice")
    #expect(late.status == 65, late.summary)
    let garbage = try await device.run("approve", "signet:nonsense", "--yes")
    #expect(garbage.status == 65 && garbage.errorOutput.contains("not a complete link"), garbage.summary)
    let twice = try await server.run(
      "transaction", "offer", "Sign in", "--png", picture, "--key-file", server.shopKey)
    #expect(twice.isRefusal(73, "\(picture) exists already; remove it, or name another file with --png"))
    await server.stop()
  }

  @Test("a text signed unasked is listed and verified like a decision")
  func initiated() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let signed = try await device.json("initiate", "Block my card", "--yes")
    _ = try await device.json("initiate", "And the other one", "--yes")
    let id = try signed.string("id")
    let list = try await server.json("transaction", "initiated", "alice", "--key-file", server.shopKey)
    let all = try list.array("transactions")
    #expect(all.count == 2)
    guard case .object(let first)? = all.first else { throw JSONFailure.notAnObject }
    #expect(try first.string("id") == id && first.string("initiated") == "device")
    #expect(try first.string("content") == #"{"initiated":"device","text":"Block my card"}"#)
    let file = try server.write(first.text, to: "first.json")
    let verified = try await ServerCommand.run("transaction", "verify", file)
    #expect(verified.status == 0, verified.summary)
    let rest = try await server.json(
      "transaction", "initiated", "alice", "--after", id, "--key-file", server.shopKey)
    #expect(try rest.array("transactions").count == 1)
    let other = try await server.run(
      "transaction", "initiated", "alice", "--after", "AAAAAAAAAAAAAAAAAAAAAA", "--key-file", server.shopKey)
    #expect(other.isRefusal(67, "The user has no transaction of this id"), other.summary)
    let mistyped = try await server.run("transaction", "initiated", "alcie", "--key-file", server.shopKey)
    #expect(mistyped.isRefusal(67, "There is no user \"alcie\""), mistyped.summary)
    await server.stop()
  }

  @Test("a device that sends too many unasked transactions must wait, and the server stores no more")
  func initiatedTooOften() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"]) {
      $1["limits"] = ["initiatedTransactions": 2]
    }
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    for text in ["one", "two"] { _ = try await device.json("initiate", text, "--yes") }
    for text in ["three", "four"] {
      let refused = try await device.run("initiate", text, "--yes")
      #expect(refused.status != 0 && refused.errorOutput.contains("within an hour"), refused.summary)
    }
    let list = try await server.json("transaction", "initiated", "alice", "--key-file", server.shopKey)
    #expect(try list.array("transactions").count == 2)
    #expect(server.events.components(separatedBy: "\"status\":\"429\"").count == 3)
    await server.stop()
  }

  @Test("eight digits approve a request carried by a picture to an offline device")
  func offline() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let id = try await server.ask("alice", "Pay 250.00 EUR to Jane Doe")
    let picture = "\(server.folder.path)/offline.png"
    let carried = try await server.json(
      "transaction", "offline", id, "--png", picture, "--key-file", server.shopKey)
    let text = try server.write(carried.string("text"), to: "offline.txt")
    var answers: Set<String> = []
    for path in [picture, text] {
      let shown = try await device.run("approve", "--offline", path, "--yes")
      #expect(shown.status == 0 && shown.errorOutput.contains("| Pay 250.00 EUR to Jane Doe"), shown.summary)
      answers.insert(shown.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }
    #expect(answers.count == 1)
    for extra in [
      ["--qr", picture], ["--number", "12"], ["--container", "alice"], ["--typed", "12345678"],
      ["--value", "250 EUR"], [id],
    ] {
      let mixed = try await device.run(["approve", "--offline", text, "--yes"] + extra)
      #expect(mixed.isRefusal(64, "--offline"), mixed.summary)
    }
    let digits = try #require(answers.first)
    let wrong = try await server.run(
      "transaction", "answer", id, digits == "00000000" ? "1" : "00000000", "--key-file", server.shopKey)
    #expect(wrong.status == 1 && wrong.errorOutput.contains("answer is wrong"), wrong.summary)
    #expect(!wrong.errorOutput.contains("--typed"), wrong.summary)
    let refusal = try await server.run(
      "transaction", "answer", id, "1", "--json", "--key-file", server.shopKey)
    #expect(refusal.status == 1 && refusal.errorOutput.isEmpty, refusal.summary)
    let said = try JSONObject(parsing: Array(refusal.output.utf8))
    #expect(try said.string("id") == id && said.string("status") == "refused", refusal.summary)
    #expect(try said.string("problem") == "transaction.wrongAnswer", refusal.summary)
    _ = try await server.json("transaction", "answer", id, digits, "--key-file", server.shopKey)
    let found = try await server.transaction(id)
    #expect(try found.string("status") == "accepted")
    #expect(try found.object("decision").optionalBool("offline") == true)
    // A text that was changed on the way does not verify.
    let changed = try carried.string("text").replacing("A", with: "B")
    let refused = try await device.run("approve", "--offline", server.write(changed, to: "changed"), "--yes")
    #expect(refused.status != 0 && refused.output.isEmpty, refused.summary)
    await server.stop()
  }

  @Test("typed digits and values approve a form on a device that never receives it")
  func typed() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let form = try server.write(
      """
      {"template":"payment","fields":[{"type":"amount","value":"250.00","currency":"EUR"},
      {"type":"payee","name":"Jane Doe","account":"DE02 1203 0000"},{"type":"text","label":"For","value":"Rent"}]}
      """, to: "form.json")
    let made = try await server.json(
      "transaction", "create", "alice", "--form", form, "--typed", "--typed-field", "0", "--typed-field", "1",
      "--key-file", server.shopKey)
    let id = try made.string("id")
    let asked = try await server.json("transaction", "typed", id, "--key-file", server.shopKey)
    let challenge = try asked.string("challenge")
    #expect(try asked.array("fields") == [.integer(0), .integer(1)])
    func approve(_ values: String...) async throws -> ServerCommand.Result {
      try await device.run(
        ["approve", "--typed", challenge, "--yes"] + values.flatMap { ["--value", $0] })
    }
    let shown = try await approve("250,00 eur", "de0212030000")
    #expect(shown.status == 0 && shown.errorOutput.contains("| 250EUR\n  | DE0212030000\n"), shown.summary)
    #expect(shown.errorOutput.contains("This device knows nothing else, such as who asks."), shown.summary)
    let bare = try await approve()
    #expect(bare.errorOutput.contains("This device does not know who asks, and for what"), bare.summary)
    for (digits, why) in [
      (bare, "values left out"), (try await approve("2500 EUR", "DE0212030000"), "another"),
    ] {
      let wrong = try await server.run(
        "transaction", "answer", id, digits.output.trimmingCharacters(in: .whitespacesAndNewlines), "--typed",
        "--client", "192.0.2.1", "--key-file", server.shopKey)
      #expect(wrong.status == 1 && wrong.errorOutput.contains("answer is wrong"), "\(why): \(wrong.summary)")
    }
    for (words, reason) in [
      (["1234567"], "has 8 digits"), (["123456789"], "has 9 digits"),
      ([challenge, "--value", "1.250"], "value 1"),
    ] {
      let refused = try await device.run(["approve", "--yes", "--typed"] + words)
      #expect(refused.status == 65 && refused.errorOutput.contains(reason), refused.summary)
      #expect(refused.output.isEmpty)
    }
    for extra in [["--qr", form], ["--number", "12"], [id]] {
      let mixed = try await device.run(["approve", "--typed", challenge, "--yes"] + extra)
      #expect(mixed.isRefusal(64, "--typed"), mixed.summary)
    }
    let short = try await device.run("approve", id, "--number", "1", "--yes")
    #expect(short.isRefusal(64, "--number has 2 to 6 digits"), short.summary)
    let alone = try await device.run("approve", id, "--value", "250 EUR", "--yes")
    #expect(alone.isRefusal(64, "--value requires --typed"), alone.summary)
    let right = shown.output.trimmingCharacters(in: .whitespacesAndNewlines)
    let unsaid = try await server.run("transaction", "answer", id, right, "--key-file", server.shopKey)
    #expect(unsaid.isRefusal(1, "add --typed."), unsaid.summary)
    _ = try await server.json("transaction", "answer", id, right, "--typed", "--key-file", server.shopKey)
    let found = try await server.transaction(id)
    #expect(try found.string("status") == "accepted")
    #expect(try found.object("decision").optionalBool("typed") == true)
    // A typed approval needs a request that allows it.
    let plain = try await server.ask("alice", "Pay 1 EUR")
    let unwanted = try await server.run("transaction", "typed", plain, "--key-file", server.shopKey)
    #expect(unwanted.status == 65 && unwanted.errorOutput.contains("typed"), unwanted.summary)
    await server.stop()
  }
}
