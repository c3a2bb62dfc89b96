import Foundation
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetSQLite
import SignetTestKit
import Testing

/// Requests of unauthenticated clients to every endpoint of the installed server's description: none causes an error, and their
/// traces are bounded.
///
/// Only counts and memory are compared, which do not depend on the load of the machine.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UnauthenticatedFloodTests {
  /// The number of times each request is sent.
  private static let times = 5
  /// The number of concurrent requests, all from one address.
  private static let workers = 16
  /// The limit of open UAF requests for an address on this server, below the number that is sent.
  private static let openRequests = 4

  /// A server with a user who has a UAF key, so that requests for it can be served.
  private static func start() async throws -> RunningServer {
    let party = try await UAFParty.start()
    let link = try await party.link("registration", ["username": "alice"])
    let made = try await party.device().run(
      ["uaf", "oob", "run", link, "-a", "pin"] + party.words, passwords: ["271828"])
    try #require(made.status == 0, made.summary)
    // A restart: the whole log of this process is about the unauthenticated clients.
    return try await party.server.restarted { settings in
      var uaf = try settings.object("uaf")
      uaf["openRequests"] = .integer(Int64(openRequests))
      uaf["requestLifetime"] = 3600  // none of them expires during the test
      settings["uaf"] = .object(uaf)
    }
  }

  /// The number of rows in each table.
  private static func rows(_ server: RunningServer) throws -> [String: Int64] {
    let database = try Database(path: "\(server.data)/signet.sqlite", mode: .readOnly)
    let tables = try database.query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    var counts: [String: Int64] = [:]
    for table in tables {
      let name = try table.text("name")
      let count = try database.query("SELECT count(*) AS number FROM \"\(name)\"").first
      counts[name] = try #require(count).integer("number")
    }
    return counts
  }

  @Test("strangers' requests to every endpoint: no 5xx, a bounded log, bounded rows and memory")
  func everyEndpoint() async throws {
    let server = try await Self.start()
    let strangers = try Strangers(server)
    let requests = try await strangers.requests(toEvery: 80)
    let (rows, memory) = (try Self.rows(server), try server.memory())
    let statuses = try await strangers.send(requests, times: Self.times, by: Self.workers)
    // 503 is a failure here too: no request waits for anything.
    let failed = statuses.filter { ($0.statuses.max() ?? 0) >= 500 }
    #expect(failed.isEmpty, "\(failed)")
    // Some were served, rejected, not found and rate limited.
    let seen = statuses.reduce(into: Set<Int>()) { $0.formUnion($1.statuses) }
    #expect(seen.isSuperset(of: [200, 400, 401, 404, 429]), "\(seen)")
    let growth = try server.memory("VmHWM") - memory
    print("UnauthenticatedFloodTests: \(strangers.sentCount) requests, \(growth) KiB more")
    #expect(growth < 128 << 10, "\(growth) KiB")
    try Self.expectBounded(Self.rows(server), since: rows)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
    try Self.expectSampled(server.events, of: strangers.sentCount)
  }

  /// Expects a few new rows in four tables only: UAF requests, the server's signing key that the first request creates, and the
  /// audit log's counted events.
  private static func expectBounded(_ rows: [String: Int64], since before: [String: Int64]) {
    let limits: [String: Int64] = [
      "uaf_sessions": Int64(openRequests), "signing_keys": 1, "audit": 60, "audit_counts": 60,
    ]
    for (table, count) in rows {
      let more = count - before[table, default: 0]
      #expect(more <= limits[table, default: 0], "\(table): \(more) rows more")
    }
    #expect(rows["uaf_sessions", default: 0] > before["uaf_sessions", default: 0])
  }

  /// Expects that the log has each request as a line or in a count, and checks the number of lines.
  private static func expectSampled(_ log: String, of count: Int) throws {
    let lines = try log.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
    // The log does not count a rejection by the HTTP layer as a request.
    let requests: Set = ["request", "http.refused"]
    var (logged, kinds): (Int, Set<[String]>) = (0, [])
    for line in lines {
      let event = try line.string("event")
      if event == "log.leftOut" {
        if try requests.contains(line.string("of")) { logged += try #require(Int(line.string("count"))) }
      } else {
        if requests.contains(event) { logged += 1 }
        kinds.insert(
          try [event] + ["status", "method", "path", "reason"].map { try line.optionalString($0) ?? "" })
      }
    }
    #expect(logged == count)
    // In ten seconds: a hundred lines, the first of each kind, and a count of each kind of the previous ten. At the boundary, the
    // time of a concurrent request may fall in either interval.
    let limit = 100 + 2 * kinds.count + 2 * workers
    try #require(limit < count / 2, "\(limit)")
    for (time, some) in try Dictionary(grouping: lines, by: { try $0.integer("time") / 10 }) {
      #expect(some.count <= limit, "\(time): \(some.count) lines")
    }
  }
}

/// Unauthenticated clients behind a proxy; some endpoints would trust a client on the server's machine.
private final class Strangers {
  /// A request and the statuses of its answers.
  typealias Answered = (request: String, statuses: Set<Int>)

  /// The number of sent requests.
  private(set) var sentCount = 0
  private let server: RunningServer
  private let transport: CurlTransport
  private static let passedOn = ("X-Forwarded-For", "192.0.2.1")

  init(_ server: RunningServer) throws {
    self.server = server
    transport = try CurlTransport(
      ConnectionConfiguration(
        timeoutSeconds: 120,
        certificateAuthoritiesPEM: String(contentsOfFile: server.authority, encoding: .utf8),
        maximumResponseByteCount: 16 << 20))
  }

  /// Reads the server's description and makes requests to each endpoint: without credentials, with wrong ones of each accepted
  /// kind, and malformed.
  ///
  /// `SignetServerTests/APIDescriptionTests` checks that the description has each endpoint; `least` is the minimum number, in
  /// case it is misread.
  func requests(toEvery least: Int) async throws -> [HTTPRequest] {
    sentCount += 1
    let description = try await transport.send(
      HTTPRequest(url: "https://\(server.url)/v1/openapi.json", headers: [Self.passedOn]))
    let paths = try JSONObject(
      parsing: description.body, limits: JSONLimits(maximumByteCount: 16 << 20, maximumMemberCount: 1_000_000)
    ).object("paths")
    var (requests, endpoints): ([HTTPRequest], Int) = ([], 0)
    for (path, value) in paths.members {
      guard case .object(let item) = value else { throw JSONFailure.notAnObject }
      // UAF endpoints are at the root of the server.
      let base = item.contains("servers") ? "https://127.0.0.1:\(server.port)" : "https://\(server.url)"
      let url = base + path.replacing(/\{[^}]*\}/, with: "none")
      for (name, value) in item.members where !["parameters", "servers"].contains(name) {
        guard let method = HTTPMethod(rawValue: name.uppercased()), case .object(let operation) = value else {
          Issue.record("\(name) of \(path) is no method that requests are made for")
          continue
        }
        endpoints += 1
        requests += try Self.requests(method, url, operation)
      }
    }
    try #require(endpoints >= least, "\(endpoints) endpoints")
    return requests
  }

  private static func requests(
    _ method: HTTPMethod, _ url: String, _ operation: JSONObject
  ) throws -> [HTTPRequest] {
    let plain = HTTPRequest(method: method, url: url, headers: [passedOn])
    guard let content = try operation.optionalObject("requestBody")?.object("content").members else {
      var malformed = plain
      malformed.url += "?limit=x&after=x&wait=x"
      return try [plain, malformed] + wrong(plain, operation)
    }
    return try content.flatMap { type, value -> [HTTPRequest] in
      guard case .object(let described) = value else { throw JSONFailure.notAnObject }
      var wellFormed = plain
      wellFormed.headers.append(("Content-Type", type))
      var malformed = wellFormed
      wellFormed.body = try body(type, described.optionalObject("example") ?? [:])
      malformed.body = Array(String(repeating: "[", count: 2_000).utf8)
      return try [wellFormed, malformed] + wrong(wellFormed, operation)
    }
  }

  private static func body(_ type: String, _ example: JSONObject) throws -> [UInt8] {
    switch type {
    case "application/jose": Array(nobodysJWS.utf8)
    case "application/x-www-form-urlencoded":
      Array(
        try example.members.map { name, _ in
          let value = try example.string(name).addingPercentEncoding(withAllowedCharacters: .alphanumerics)
          return "\(name)=\(value ?? "")"
        }.joined(separator: "&").utf8)
    default: example.bytes
    }
  }

  /// Returns the request with invalid credentials of each kind that the endpoint accepts; with an API key if it accepts none.
  private static func wrong(_ request: HTTPRequest, _ operation: JSONObject) throws -> [HTTPRequest] {
    let schemes = try operation.array("security").flatMap { value -> [String] in
      guard case .object(let names) = value else { throw JSONFailure.notAnObject }
      return names.members.map(\.name)
    }
    return try (schemes.isEmpty ? ["relyingParty"] : schemes).map { scheme in
      var wrong = request
      switch scheme {
      case "device": wrong.headers.append(("Authorization", "Signet \(nobodysJWS)"))
      case "relyingParty", "admin": wrong.headers.append(("Authorization", "Bearer signet_0_0"))
      case "client": wrong.headers.append(("Authorization", "Basic bm9ib2R5Ondyb25n"))  // nobody:wrong
      case "uafUser": wrong.headers.append(("Authorization", "Bearer \(nobodysJWS)"))
      case "uafCookie":
        wrong.cookies = [try #require(RequestCookie(name: "__Host-signet-uaf", value: nobodysJWS))]
      case "uafDevice": wrong.headers.append(("Device-Signature", nobodysJWS))
      default: Issue.record("there are no wrong credentials of the kind \(scheme)")
      }
      return wrong
    }
  }

  /// A well-formed message of a device, or of a user after a UAF operation: the device is unknown, and the signature invalid.
  private static let nobodysJWS: String = {
    let header: JSONObject = ["alg": "ES256", "typ": "signet-request", "kid": "none"]
    let claims: JSONObject = [
      "dispatchTargetId": "none", "requestId": "1", "creationTimeInEpochMillis": 0,
    ]
    return [header.bytes, claims.bytes, [UInt8](repeating: 1, count: 64)].map(Base64URL.encode)
      .joined(separator: ".")
  }()

  /// Sends each request a number of times, by concurrent workers.
  func send(_ requests: [HTTPRequest], times: Int, by workers: Int) async throws -> [Answered] {
    sentCount += requests.count * times
    let transport = transport
    return try await withThrowingTaskGroup(of: [Answered].self) { group in
      for first in 0..<workers {
        group.addTask {
          var answered: [Answered] = []
          for index in stride(from: first, to: requests.count, by: workers) {
            let request = requests[index]
            var statuses: Set<Int> = []
            for _ in 0..<times { statuses.insert(try await transport.send(request).status) }
            answered.append(("\(request.method.rawValue) \(request.url)", statuses))
          }
          return answered
        }
      }
      return try await group.reduce(into: [Answered]()) { $0 += $1 }
    }
  }
}
