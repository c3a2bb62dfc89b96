import Foundation
import PushFixture
import Signet
import SignetCrypto
import SignetJSON
import SignetTestKit
import Testing

/// The client `Tests/Interop/ciba.py`, made with Authlib, asks a user who decides with `signet`.
///
/// It reads discovery, keys and tokens with independent code, over HTTPS on both sides.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OpenIDTests {
  /// The client, which keeps its notification endpoint open.
  private final class PythonClient {
    let port: Int64
    let keys: JSONObject
    private let peer: PythonPeer

    struct NoObject: Error {}

    init(authority: String, certificate: String, key: String) throws {
      peer = try PythonPeer(
        "ciba.py", ["ca": .string(authority), "certificate": .string(certificate), "key": .string(key)])
      port = try peer.greeting.integer("port")
      keys = try peer.greeting.object("keys")
    }

    func order(_ name: String, _ value: JSONValue) throws -> JSONObject { try peer(name, value) }

    /// Sends a request that must succeed and returns its ID.
    func ask(_ parameters: JSONObject) throws -> String {
      let answer = try order("ask", .object(parameters))
      #expect(try answer.integer("status") == 200, "\(answer.text)")
      return try answer.object("body").string("auth_req_id")
    }

    func notices(_ count: Int64) throws -> [JSONObject] {
      try order("notices", .integer(count)).array("notices").map { value in
        guard case .object(let notice) = value else { throw NoObject() }
        return notice
      }
    }
  }

  private static let isWanted = PythonClientTests.isWanted

  /// A server that trusts the client's notification endpoint, a device of alice, and the client.
  private func started() async throws -> (RunningServer, InstalledSignet, PythonClient) {
    let (server, client) = try await served()
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    return (server, device, client)
  }

  /// A server that trusts the client's notification endpoint, and the client.
  private func served(
    _ change: @escaping (_ data: String, _ settings: inout JSONObject) throws -> Void = { _, _ in }
  ) async throws -> (RunningServer, PythonClient) {
    let authority = try CertificateAuthority(commonName: "Clients")
    let certificate = try authority.issueServerCertificate(
      dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
    let server = try await RunningServer.start(["--protection", "device"]) { data, settings in
      let path = "\(data)/clients.pem"
      try Data(authority.certificatePEM.utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      settings["openID"] = ["authority": "clients.pem"]
      try change(data, &settings)
    }
    let client = try PythonClient(
      authority: server.authority, certificate: server.write(certificate.certificatePEM, to: "client.pem"),
      key: server.write(certificate.insecurePrivateKeyPEM, to: "client.key"))
    return (server, client)
  }

  /// Registers the client at the server, passes it its credentials, and returns its ID.
  private func register(
    _ server: RunningServer, _ client: PythonClient, _ words: [String], signs algorithm: String? = nil
  ) async throws -> String {
    let keys = try server.write(client.keys.text, to: "client.jwks")
    var line = ["client", "add", "Example Bank", "--jwks", keys] + words
    if let algorithm { line += ["--request-algorithm", algorithm] }
    let result = try await ServerCommand.run(line + ["--data", server.data, "--json"])
    try #require(result.status == 0, result.summary)
    let made = try JSONObject(parsing: Array(result.output.utf8))
    let id = try made.string("id")
    var identity: JSONObject = ["issuer": .string(try made.string("issuer")), "id": .string(id)]
    if let secret = try made.optionalString("secret") { identity["secret"] = .string(secret) }
    if let algorithm { identity["algorithm"] = .string(algorithm) }
    let found = try client.order("client", .object(identity)).object("discovery")
    #expect(try found.strings("backchannel_token_delivery_modes_supported") == ["poll", "ping", "push"])
    return id
  }

  private func expect(_ claims: JSONObject, of id: String, saying message: String) throws {
    #expect(try claims.string("signet_user") == "alice" && claims.string("aud") == id)
    #expect(try claims.string("sub").hasPrefix("~"))
    #expect(try claims.string("acr") == "urn:signet:acr:signed")
    let decision = try claims.object("decision")
    #expect(try decision.string("status") == "accepted" && decision.string("content").contains(message))
  }

  @Test(
    "poll, with an assertion and with a secret: Authlib verifies the user's approval",
    .enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func polls() async throws {
    let (server, device, client) = try await started()
    for (words, algorithm) in [
      ([], nil), (["--authentication", "client_secret_basic"], nil), ([], "ES256"),
    ] as [([String], String?)] {
      let id = try await register(server, client, words, signs: algorithm)
      let request = try client.ask([
        "login_hint": "alice", "binding_message": "W4SCT", "acr_values": "phr urn:signet:acr:signed",
      ])
      // The server rejects values that no container can meet before it asks a user, and unknown values too.
      for (names, status, error) in [("phrh", 403, "access_denied"), ("gold", 400, "invalid_request")] {
        let refused = try client.order("ask", ["login_hint": "alice", "acr_values": .string(names)])
        #expect(try refused.integer("status") == Int64(status), "\(refused.text)")
        #expect(try refused.object("body").string("error") == error, "\(refused.text)")
      }
      let waiting = try client.order("poll", .string(request))
      #expect(try waiting.object("body").string("error") == "authorization_pending")
      let shown = try await device.run("pending")
      #expect(shown.output.contains("Example Bank") && shown.output.contains("W4SCT"), shown.summary)
      _ = try await device.json("approve", "--yes")
      let answer = try client.order("poll", .string(request))
      try #require(try answer.integer("status") == 200, "\(answer.text)")
      try expect(answer.object("claims"), of: id, saying: "W4SCT")
      #expect(try client.order("poll", .string(request)).object("body").string("error") == "invalid_grant")
      // The ID token names the user for the next request.
      let again = try client.ask(["id_token_hint": .string(answer.object("body").string("id_token"))])
      _ = try await device.json("deny", "--yes")
      #expect(try client.order("poll", .string(again)).object("body").string("error") == "access_denied")
    }
    await server.stop()
  }

  @Test(
    "ping and push over HTTPS are retried after failures and never redirected, by any process",
    .enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func isTold() async throws {
    let (server, device, client) = try await started()
    let url = "https://127.0.0.1:\(client.port)/cb"
    let ping = try await register(server, client, ["--delivery", "ping", "--notification-endpoint", url])
    let pinged = try client.ask(["login_hint": "alice", "client_notification_token": "secret-1"])
    _ = try client.order("answers", [503])
    _ = try await device.json("approve", "--yes")
    let told = try client.notices(2)
    #expect(try told.map { try $0.integer("answered") } == [503, 204])
    for notice in told {
      #expect(try notice.string("authorization") == "Bearer secret-1" && notice.string("path") == "/cb")
      #expect(try notice.object("body") == ["auth_req_id": .string(pinged)])
    }
    let answer = try client.order("poll", .string(pinged))
    try expect(answer.object("claims"), of: ping, saying: "Sign in")

    // If no notification can be sent at the time of a decision, the next process sends it.
    let push = try await register(server, client, ["--delivery", "push", "--notification-endpoint", url])
    let pushed = try client.ask(
      ["login_hint": "alice", "client_notification_token": "secret-2", "binding_message": "P1"])
    _ = try client.order("answers", [503])
    _ = try await device.json("approve", "--yes")
    _ = try client.notices(1)
    server.send(SIGKILL)
    #expect(await server.status() == -SIGKILL)
    let next = try await server.again()
    let notice = try #require(try client.notices(1).first)
    #expect(try notice.string("authorization") == "Bearer secret-2")
    let claims = try notice.object("claims")
    try expect(claims, of: push, saying: "P1")
    #expect(try claims.string("urn:openid:params:jwt:claim:auth_req_id") == pushed)
    #expect(try client.order("poll", .string(pushed)).object("body").string("error") == "unauthorized_client")

    // A redirect is not followed, and ends the delivery.
    _ = try client.ask(["login_hint": "alice", "client_notification_token": "secret-3"])
    _ = try client.order("answers", [307])
    _ = try await device.json("deny", "--yes")
    let last = try client.notices(1)
    #expect(try last.first?.object("body").string("error") == "access_denied")
    while try await next.audited("client.notTold").isEmpty {}
    #expect(try await next.audited("client.told").count == 2)
    #expect(!next.events.contains("secret-") && !server.events.contains("secret-"))
    await next.stop()
  }

  // MARK: Any authenticator

  /// The authenticator of a user.
  private enum Authenticator: String, CaseIterable {
    case container, uaf, app

    /// The `acr` and `amr` of its answer.
    var claims: (acr: String, amr: String) {
      switch self {
      case .container: ("urn:signet:acr:signed", "swk")
      case .uaf: ("urn:signet:acr:uaf", "swk")
      case .app: ("urn:signet:acr:answered", "mca")
      }
    }
  }

  /// A server with UAF that sends its pushes through the services.
  private func served(pushingThrough services: PushServices) async throws -> (RunningServer, PythonClient) {
    let statements = try await UAFParty.statements.value
    let (server, client) = try await served { data, settings in
      try FileManager.default.copyItem(atPath: statements.file("metadata"), toPath: "\(data)/metadata")
      settings["uaf"] = ["facets": ["linux:app-id:signet"], "metadata": "metadata"]
      for (name, text) in [("fcm.json", services.accountFile.text), ("push.pem", services.authorityPEM)] {
        let path = "\(data)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      }
      settings["push"] = [
        "fcm": ["account": "fcm.json", "url": .string(services.base)], "authority": "push.pem",
      ]
    }
    try await server.addShop()
    return (server, client)
  }

  private func uafWords(_ server: RunningServer) -> [String] {
    ["--uaf-server", "https://127.0.0.1:\(server.port)/nevisfido"]
  }

  /// Enrols an authenticator for a user in the folder of a device.
  private func enrol(
    _ kind: Authenticator, of user: String, _ device: InstalledSignet, at server: RunningServer
  ) async throws {
    switch kind {
    case .container:
      let code = try server.write(await server.invite(user).text, to: "\(user).code")
      _ = try await device.json("activate", "--code-file", code)
    case .uaf:
      let key = try String(contentsOfFile: server.shopKey, encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      let made = try await device.run(
        ["uaf", "register", user, "-a", "pin", "--device-name", "laptop", "--token-fd", "0"]
          + uafWords(server), passwords: [key, "271828"])
      try #require(made.status == 0, made.summary)
      let changed = try await device.run(
        ["uaf", "device", "change", "--push-token", "uaf-\(user)"] + uafWords(server))
      try #require(changed.status == 0, changed.summary)
    case .app:
      let uri = try await server.json("app", "invite", user, "--issuer", "Bank").string("uri")
      _ = try await device.json("import", uri, "--push-token", "app-\(user)", "--push-service", "gcm")
    }
  }

  /// Waits for the pushes to these addresses and writes each to a file.
  private func pushed(
    to addresses: [String], _ services: PushServices, at server: RunningServer
  ) throws -> [String: String] {
    var files: [String: String] = [:]
    while files.count < addresses.count {
      for request in try services.requests()
      where try request.field(":path") == "/v1/projects/signet-1/messages:send" {
        let message = try request.checked().object("body").object("message")
        let address = try message.string("token")
        #expect(addresses.contains(address) && files[address] == nil)
        files[address] = try server.write(message.object("data").text, to: "\(address).json")
      }
    }
    return files
  }

  /// Accepts the user's request with an authenticator.
  private func accept(
    with kind: Authenticator, of user: String, _ device: InstalledSignet, _ files: [String: String],
    at server: RunningServer
  ) async throws {
    switch kind {
    case .container: _ = try await device.json("approve", "--yes")
    case .uaf:
      let file = try #require(files["uaf-\(user)"])
      let confirmed = try await device.run(
        ["uaf", "oob", "run", file] + uafWords(server), passwords: ["271828"])
      #expect(
        confirmed.status == 0 && confirmed.errorOutput.contains("| From: Example Bank"), confirmed.summary)
    case .app:
      let file = try #require(files["app-\(user)"])
      let received = try await device.run("message", "receive", file)
      #expect(received.status == 0 && received.output.contains("From: Example Bank"), received.summary)
      let approved = try await device.run("message", "approve")
      #expect(approved.status == 0 && approved.output == "Approved.\n", approved.summary)
    }
  }

  @Test(
    "users with any kind of authenticator answer by poll and ping, and the ID token names the kind",
    .enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func anyAuthenticator() async throws {
    let services = try PushServices()
    let (server, client) = try await served(pushingThrough: services)
    _ = try await register(server, client, [])
    try await server.addUser("nobody")
    let refused = try client.order("ask", ["login_hint": "nobody"])
    #expect(try refused.integer("status") == 403)
    #expect(try refused.object("body").string("error") == "access_denied")

    var devices: [Authenticator: InstalledSignet] = [:]
    try await server.addUser("all")
    for kind in Authenticator.allCases {
      let (user, device) = ("\(kind.rawValue)-user", server.device(kind.rawValue))
      try await server.addUser(user)
      try await enrol(kind, of: user, device, at: server)
      devices[kind] = server.device("all-\(kind.rawValue)")
      try await enrol(kind, of: "all", #require(devices[kind]), at: server)
    }
    func expectAnswer(
      with kind: Authenticator, of user: String, _ device: InstalledSignet, pushedTo apps: [String],
      isPinged: Bool
    ) async throws {
      var order: JSONObject = ["login_hint": .string(user), "acr_values": Self.anyACR]
      if isPinged { order["client_notification_token"] = "secret" }
      let request = try client.ask(order)
      let files = try pushed(to: apps, services, at: server)
      try await accept(with: kind, of: user, device, files, at: server)
      if isPinged {
        let notice = try #require(try client.notices(1).first)
        #expect(try notice.object("body") == ["auth_req_id": .string(request)])
      }
      try expect(client.order("poll", .string(request)), kind, of: user)
    }
    for isPinged in [false, true] {
      if isPinged {
        let url = "https://127.0.0.1:\(client.port)/cb"
        _ = try await register(server, client, ["--delivery", "ping", "--notification-endpoint", url])
      }
      for kind in Authenticator.allCases {
        let user = "\(kind.rawValue)-user"
        try await expectAnswer(
          with: kind, of: user, server.device(kind.rawValue),
          pushedTo: kind == .container ? [] : ["\(kind.rawValue)-\(user)"], isPinged: isPinged)
        try await expectAnswer(
          with: kind, of: "all", #require(devices[kind]), pushedTo: ["uaf-all", "app-all"],
          isPinged: isPinged)
        let waiting = try await #require(devices[.container]).run("pending")
        #expect(!waiting.output.contains("Example Bank"), waiting.summary)
      }
    }
    await server.stop()
  }

  /// The `acr` of each kind of authenticator, the strongest first; without the last one, an app alone would not be asked.
  private static let anyACR: JSONValue = "urn:signet:acr:signed urn:signet:acr:uaf urn:signet:acr:answered"

  private func expect(_ answer: JSONObject, _ kind: Authenticator, of user: String) throws {
    try #require(try answer.integer("status") == 200, "\(kind) \(answer.text)")
    let claims = try answer.object("claims")
    #expect(try claims.string("signet_user") == user)
    let shown = try (claims.string("acr"), claims.strings("amr"))
    #expect(shown == (kind.claims.acr, [kind.claims.amr]), "\(claims.text)")
    #expect((claims["decision"] != .null) == (kind == .container))
  }

  @Test("a client is registered, listed, shown and revoked by commands; a user gets a code and loses it")
  func commands() async throws {
    let server = try await RunningServer.start()
    let path = "\(server.folder.path)/shop.secret"
    let made = try await server.json(
      "client", "add", "Shop", "--authentication", "client_secret_basic", "--delivery", "ping",
      "--notification-endpoint",
      "https://shop.example/cb", "--number", "2", "--output", path)
    let id = try made.string("id")
    #expect(!made.contains("secret"))
    let secret = try String(contentsOfFile: path, encoding: .utf8)
    #expect(secret.utf8.count == 44 && permissions(of: path) == 0o600)
    #expect(try await server.json("client", "list").array("clients").count == 1)
    let shown = try await server.json("client", "show", id)
    #expect(
      try shown.string("notificationEndpoint") == "https://shop.example/cb"
        && shown.integer("numberDigits") == 2)
    #expect(!shown.text.contains(secret.dropLast()))
    let text = try await server.run("client", "show", id)
    #expect(text.output.contains("https://shop.example/cb"), text.summary)
    _ = try await server.json("client", "revoke", id)
    let list = try await server.run("client", "list")
    #expect(list.status == 0 && list.output.contains(id) && !list.output.contains(" -\n"), list.summary)
    let unknown = try await server.run("client", "revoke", "x")
    #expect(unknown.isRefusal(67, "'signet-server client list' shows what there is"), unknown.summary)
    let refused = try await server.run("client", "add", "Shop", "--delivery", "push")
    #expect(
      refused.isRefusal(65, "--notification-endpoint goes with --delivery ping and --delivery push"),
      refused.summary)
    let keyless = try await server.run("client", "add", "Shop")
    #expect(keyless.isRefusal(65, "--authentication private_key_jwt needs --jwks"), keyless.summary)
    let empty = try await server.run(
      "client", "add", "Shop", "--jwks", server.write(#"{"keys":[]}"#, to: "empty.jwks"))
    #expect(empty.isRefusal(65, "--jwks has 1 to 16 keys"), empty.summary)
    #expect(!(refused.errorOutput + keyless.errorOutput + empty.errorOutput).contains("\""))
    let needless = try await server.run("client", "add", "Shop", "--output", path)
    #expect(needless.status == 64, needless.summary)
    let missing = try await server.run("client", "add", "Shop", "--jwks", "\(path).missing")
    #expect(missing.status == 66, missing.summary)

    try await server.addUser("alice")
    let code = try await server.run("user", "code", "alice")
    #expect(code.output.utf8.count == 9, code.summary)
    _ = try await server.json("user", "code", "alice", "--remove")
    #expect(try await server.audited("user.codeRemoved").count == 1)
    await server.stop()
  }
}
