import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// `signet pending` on a device with several containers.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PendingCommandTests {
  private func owners(_ list: JSONObject) throws -> [String: String] {
    try list.array("transactions").reduce(into: [:]) { owners, value in
      guard case .object(let transaction) = value else { throw JSONFailure.notAnObject }
      let content = try TransactionContent(parsing: transaction.string("content"))
      guard case .text(let text) = content.body else { throw JSONFailure.missingMember("text") }
      owners[text] = try transaction.string("container")
    }
  }

  @Test("an empty list is success, and answering where nothing waits ends with 1")
  func nothingWaits() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    for words in [["pending"], ["message", "list"], ["message", "list", "--pending"]] {
      let list = try await device.run(words)
      #expect(list.status == 0 && list.output.isEmpty, list.summary)
    }
    for word in ["approve", "deny", "report", "cancel"] {
      let answer = try await device.run(word)
      #expect(answer.isRefusal(1, "nothing waits for a decision"), answer.summary)
    }
    for word in ["approve", "deny"] {
      let answer = try await device.run("message", word)
      #expect(answer.isRefusal(1, "no message waits"), answer.summary)
    }
    await server.stop()
  }

  @Test("lists pending requests for all containers, and for a named one")
  func severalContainers() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    var ids: [String: String] = [:]
    for user in ["alice", "bob"] {
      ids[user] = try await device.json("activate", "--code-file", server.codeFile(user)).string("id")
      _ = try await server.ask(user, "Pay for \(user)")
    }
    let all = try await device.json("pending")
    #expect(try owners(all) == ["Pay for alice": ids["alice"], "Pay for bob": ids["bob"]])
    #expect(try owners(await device.json("pending", "--container", "bob")) == ["Pay for bob": ids["bob"]])
    let text = try await device.run("pending")
    #expect(text.status == 0, text.summary)
    for user in ["alice", "bob"] {
      let name =
        "\(ids[user]?.prefix(8) ?? "none")  \(user) at \(server.url)\n  from    shop\n  | Pay for \(user)\n"
      #expect(text.output.contains(name), text.summary)
    }
    let one = try await device.run("pending", "--container", "alice")
    #expect(!one.output.contains("alice at") && one.output.contains("  | Pay for alice\n"), one.summary)

    // The ID selects the container to which the transaction was sent.
    for (user, word) in [("bob", "deny"), ("alice", "cancel")] {
      let id = try await server.ask(user, "Decide, \(user)")
      let chosen =
        word == "deny" ? try await device.json(word, id, "--yes") : try await device.json(word, id)
      #expect(try chosen.string("id") == id)
      #expect(try await server.transaction(id).string("user") == user)
      #expect(try await server.transaction(id).string("status") != "pending")
      let late = try await device.run("approve", id, "--yes")
      let end = word == "deny" ? "is already decided" : "was cancelled, or withdrawn"
      #expect(late.isRefusal(1, end), late.summary)
    }
    let unknown = try await device.run("approve", "AAAAAAAAAAAAAAAAAAAAAA", "--yes")
    #expect(unknown.isRefusal(65, "no such transaction; 'signet pending'"), unknown.summary)
    let unnamed = try await device.run("approve", "--yes")
    #expect(unnamed.isRefusal(64, "--container"), unnamed.summary)

    // A container that the server rejects does not hide the others.
    let bobs = try #require(try await server.activeContainers("bob").first)
    #expect(try await server.run("container", "revoke", bobs).status == 0)
    let rest = try await device.run("pending", "--json")
    #expect(rest.status == 76 && rest.output.contains("Pay for alice"), rest.summary)
    #expect(!rest.output.contains("Pay for bob"), rest.summary)
    #expect(
      rest.errorOutput.contains("signet: bob at \(server.url): the server does not know this container"),
      rest.summary)
    let alices = try await server.ask("alice", "Still there")
    #expect(try await device.json("deny", alices, "--yes").string("status") == "denied")
    let hidden = try await device.run("deny", "AAAAAAAAAAAAAAAAAAAAAA", "--yes")
    #expect(hidden.status == 76, hidden.summary)
    await server.stop()
  }
}
