import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// A transaction that a UAF authenticator has answered, verified by `signet-server transaction verify` from the server's
/// evidence.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UAFEvidenceCommandTests {
  private func verify(_ words: String...) async throws -> ServerCommand.Result {
    try await ServerCommand.run(["transaction", "verify"] + words)
  }

  @Test("a UAF answer is verified without the server, and altered parts are named")
  func command() async throws {
    let party = try await UAFParty.start()
    let (server, device) = (party.server, party.device())
    let link = try await party.link("registration", ["username": "alice"])
    let registered = try await device.run(
      ["uaf", "oob", "run", link, "-a", "pin", "--device-name", "laptop"] + party.words, passwords: ["271828"]
    )
    try #require(registered.status == 0, registered.summary)
    let made = try await server.json(
      "transaction", "create", "alice", "Pay 20 EUR to Bob", "--key-file", server.shopKey)
    let id = try made.string("id")
    let waiting = try server.write(await server.transaction(id).text, to: "waiting.json")
    let none = try await verify(waiting)
    #expect(none.status == 1 && none.errorOutput.contains("no evidence of an answer"), none.summary)

    let asked = try await party.link("authentication", ["username": "alice", "transactionId": .string(id)])
    let confirmed = try await device.run(["uaf", "oob", "run", asked] + party.words, passwords: ["271828"])
    try #require(confirmed.status == 0, confirmed.summary)
    let answer = try await server.transaction(id)
    #expect(try answer.string("status") == "accepted" && answer.object("evidence").string("kind") == "uaf")
    let file = try server.write(answer.text, to: "answer.json")
    let content = try server.write(made.string("content") + "\n", to: "content.txt")
    let good = try await verify(file, "--content", content)
    #expect(good.status == 0 && good.output.contains("Pay 20 EUR to Bob"), good.summary)
    #expect(good.output.contains("to anybody: a key has confirmed this text"), good.summary)
    #expect(
      good.errorOutput.contains("--public-key") && good.errorOutput.contains("--server-key"), good.summary)
    let json = try await verify(file, "--json", "--data", server.data)
    try #require(json.status == 0, json.summary)
    let printed = try JSONObject(parsing: Array(json.output.utf8))
    #expect(try printed.string("kind") == "uaf" && printed.string("proof") == "signature")
    #expect(try !printed.bool("provesToOthers") && printed.string("user") == "alice")

    for (member, value) in [
      ("text", JSONValue.string("Pay 99 EUR to Bob")), ("fcParams", "e30"), ("challenge", "AAAAAAAAAAA"),
      ("statement", "a.b.c"),
    ] {
      var changed = answer
      var evidence = try answer.object("evidence")
      evidence[member] = value
      changed["evidence"] = .object(evidence)
      let refused = try await verify(server.write(changed.text, to: "changed.json"))
      #expect(refused.status == 1 && refused.errorOutput.contains("\"\(member)\""), refused.summary)
    }
    var later = answer
    var uaf = try answer.object("uaf")
    uaf["time"] = .integer(try uaf.integer("time") + 1)
    later["uaf"] = .object(uaf)
    let moved = try await verify(server.write(later.text, to: "later.json"))
    #expect(moved.status == 1 && moved.errorOutput.contains("\"time\""), moved.summary)
    let other = try server.write(#"{"from":"shop","text":"Pay"}"#, to: "other.txt")
    let wrong = try await verify(file, "--content", other)
    #expect(wrong.status == 1 && wrong.errorOutput.contains("another \"content\""), wrong.summary)
    await server.stop()
  }
}
