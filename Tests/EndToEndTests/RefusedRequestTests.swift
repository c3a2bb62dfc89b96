import Foundation
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetServerTesting
import SignetTestKit
import Testing

/// Requests that the HTTP layer of the installed server rejects: one form of answer, a closed connection, and a log line or a
/// count.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: FakeServer.canRun, "needs Python 3"))
struct RefusedRequestTests {
  private static func head(_ line: String, _ fields: String...) -> String {
    ([line, "Host: 127.0.0.1"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }

  private static let chunked = "Transfer-Encoding: chunked"
  private static let post = "POST /main/v1/otp/validate HTTP/1.1"

  /// The requests, each with its status.
  private static let requests: [(name: String, text: String, status: Int)] = [
    ("a length twice", head(post, "Content-Length: 2, 2") + "{}", 400),
    ("a length with a sign", head(post, "Content-Length: +2") + "{}", 400),
    ("a negative length", head(post, "Content-Length: -1") + "{}", 400),
    ("a length that wraps around to 2", head(post, "Content-Length: 18446744073709551618") + "{}", 400),
    (
      "two Authorization fields",
      head(post, "Authorization: Bearer a", "Authorization: Bearer b", "Content-Length: 2") + "{}", 400
    ),
    ("a body in chunks", head(post, chunked) + "2\r\n{}\r\n0\r\n\r\n", 411),
    (
      "a chunk extension of 30 KB",
      head(post, chunked) + "2;a=" + String(repeating: "a", count: 30_000) + "\r\n{}\r\n0\r\n\r\n", 411
    ),
    ("a bare line feed behind the request line", "GET /main/v1/live HTTP/1.1\nHost: h\r\n\r\n", 400),
    ("a bare line feed behind a field", head("GET /main/v1/live HTTP/1.1", "X-A: a\nX-B: b"), 400),
    ("NUL in a field", head("GET /main/v1/live HTTP/1.1", "X-A: a\0b"), 400),
    ("NUL in the target", head("GET /main/v1/live\0 HTTP/1.1"), 400),
    ("a folded field", head("GET /main/v1/live HTTP/1.1", "X-A: a", " b"), 400),
    (
      "fields that are too large",
      head("GET /main/v1/live HTTP/1.1", "X-A: " + String(repeating: "a", count: 9000)), 413
    ),
    ("a target that is too long", head("GET /" + String(repeating: "a", count: 5000) + " HTTP/1.1"), 413),
    // By a strict reading this is one request: the extension of its first chunk has a bare line feed and continues to the
    // carriage return.
    (
      "a request behind a bare line feed",
      head(post, chunked) + "0;\n\nGET /main/v1/jwks HTTP/1.1\nHost: 127.0.0.1\n\n\r\n0\r\n\r\n", 411
    ),
    (
      "a request behind a trailer",
      head(post, chunked) + "0\r\nX: a\n\nGET /main/v1/jwks HTTP/1.1\r\nHost: h\r\n\r\n", 411
    ),
  ]

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Interop/raw.py").standardized.path

  private static func exchange(_ server: RunningServer, _ requests: [JSONObject]) async throws -> [String] {
    let result = try await ChildCommand(
      ["/usr/bin/python3", script, "\(server.port)", server.authority],
      input: .bytes(JSONValue.array(requests.map { .object($0) }).bytes)
    ).finish()
    try #require(result.status == 0, "\(result.errorOutput)")
    guard case .array(let answers) = try JSONValue(parsing: Array(result.output.utf8)) else { return [] }
    return answers.map { if case .string(let text) = $0 { text } else { "" } }
  }

  @Test("a refused HTTP request gets one problem document and is logged with a truncated path")
  func refused() async throws {
    let server = try await RunningServer.start()
    // A request larger than a connection's buffer, and a path longer than the log keeps, which the server answers after all the
    // others.
    let oversized = Self.head("GET /main/v1/live HTTP/1.1", "X-A: " + String(repeating: "a", count: 200_000))
    let path = "/main/v1/" + String(repeating: "a", count: 3_000)
    let texts =
      Self.requests.map { $0.text } + [oversized, Self.head("GET \(path) HTTP/1.1", "Connection: close")]
    let answers = try await Self.exchange(server, texts.map { ["send": .string($0)] })
    try #require(answers.count == texts.count)
    for (request, answer) in zip(Self.requests, answers) {
      #expect(answer.hasPrefix("HTTP/1.1 \(request.status) "), "\(request.name): \(answer)")
      #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(request.name): \(answer)")
      #expect(answer.contains("Content-Type: application/problem+json\r\n"), "\(request.name): \(answer)")
      #expect(answer.contains("Connection: close\r\n"), "\(request.name): \(answer)")
      #expect(answer.contains("\"type\":\"urn:signet:problem:"), "\(request.name): \(answer)")
    }
    // There is one answer, or none.
    let (large, long) = (answers[Self.requests.count], answers[Self.requests.count + 1])
    #expect(large.isEmpty || large.hasPrefix("HTTP/1.1 431 "), "\(large)")
    #expect(large.ranges(of: "HTTP/1.1 ").count <= 1, "\(large)")
    #expect(long.hasPrefix("HTTP/1.1 404 "), "\(long)")
    await server.stop()
    let events = try server.events.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
    let refused = try events.filter { try $0.string("event") == "http.refused" }
    // The answer has its problem's status, the same for everything too large; the log has the specific HTTP status.
    let logged = try refused.map { try $0.string("status") }.map { ["414", "431"].contains($0) ? "413" : $0 }
    #expect(logged.count == Self.requests.count + 1, "\(refused)")
    #expect(Array(logged.prefix(Self.requests.count)) == Self.requests.map { "\($0.status)" })
    #expect(
      try refused.prefix(Self.requests.count).allSatisfy {
        try $0.string("from") == "127.0.0.1" && !$0.string("reason").isEmpty
      })
    let paths = try events.filter { try $0.string("event") == "request" }.map { try $0.string("path") }
    #expect(paths.contains(String(path.prefix(200))) && paths.allSatisfy { $0.utf8.count <= 200 }, "\(paths)")
  }

  /// The body of a well-formed *finish* in an open handshake with a wrong proof, like one of an attacker without the invite.
  private static func wrongProof(for user: String, _ server: RunningServer) async throws -> [UInt8] {
    let user = try UserID(user)
    let start = ActivationStart(user: user, random: SystemRandomSource())
    let answer = try await APIClient(server).json(
      .post, "activation/start", JSONObject(parsing: start.bytes))
    let (session, signing) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let core = ActivationCore(
      user: user, server: try ServerURL(server.url), agreement: P256.KeyAgreement.PrivateKey().publicKey,
      keys: ContainerKeys(
        session: session.publicKey, encryption: P256.KeyAgreement.PrivateKey().publicKey,
        signing: signing.publicKey),
      device: try DeviceDescription(
        id: [UInt8](repeating: 1, count: 16), name: "Laptop", platform: "linux", keystore: .software)
    ).bytes
    return ActivationFinish(
      handshake: try answer.string("handshake"),
      message: try SignedMessage.sign(
        core, key: .random(byteCount: 32), type: SignedMessage.activationType),
      possession: try await KeyPossession.signed(
        [UInt8](repeating: 2, count: 32), for: signing.publicKey, by: signing.signature(for:))
    ).bytes
  }

  @Test(
    "a flood of unauthenticated requests is logged as a sample and a count",
    arguments: [("finish", 403), ("start", 200)])
  func flood(_ step: String, _ status: Int) async throws {
    let server = try await RunningServer.start()
    let count = 1000
    _ = try await server.codeFile("alice")
    let bytes =
      step == "finish"
      ? try await Self.wrongProof(for: "alice", server)
      : ActivationStart(user: UserID("alice"), random: SystemRandomSource()).bytes
    let body = String(decoding: bytes, as: UTF8.self)
    let before = server.events.utf8.count
    let request =
      Self.head(
        "POST /main/v1/activation/\(step) HTTP/1.1", "Content-Type: application/json",
        "Content-Length: \(body.utf8.count)") + body
    let answers = try await Self.exchange(
      server, [["send": .string(request), "times": .integer(Int64(count))]])
    #expect(answers == ["\(status) \(count)"], "\(answers)")
    await server.stop()
    let written = server.events.utf8.count - before
    let events = try server.events.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
    let lines = try events.filter {
      try $0.string("event") == "request" && $0.string("path").hasSuffix("/activation/\(step)")
    }
    let leftOut = try events.filter {
      try $0.string("event") == "log.leftOut" && $0.string("of") == "request"
        && $0.string("subject").hasSuffix("/activation/\(step)")
    }
    .map { try #require(Int($0.string("count"))) }
    #expect(lines.count + leftOut.reduce(0, +) == count)
    // At most a hundred lines in ten seconds, however long the test takes.
    let spans = try Dictionary(grouping: lines) { try $0.integer("time") / 10 }
    #expect(spans.values.allSatisfy { $0.count <= 100 }, "\(spans.mapValues(\.count))")
    // A line has some 200 bytes; in addition to the hundred there are the first of each kind, and the counts.
    #expect(written <= (spans.count + 1) * 50_000, "\(written) bytes in \(spans.count) spans")
  }

  /// A request that an unauthenticated client repeats.
  private struct Strange {
    let text: String
    let path: String
    let status: Int
    /// The name of its kind in the log's counts of omitted lines.
    let subject: String

    /// Creates a request without a body, for an unknown path.
    init(missing path: String) {
      text = RefusedRequestTests.head("GET \(path) HTTP/1.1")
      (self.path, status, subject) = (path, 404, "no endpoint")
    }

    /// Creates a request with a body.
    init(
      _ path: String, query: String = "", _ body: JSONObject, _ status: Int,
      type: String = "application/json", by authorization: String = "nobody"
    ) {
      self.init(path, query: query, body.text, status, type: type, by: authorization)
    }

    init(
      _ path: String, query: String = "", _ body: String, _ status: Int, type: String,
      by authorization: String
    ) {
      text =
        RefusedRequestTests.head(
          "POST \(path)\(query) HTTP/1.1", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)",
          "Authorization: \(authorization)") + body
      (self.path, self.status, subject) = (path, status, "POST \(path)")
    }
  }

  @Test("a flood of each kind of refusal is logged as a sample and a count")
  func floods() async throws {
    let party = try await UAFParty.start()
    let server = party.server
    let app = try await server.json("app", "invite", "alice", "--issuer", "Bank").string("id")
    let (v1, uaf) = ("/main/v1", "/nevisfido")
    let kinds: [Strange] = [
      Strange(missing: "\(v1)/nothing"),
      Strange("\(v1)/otp/validate", ["user": "alice", "code": "123456"], 401, by: "Bearer signet_0_wrong"),
      Strange("\(v1)/device/initiated", ["text": "x"], 401, by: "Signet a.b.c"),
      Strange("\(v1)/device/orders", ["receipt": "a.b.c"], 400),
      Strange(
        "/main/oidc/token", "grant_type=none", 401, type: "application/x-www-form-urlencoded",
        by: "Basic \(Base64.encode(Array("nobody:wrong".utf8)))"),
      Strange(
        "\(v1)/pushauth", query: "?_action=register",
        ["messageId": .string("REGISTER:\(app)"), "jwt": "a.b.c"], 400),
      // A rejection by the UAF protocol has the HTTP status 200.
      Strange(
        "\(uaf)/uaf/1.1/request/registration", ["context": "{}"], 200, type: "application/fido+uaf"),
      Strange("\(uaf)/uaf/1.1/authentication", ["uafResponse": "[]"], 200, type: "application/fido+uaf"),
      Strange("\(uaf)/token/redeem/authentication", ["token": "x"], 200),
      Strange("\(uaf)/token/dispatch/targets", [:], 401),
    ]
    // More than twice the limit of lines, since ten seconds may end in between. A rejection by the HTTP layer costs one
    // connection each.
    let (count, refusedCount) = (250, 60)
    let before = server.events.utf8.count
    let flood: [JSONObject] = kinds.map { ["send": .string($0.text), "times": .integer(Int64(count))] }
    let refused: JSONObject = ["send": .string(Self.head(Self.post, Self.chunked) + "0\r\n\r\n")]
    let answers = try await Self.exchange(server, flood + Array(repeating: refused, count: refusedCount))
    #expect(Array(answers.prefix(kinds.count)) == kinds.map { "\($0.status) \(count)" })
    #expect(answers.dropFirst(kinds.count).allSatisfy { $0.hasPrefix("HTTP/1.1 411 ") })
    await server.stop()
    let written = server.events.utf8.count - before
    let events = try server.events.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
    let leftOut = try events.filter { try $0.string("event") == "log.leftOut" }
    var spans: [Int64: Int] = [:]
    func expectSample(
      _ event: String, _ number: Int, at path: String? = nil, of subject: String? = nil
    ) throws {
      let lines = try events.filter {
        try $0.string("event") == event && (path == nil || $0.optionalString("path") == path)
      }
      let others = try leftOut.filter {
        try $0.string("of") == event && (subject == nil || $0.optionalString("subject") == subject)
      }
      .map { try #require(Int($0.string("count"))) }
      #expect(lines.count + others.reduce(0, +) == number, "\(event) \(path ?? "")")
      for (span, some) in try Dictionary(grouping: lines, by: { try $0.integer("time") / 10 }) {
        #expect(some.count <= 100, "\(event) \(path ?? "")")
        spans[span, default: 0] += some.count
      }
    }
    for kind in kinds { try expectSample("request", count, at: kind.path, of: kind.subject) }
    for (event, number) in [
      ("client.refused", count), ("pushauth.refused", count), ("http.refused", refusedCount),
    ] { try expectSample(event, number) }
    // The first of each kind is always written.
    #expect(spans.values.allSatisfy { $0 <= 100 + kinds.count + 3 }, "\(spans)")
    #expect(written <= (spans.count + 1) * 50_000, "\(written) bytes in \(spans.count) spans")
  }

  @Test(
    "a flood of server errors is logged as a sample and a count",
    .enabled(if: MemoryFolder.isThere))
  func failing() async throws {
    let first = try await RunningServer.start()
    let memory = try MemoryFolder()
    let place = "\(memory.path)/keys"
    try first.changeSettings { $0["runtime"] = .string(place) }
    await first.stop()
    let server = try await RunningServer(first.folder, first.port)
    // A file in place of the folder: the server may recreate the folder in between, but not over a file.
    repeat {
      try FileManager.default.removeItem(atPath: place)
    } while !FileManager.default.createFile(atPath: place, contents: nil)
    let start = ActivationStart(user: UserID("alice"), random: SystemRandomSource())
    let body = String(decoding: start.bytes, as: UTF8.self)
    let request =
      Self.head(
        "POST /main/v1/activation/start HTTP/1.1", "Content-Type: application/json",
        "Content-Length: \(body.utf8.count)") + body
    let answers = try await Self.exchange(server, [["send": .string(request), "times": 1000]])
    #expect(answers == ["500 1000"], "\(answers)")
    await server.stop()
    let events = try server.events.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
    for name in ["request", "handshakes.failed"] {
      let lines = try events.filter { try $0.string("event") == name }
      let spans = try Dictionary(grouping: lines) { try $0.integer("time") / 10 }
      // In addition to the hundred of ten seconds there are the first of each kind, and the lines of the server's own shutdown.
      #expect(!spans.isEmpty && spans.values.allSatisfy { $0.count <= 102 }, "\(spans.mapValues(\.count))")
      #expect(try events.contains { try $0.string("event") == "log.leftOut" && $0.string("of") == name })
    }
    withExtendedLifetime(memory) {}
  }
}
