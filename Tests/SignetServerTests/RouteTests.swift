import SignetHTTPClient
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTestKit
import Testing

/// The endpoints' answers over HTTPS, for all callers.
@Suite(.timeLimit(.minutes(10))) struct RouteTests {
  private struct Running {
    let folder = try? TemporaryFolder()
    let server: TestServer
    let transport: CurlTransport
    let described: DescribedAPI

    init() async throws {
      let folder = try #require(folder)
      server = try await TestServer(
        directory: folder.path, protection: .device, derivation: .insecureForTests)
      transport = try CurlTransport(
        ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
      described = try DescribedAPI(server.endpoints, at: server.serverURL)
    }

    /// Sends a request, and validates the answer by the description.
    func send(
      _ method: HTTPMethod, _ path: String, _ body: String = "", key: String? = nil,
      type: String? = "application/json"
    ) async throws -> HTTPResponse {
      var headers: [(String, String)] = []
      if let type, [.post, .put].contains(method) { headers.append(("Content-Type", type)) }
      if let key { headers.append(("Authorization", "Bearer \(key)")) }
      let request = HTTPRequest(
        method: method, url: server.serverURL.fullForm + path, headers: headers, body: Array(body.utf8))
      let response = try await transport.send(request)
      try described.check(request, response)
      return response
    }

    func tamper(_ statement: String, _ values: SQLiteValue...) throws {
      try #require(folder).tamper(statement, values)
    }
  }

  private func expect(_ response: HTTPResponse, _ code: Problem.Code, _ what: String) throws {
    #expect(response.status == code.status, "\(what)")
    #expect(response.header("Content-Type") == "application/problem+json", "\(what)")
    #expect(response.header("Cache-Control") == "no-store", "\(what)")
    #expect(Problem(parsing: response.body)?.code == code, "\(what)")
    let object = try JSONObject(parsing: response.body)
    #expect(try object.integer("status") == Int64(code.status))
    #expect(try !object.string("title").isEmpty)
  }

  @Test func answersProblems() async throws {
    let running = try await Running()
    let key = try await APIKeyService(running.server.context).create(
      name: "ops", scopes: [.admin, .relyingParty], by: .local
    ).text
    func post(_ path: String, _ body: String, type: String? = "application/json") async throws -> HTTPResponse
    {
      try await running.send(.post, path, body, key: key, type: type)
    }
    #expect(try await running.send(.get, "/v1/live").status == 200)
    try expect(try await running.send(.get, "/v1/nothing"), .unknown, "no such path")
    try expect(try await running.send(.get, "/v2/live"), .unknown, "another version")
    let method = try await running.send(.delete, "/v1/live")
    try expect(method, .method, "another method")
    #expect(method.header("Allow")?.contains("GET") == true)
    for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
      try expect(try await post("/v1/admin/users", #"{"user":"a"}"#, type: type), .mediaType, type)
      try expect(try await post("/v1/activation/start", "{}", type: type), .mediaType, type)
    }
    for body in ["", "{", "[]", "{}", #"{"user":1}"#, #"{"user":"a","user":"b"}"#, #"{"user":""}"#] {
      try expect(try await post("/v1/admin/users", body), .malformed, body)
    }
    let large = #"{"user":""# + String(repeating: "a", count: 70_000) + "\"}"
    try expect(try await post("/v1/admin/users", large), .tooLarge, "64 KiB")
    #expect(
      try await post("/v1/admin/users", #"{"user":"alice"}"#, type: "Application/JSON; charset=utf-8").status
        == 201)
    try expect(try await post("/v1/admin/users", #"{"user":"alice"}"#), .exists, "a second alice")
    try expect(try await post("/v1/admin/activations", #"{"user":"bob"}"#), .unknown, "an invite for nobody")
    try expect(
      try await post("/v1/transactions", #"{"user":"alice","text":"a\u001b"}"#), .contentRefused, "a text")
    try expect(try await post("/v1/admin/keys", #"{"name":"x","scopes":["root"]}"#), .malformed, "a scope")
    for query in ["after=x", "after=-1", "limit=0", "limit=1001", "limit=x", "limit="] {
      try expect(try await running.send(.get, "/v1/admin/audit?\(query)", key: key), .malformed, query)
    }
    try expect(try await running.send(.get, "/v1/transactions/none", key: key), .unknown, "a transaction")
    try expect(
      try await running.send(.delete, "/v1/admin/containers/none", key: key), .unknown, "a container")
    try expect(
      try await running.send(.get, "/v1/admin/containers/none", key: key), .unknown, "no container")
    await running.server.stop()
  }

  @Test("a list of an unknown user is rejected; one of a user without entries is empty")
  func listsOfUnknownUsers() async throws {
    let running = try await Running()
    let key = try await APIKeyService(running.server.context).create(
      name: "ops", scopes: [.admin, .relyingParty], by: .local
    ).text
    try await UserService(running.server.context).add(UserID("alice"), by: .local)
    for (list, members) in [
      ("/v1/admin/tokens?", "tokens"), ("/v1/admin/transactions?", "transactions"),
      ("/v1/transactions?initiated=device&", "transactions"),
      ("/v1/admin/pushauth/mechanisms?", "authenticators"),
    ] {
      try expect(try await running.send(.get, "\(list)user=alcie", key: key), .unknown, list)
      let own = try await running.send(.get, "\(list)user=alice", key: key)
      #expect(try JSONObject(parsing: own.body).array(members).isEmpty, "\(list)")
    }
    await running.server.stop()
  }

  @Test(
    "operators rename users with one line of plain characters; unknown and altered users are refused")
  func namesUsers() async throws {
    let running = try await Running()
    let key = try await APIKeyService(running.server.context).create(
      name: "ops", scopes: [.admin], by: .local
    ).text
    let (users, name) = ("/v1/admin/users", "/v1/admin/users/alice/name")
    func displayName(_ path: String = "/v1/admin/users/alice") async throws -> String? {
      try JSONObject(parsing: await running.send(.get, path, key: key).body).optionalString("displayName")
    }
    let added = try await running.send(
      .post, users, #"{"user":"alice","displayName":"Alice Adams"}"#, key: key)
    #expect(added.status == 201)
    #expect(try await displayName() == "Alice Adams")
    let longest = String(repeating: "é", count: 128)
    for body in ["{\"displayName\":\"\(longest)\"}", "{}", #"{"displayName":"Alice 'B'; --"}"#] {
      let answer = try await running.send(.put, name, body, key: key)
      #expect(answer.status == 200, "\(body)")
      let answered = try JSONObject(parsing: answer.body)
      let asked = try JSONObject(parsing: Array(body.utf8)).optionalString("displayName")
      #expect(try answered.optionalString("displayName") == asked && answered.string("user") == "alice")
      #expect(try await displayName() == asked)
    }
    for refused in ["", "x\(longest)", #"a\nb"#, #"a\u001bb"#, #"a\u202eb"#] {
      for (method, path, more) in [(HTTPMethod.put, name, ""), (.post, users, #""user":"bob","#)] {
        try expect(
          try await running.send(method, path, "{\(more)\"displayName\":\"\(refused)\"}", key: key),
          .malformed,
          "\(path) \(refused.count)")
      }
    }
    #expect(try await displayName() == "Alice 'B'; --")
    let body = #"{"displayName":"x"}"#
    try expect(try await running.send(.put, "/v1/admin/users/bob/name", body, key: key), .unknown, "nobody")
    try expect(try await running.send(.put, name, body), .unauthorized, "without a key")
    try running.tamper("UPDATE users SET display_name = 'Mallory' WHERE id = 'alice'")
    try expect(try await running.send(.put, name, body, key: key), .userNotActive, "an altered row")
    #expect(try await displayName() == nil, "nobody knows whose the name in the row is")
    let suspended = try await running.send(.post, "/v1/admin/users/alice/suspend", "{}", key: key)
    #expect(suspended.status == 200)
    #expect(try await displayName() == nil)
    await running.server.stop()
  }

  @Test("a transaction names its requester by the operator's name for it, not the relying party's")
  func namesWhoAsks() async throws {
    let running = try await Running()
    let keys = APIKeyService(running.server.context)
    let admin = try await keys.create(name: "ops", scopes: [.admin], by: .local).text
    try await UserService(running.server.context).add(UserID("alice"), by: .local)
    try await running.server.context.activate("alice")
    func json(_ response: HTTPResponse) throws -> JSONObject { try JSONObject(parsing: response.body) }
    for (body, name) in [
      (#"{"name":"shop","scopes":["relying-party"]}"#, "shop"),
      (#"{"name":"bank","displayName":"Example Bank","scopes":["relying-party"]}"#, "Example Bank"),
    ] {
      let key = try json(try await running.send(.post, "/v1/admin/keys", body, key: admin)).string("key")
      let form = #"{"template":"t","fields":[{"type":"text","value":"x","label":"L"}]}"#
      let made = try json(
        try await running.send(
          .post, "/v1/transactions",
          #"{"user":"alice","from":"Evil","form":\#(form),"context":{"place":"Bern"},"number":{"digits":4}}"#,
          key: key))
      #expect(try made.string("number").count == 4)
      let content = try TransactionContent(parsing: made.string("content"))
      #expect(content.origin == .relyingParty(name) && content.context?.place == "Bern")
      let withdrawn = try await running.send(
        .delete, "/v1/transactions/\(made.string("id"))?reason=no%20more%20stock", key: key)
      #expect(try json(withdrawn).string("status") == "withdrawn")
      let found = try json(try await running.send(.get, "/v1/transactions/\(made.string("id"))", key: key))
      #expect(try found.object("end").string("reason") == "no more stock")
      for bad in [
        #"{"user":"alice"}"#, #"{"user":"alice","text":"x","form":\#(form)}"#,
        #"{"user":"alice","form":{"template":"t","fields":[{"type":"html","value":"x"}]}}"#,
        #"{"user":"alice","text":"x","context":{"town":"Bern"}}"#,
      ] {
        try expect(try await running.send(.post, "/v1/transactions", bad, key: key), .contentRefused, bad)
      }
      for bad in [
        #"{"user":"alice","text":1}"#, #"{"user":"alice","text":"x","statuses":["maybe"]}"#,
        #"{"user":"alice","text":"x","typed":["0"]}"#, #"{"user":"alice","text":"x","typed":true}"#,
        #"{"user":"alice","text":"x","number":{"digits":7}}"#, #"{"user":"alice","text":"x","number":4}"#,
      ] {
        try expect(try await running.send(.post, "/v1/transactions", bad, key: key), .malformed, bad)
      }
    }
    await running.server.stop()
  }

  @Test("a client over its limit is told when to retry")
  func saysWhenToTryAgain() async throws {
    let running = try await Running()
    let key = try await APIKeyService(running.server.context).create(
      name: "shop", scopes: [.relyingParty], by: .local
    ).text
    try await UserService(running.server.context).add(UserID("alice"), by: .local)
    try await running.server.context.activate("alice")
    let body = #"{"user":"alice","text":"x","lifetime":600}"#
    // Half of the limit of pending requests, which is the share of one relying party.
    for _ in 0..<4 {
      #expect(try await running.send(.post, "/v1/transactions", body, key: key).status == 201)
    }
    let refused = try await running.send(.post, "/v1/transactions", body, key: key)
    try expect(refused, .transactionTooMany, "one more")
    let seconds = try #require(refused.header("Retry-After").flatMap(Int64.init))
    #expect((1...600).contains(seconds))
    #expect(Problem(parsing: refused.body)?.retryAfter == seconds)
    await running.server.stop()
  }

  @Test("an altered row is listed and revoked by its ill-formed id")
  func revokesIllFormedIDs() async throws {
    let running = try await Running()
    let keys = APIKeyService(running.server.context)
    let admin = try await keys.create(name: "ops", scopes: [.admin], by: .local).text
    _ = try await keys.create(name: "shop", scopes: [.relyingParty], by: .local)
    try await UserService(running.server.context).add(UserID("alice"), by: .local)
    try await running.server.context.activate("alice")
    func answer(_ method: HTTPMethod, _ path: String) async throws -> JSONObject {
      let response = try await running.send(method, path, key: admin)
      #expect(response.status == 200, "\(method) \(path)")
      return try JSONObject(parsing: response.body)
    }
    let (id, encoded) = ("\u{E4}/b %", "%C3%A4%2Fb%20%25")
    try running.tamper("UPDATE containers SET id = ?", .text(id))
    try running.tamper("UPDATE api_keys SET id = ? WHERE name = 'shop'", .text(id))

    let containers = "/v1/admin/users/alice/containers"
    let altered = try API.listContainers.message(in: try await answer(.get, containers)).containers
    #expect(altered.map(\.id.text) == [id] && altered.map(\.state) == [.altered])
    let revoked = try API.revokeContainer.message(
      in: try await answer(.delete, "/v1/admin/containers/\(encoded)"))
    #expect(revoked.id.text == id)
    let left = try API.listContainers.message(in: try await answer(.get, containers)).containers
    #expect(left.map(\.id.text) == [id] && left.map(\.state) == [.revoked])

    func shop() async throws -> [APIKeyList.Key] {
      try API.listKeys.message(in: try await answer(.get, "/v1/admin/keys")).keys.filter { $0.name == "shop" }
    }
    let listed = try await shop()
    #expect(listed.map(\.id.text) == [id] && listed.map(\.altered) == [true])
    #expect(try await answer(.delete, "/v1/admin/keys/\(encoded)").string("id") == id)
    let kept = try await shop()
    #expect(kept.map(\.altered) == [false] && kept.allSatisfy { $0.revoked != nil })
    try expect(
      try await running.send(.delete, "/v1/admin/containers/a%20b", key: admin), .unknown, "an id of nothing")
    await running.server.stop()
  }

  @Test func administers() async throws {
    let running = try await Running()
    let key = try await APIKeyService(running.server.context).create(
      name: "ops", scopes: [.admin, .relyingParty], by: .local
    ).text
    func json(_ response: HTTPResponse) throws -> JSONObject { try JSONObject(parsing: response.body) }
    let user = "j\u{F6}rg/1 %"
    let encoded = "j%C3%B6rg%2F1%20%25"
    let added = try await running.send(
      .post, "/v1/admin/users", JSONValue.object(["user": .string(user)]).text, key: key)
    #expect(try json(added).string("user") == user)
    let containers = try await running.send(.get, "/v1/admin/users/\(encoded)/containers", key: key)
    #expect(try json(containers).array("containers").isEmpty)
    let invited = try await running.send(
      .post, "/v1/admin/activations", JSONValue.object(["user": .string(user)]).text, key: key)
    let code = try ActivationCode(parsing: json(invited).string("code"))
    #expect(code.user.text == user && code.server == running.server.serverURL)
    #expect(try InviteCode(json(invited).string("invite")) == code.invite)
    let order = JSONValue.object(["user": .string(user), "text": "Pay"]).text
    try expect(
      try await running.send(.post, "/v1/transactions", order, key: key), .noAuthenticator,
      "nothing to answer with")
    var device = ProtocolDevice(code: code)
    try await device.activate(running.server.context)
    let made = try await running.send(.post, "/v1/transactions", order, key: key)
    #expect(made.status == 201)
    let found = try await running.send(.get, "/v1/transactions/\(json(made).string("id"))", key: key)
    #expect(try json(found).string("status") == "pending" && !json(found).contains("decision"))
    let keys = try await running.send(.get, "/v1/admin/keys", key: key)
    #expect(try json(keys).array("keys").count == 1)
    #expect(!String(decoding: keys.body, as: UTF8.self).contains(key.suffix(20)))
    let audit = try await running.send(.get, "/v1/admin/audit?limit=2&after=1", key: key)
    #expect(try json(audit).array("entries").count == 2)
    await running.server.stop()
  }
}
