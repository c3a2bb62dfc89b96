import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import Testing

/// Messages of a client, encoded and decoded by the endpoints' definitions.
@Suite(.timeLimit(.minutes(10))) struct EndpointMessageTests {
  @Test("an endpoint's body is parsed as its message")
  func body() throws {
    let content = API.addKey.content(NewAPIKey(name: "shop", displayName: nil, scopes: [.relyingParty]))
    #expect(content.query.isEmpty)
    let json = try JSONObject(parsing: content.body)
    #expect(json == ["name": "shop", "scopes": ["relying-party"]])
    #expect(try NewAPIKey(json).scopes == [.relyingParty])
  }

  @Test("a query has exactly the given texts")
  func query() {
    let content = API.listTransactions.content(
      TransactionQuery(user: "alice", status: .pending, before: nil, limit: 7))
    #expect(content.body.isEmpty)
    #expect(content.query.map { "\($0.name)=\($0.value)" } == ["user=alice", "status=pending", "limit=7"])
    #expect(API.withdrawTransaction.content(WithdrawalQuery(reason: nil)).query.isEmpty)
  }

  @Test("encoding content for an endpoint that no client calls ends the process")
  func unwritten() async {
    await #expect(processExitsWith: .failure) { _ = API.receiveReceipt.content([]) }
  }

  private static let user: JSONObject = [
    "user": "alice", "subject": "~s", "created": 1, "state": "active", "since": 2,
  ]

  @Test("unknown members are ignored")
  func unknownMembers() throws {
    var user = Self.user
    user["colour"] = "red"
    let list = try API.listUsers.message(in: ["users": [.object(user)], "more": true])
    #expect(list.users.map(\.user) == ["alice"] && list.users.first?.state == .active)
  }

  @Test("a missing member, one of another type and an unknown state are refused by their paths")
  func otherVersions() throws {
    var user = Self.user
    user["subject"] = nil
    #expect(throws: JSONFailure.missingMember("users[1].subject")) {
      try API.listUsers.message(in: ["users": [.object(Self.user), .object(user)]])
    }
    user = Self.user
    user["since"] = "today"
    #expect(throws: JSONFailure.wrongType(member: "users[0].since", expected: .integer)) {
      try API.listUsers.message(in: ["users": [.object(user)]])
    }
    user = Self.user
    user["state"] = "frozen"
    let states = UserRecord.State.allCases.map(\.rawValue)
    #expect(throws: ShapeFailure.choice(member: "users[0].state", allowed: states)) {
      try API.listUsers.message(in: ["users": [.object(user)]])
    }
  }

  @Test("an answer with a fixed state is read with that state only")
  func oneState() throws {
    #expect(try API.withdrawTransaction.message(in: ["id": "t", "status": "withdrawn"]) == "t")
    #expect(throws: ShapeFailure.choice(member: "status", allowed: ["withdrawn"])) {
      try API.withdrawTransaction.message(in: ["id": "t", "status": "pending"])
    }
    #expect(try API.validateCode.message(in: ["valid": true]).isAccepted)
    let waiting = try API.validateCode.message(in: ["valid": false, "reason": "waiting", "retryAfter": 9])
    #expect(!waiting.isAccepted && waiting.reason == .waiting && waiting.retryAfter == 9)
  }

  @Test("a list with a row outside of the described limits is read")
  func alteredRow() throws {
    let token: JSONObject = [
      "serial": "HT-1", "kind": "totp", "algorithm": "none", "digits": 99, "state": "altered",
      "failures": -1, "created": 0, "period": 0, "counter": -1,
    ]
    let list = try API.listTokens.message(in: ["tokens": [.object(token)]])
    #expect(list.tokens.map(\.state) == [.altered] && list.tokens.first?.digits == 99)
    let key: JSONObject = ["id": "a b", "name": "shop", "scopes": [], "created": 0, "altered": true]
    #expect(try API.listKeys.message(in: ["keys": [.object(key)]]).keys.map(\.id.text) == ["a b"])
  }

  @Test("an ill-formed id is rejected with the name of its member", arguments: ["", "a b", "ä", "../k"])
  func illFormedID(_ id: String) throws {
    let form = "must have 1 to 64 characters from A-Z a-z 0-9 _ -"
    #expect(throws: Problem(.malformed, "\"mechanism\" \(form)")) {
      try NewPushMessage(["mechanism": .string(id)])
    }
    #expect(throws: Problem(.malformed, "\"before\" \(form)")) {
      try TransactionQuery(["before": .string(id)])
    }
    #expect(throws: Problem(.malformed, "\"after\" \(form)")) {
      try InitiatedQuery(["initiated": "device", "user": "alice", "after": .string(id)])
    }
  }
}
