import Foundation
import PostgreSQLFixture
import Signet
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetTesting
import SignetTestKit
import Testing

/// `signet-server user suspend` during many operations: it ends all of them, at both processes of a database.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OffboardingTests {
  /// Two processes on one database, with UAF, a relying party and a client of OpenID Connect.
  private struct Servers {
    let first: RunningServer
    let second: RunningServer
    /// The port of the second process.
    let port: UInt16
    private let memory: MemoryFolder

    init(_ backend: StorageBackend) async throws {
      var words = ["--protection", "device"]
      if backend == .postgreSQL {
        let server = try PrivatePostgreSQL.shared()
        words += ["--storage", try server.uri(server.makeDatabase())]
      }
      let memory = try MemoryFolder()
      let statements = try await UAFParty.statements.value
      first = try await RunningServer.startWithShop(words) { data, settings in
        try FileManager.default.copyItem(atPath: statements.file("metadata"), toPath: "\(data)/metadata")
        settings["uaf"] = ["facets": ["linux:app-id:signet"], "metadata": "metadata"]
        settings["runtime"] = .string(memory.path)
      }
      self.memory = memory
      port = try FreePort.find()
      second = try await RunningServer(first.folder, port, ["--listen", "127.0.0.1:\(port)"])
    }

    /// A device of the SDK whose server is the second process.
    func device() throws -> Device {
      let folder = first.folder.file("waiting")
      var connection = ConnectionConfiguration(
        certificateAuthoritiesPEM: try String(contentsOfFile: first.authority, encoding: .utf8))
      connection.connectAddress = ConnectAddress(address: "127.0.0.1", port: port)
      return Device(
        vault: try Vault(directory: folder, keystore: SoftwareKeystore(directory: folder)),
        connection: connection)
    }

    /// The base URL of UAF at either process.
    func uaf(_ port: UInt16) -> String { "https://127.0.0.1:\(port)/nevisfido" }

    func stop() async {
      await first.stop()
      await second.stop()
    }
  }

  /// An HTTP client of the second process.
  private struct Caller {
    let servers: Servers
    private let transport: CurlTransport

    init(_ servers: Servers) throws {
      self.servers = servers
      transport = try CurlTransport(
        ConnectionConfiguration(
          certificateAuthoritiesPEM: String(contentsOfFile: servers.first.authority, encoding: .utf8)))
    }

    func post(
      _ path: String, _ type: String, authorization: String, _ body: [UInt8]
    ) async throws -> (status: Int, body: JSONObject) {
      let response = try await transport.send(
        HTTPRequest(
          method: .post, url: "https://127.0.0.1:\(servers.port)\(path)",
          headers: [("Content-Type", type), ("Authorization", authorization)], body: body))
      return (response.status, try JSONObject(parsing: response.body))
    }

    /// Sends a UAF request that carries a token as authorization.
    func uaf(_ path: String, _ body: JSONObject, token: String) async throws -> (
      status: Int, body: JSONObject
    ) {
      let type = path.hasPrefix("/uaf/") ? "application/fido+uaf;charset=UTF-8" : "application/json"
      return try await post("/nevisfido\(path)", type, authorization: "Bearer \(token)", body.bytes)
    }
  }

  /// A client of OpenID Connect that asks and polls at the second process.
  private struct Client {
    let caller: Caller
    let authorization: String

    init(_ caller: Caller) async throws {
      self.caller = caller
      let made = try await caller.servers.first.json(
        "client", "add", "Example Bank", "--authentication", "client_secret_basic")
      let words = "\(try made.string("id")):\(try made.string("secret"))"
      authorization = "Basic \(Data(words.utf8).base64EncodedString())"
    }

    private func post(_ path: String, _ form: String) async throws -> JSONObject {
      try await caller.post(
        "/main/oidc/\(path)", "application/x-www-form-urlencoded", authorization: authorization,
        Array(form.utf8)
      ).body
    }

    func ask() async throws -> String {
      try await post("bc-authorize", "scope=openid&login_hint=alice").string("auth_req_id")
    }

    /// Sends a token request and returns its error.
    func poll(_ request: String) async throws -> String? {
      let grant = "urn%3Aopenid%3Aparams%3Agrant-type%3Aciba"
      return try await post("token", "grant_type=\(grant)&auth_req_id=\(request)").optionalString("error")
    }
  }

  @Test(
    "a suspension ends waiting devices, UAF tokens, open requests and codes, at both processes",
    arguments: StorageBackend.here)
  func suspended(_ backend: StorageBackend) async throws {
    let servers = try await Servers(backend)
    let (first, caller) = (servers.first, try Caller(servers))
    let client = try await Client(caller)
    let shop = try String(contentsOfFile: first.shopKey, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let parties = [try RelyingParty(first), try RelyingParty(first, port: servers.port)]
    try await first.addUser("alice")

    // Alice's authenticators: a container and a UAF key.
    let device = try servers.device()
    let container = try await device.createContainer(
      ContainerInitialization(code: await first.invite("alice")), handler: ScriptedActivation(reply: .abort))
    let phone = first.device("phone")
    let words = ["--uaf-server", servers.uaf(first.port)]
    let registered = try await phone.run(
      ["uaf", "register", "alice", "-a", "pin", "--device-name", "phone", "--token-fd", "0"] + words,
      passwords: [shop, "271828"])
    try #require(registered.status == 0, registered.summary)

    // The operations in progress.
    let signedIn = try await phone.run(["uaf", "authenticate", "alice"] + words, passwords: ["271828"])
    try #require(signedIn.status == 0, signedIn.summary)
    let authorization = signedIn.output.trimmingCharacters(in: .whitespacesAndNewlines)
    let changes: JSONObject = ["op": "Reg", "context": #"{"username":"alice"}"#]
    #expect(
      try await caller.uaf("/uaf/1.1/request/registration", changes, token: authorization).body
        .integer("statusCode") == 1200)
    let dispatched = try await caller.uaf(
      "/token/dispatch/authentication",
      ["dispatcher": "link", "getUafRequest": ["context": #"{"username":"alice"}"#]], token: shop)
    let session = try dispatched.body.string("sessionId")
    let link = try first.write(
      dispatched.body.object("dispatcherInformation").string("response"), to: "sign-in.link")
    let agreed = try await client.ask()
    let asked = try #require(try await device.pendingTransactions(for: container).first)
    try await device.decide(asked, .accepted, with: container)
    let open = try await client.ask()
    let transaction = try await first.ask("alice", "Pay 10")
    let invite = try first.write(await first.invite("alice").text, to: "late.code")
    let code = try await device.oneTimePassword(for: container).code
    let list = try #require(try await device.transactionList(beyond: nil, for: container))
    #expect(list.list.transactions.count == 2)
    let waiting = Task<(any Error, ContinuousClock.Instant), Never> {
      do {
        var known = list
        while true { known = try await device.transactionList(beyond: known, for: container) ?? known }
      } catch { return (error, .now) }
    }

    let begin = ContinuousClock.now
    let suspended = try await first.json("user", "suspend", "alice", "--reason", "left the company")
    let answered = ContinuousClock.now
    #expect(try suspended.string("state") == "suspended")

    // The other process gives the right answer in its first response.
    #expect(try await parties[1].transaction(transaction).string("status") == "withdrawn")
    #expect(try await !parties[1].validate(code, of: "alice"))
    #expect(try await client.poll(open) == "access_denied")
    #expect(try await client.poll(agreed) == "access_denied")
    let known = try await caller.uaf("/uaf/1.1/request/registration", changes, token: authorization)
    #expect(try known.body.integer("statusCode") == 1401)
    let status = try await caller.uaf("/status", ["sessionId": .string(session)], token: shop)
    #expect(try status.body.string("status") == "failed")
    let asking = ContinuousClock.now
    let told = await waiting.value
    // A busy machine may take longer, so the time is checked only in a long run.
    if KillCount.wanted != nil {
      #expect(asking - begin < .seconds(1), "asked at the other process, what was under way ended late")
      #expect(told.1 - begin < .seconds(1), "the waiting device was told late")
    }
    guard case .refused(let problem)? = told.0 as? SignetError, problem.code == .userNotActive else {
      Issue.record("the device was told \(told.0)")
      return
    }
    print(
      """
      OffboardingTests, \(backend): all at the other process had ended \(asking - answered) after the answer to the suspension, which \
      took \(answered - begin) with its command; the waiting device was told \(told.1 - begin) after that began
      """)

    for party in parties {
      #expect(try await party.transaction(transaction).string("status") == "withdrawn")
      #expect(try await !party.validate(code, of: "alice"))
    }
    for port in [first.port, servers.port] {
      let redeemed = try await phone.run(
        ["uaf", "oob", "run", link, "--uaf-server", servers.uaf(port)], passwords: ["271828"])
      #expect(redeemed.status != 0, redeemed.summary)
      let refused = try await phone.run(
        ["uaf", "authenticate", "alice", "--uaf-server", servers.uaf(port)], passwords: ["271828"])
      #expect(refused.status != 0, refused.summary)
    }
    let late = try await first.device("late").run("activate", "--code-file", invite)
    #expect(late.status != 0, late.summary)

    // The audit log has the suspension, the operations that it ended, and the later rejections.
    let suspensions = try await first.audited("user.suspended")
    #expect(try suspensions.map { try $0.string("user") } == ["alice"])
    #expect(try suspensions.first?.string("reason") == "left the company")
    let withdrawn = try await first.audited("transaction.withdrawn")
    #expect(withdrawn.count == 2)
    #expect(try withdrawn.contains { try $0.string("transaction") == transaction })
    #expect(try withdrawn.allSatisfy { try $0.string("reason") == "userNotActive" })
    let refusals = try await first.audited("code.refused")
    #expect(try refusals.count == 3 && refusals.allSatisfy { try $0.string("reason").contains("suspended") })
    #expect(try await first.audited("tokens.issued").isEmpty)
    #expect(try await first.json("audit", "verify")["intact"] == true)
    await servers.stop()
  }
}
