import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// `signet-server transaction list`: the transactions of all relying parties.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TransactionListCommandTests {
  @Test("lists the newest first, by user and status, with the operator's key only")
  func list() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    for user in ["alice", "bob"] {
      _ = try await device.json("activate", "--code-file", server.codeFile(user))
    }
    var ids: [String] = []
    for (user, text) in [("alice", "one"), ("bob", "two"), ("alice", "three")] {
      ids.append(try await server.ask(user, text))
    }
    _ = try await device.json("deny", ids[0], "--yes")
    func listed(_ words: String...) async throws -> [String] {
      let result = try await ServerCommand.process(
        ["transaction", "list", "--json", "--data", server.data] + words
      ).finish()
      try #require(result.status == 0, result.summary)
      return try JSONObject(parsing: Array(result.output.utf8)).array("transactions").compactMap {
        guard case .object(let object) = $0 else { return nil }
        #expect(!object.contains("decision") && !object.contains("end"))
        return try object.string("id")
      }
    }
    #expect(try await listed() == ids.reversed())
    #expect(try await listed("--limit", "2") == [ids[2], ids[1]])
    #expect(try await listed("--user", "alice") == [ids[2], ids[0]])
    #expect(try await listed("--status", "denied") == [ids[0]])
    #expect(try await listed("--user", "bob", "--status", "denied") == [])
    let text = try await server.run("transaction", "list", "--user", "alice")
    #expect(text.output.hasPrefix("TRANSACTION"), text.summary)
    #expect(
      text.output.contains("\(ids[0])  denied") && text.output.contains("\(ids[2])  pending"), text.summary)
    // A relying party must not see the requests of others.
    let shop = try await server.run("transaction", "list", "--key-file", server.shopKey)
    #expect(shop.isRefusal(77, "lacks the scope"), shop.summary)
    let unknown = try await server.run("transaction", "list", "--status", "lost")
    #expect(unknown.isRefusal(64, "--status must be one of"), unknown.summary)
    let mistyped = try await server.run("transaction", "list", "--user", "alcie")
    #expect(mistyped.isRefusal(67, "There is no user \"alcie\""), mistyped.summary)
    let missing = try await server.run("transaction", "show", "none", "--key-file", server.shopKey)
    #expect(missing.isRefusal(67, "'signet-server transaction list' shows what there is"), missing.summary)
    await server.stop()
  }

  @Test("a list of several pages is joined")
  func pages() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let party = try RelyingParty(server)
    for number in 1...205 { try await party.offer("offer \(number)") }
    let all = try await server.json("transaction", "list", "--limit", "1000").array("transactions")
    let contents = try all.map { value -> String in
      guard case .object(let object) = value else { return "" }
      #expect(!object.contains("user"))
      return try object.string("content")
    }
    #expect(contents.count == 205 && contents.first?.contains("offer 205") == true)
    #expect(contents.last?.contains("offer 1\"") == true)
    await server.stop()
  }
}
