import Foundation
import SignetCrypto
import SignetJSON
import SignetSQLite
import SignetTestKit
import SignetTransport
import Testing

/// Requests of strangers to every endpoint that the installed server describes: none fails, and what they leave behind is bounded.
///
/// What is compared are counts and memory, which do not depend on how busy the machine is.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StrangerFloodTests {
  /// How often each request is sent.
  private static let times = 5
  /// How many requests are under way at a time, all from one address.
  private static let workers = 16
  /// How many requests of UAF an address may have open on the server of this test: fewer than are sent.
  private static let openRequests = 4

  /// A server with a user who has a key of UAF: requests for it can be served.
  private static func start() async throws -> RunningServer {
    let party = try await UAFParty.start()
    let link = try await party.link("registration", ["username": "alice"])
    let made = try await party.device().run(
      ["uaf", "oob", "run", link, "-a", "pin"] + party.words, passwords: ["271828"])
    try #require(made.status == 0, made.summary)
    // Another process: all of its log is about strangers.
    return try await party.server.restarted { settings in
      var uaf = try settings.object("uaf")
      uaf["openRequests"] = .integer(Int64(openRequests))
      uaf["requestLifetime"] = 3600  // none of them ends while the test runs
      settings["uaf"] = .object(uaf)
    }
  }

  /// How many rows each table has.
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
    // They were served, refused, not found, and stopped.
    let seen = statuses.reduce(into: Set<Int>()) { $0.formUnion($1.statuses) }
    #expect(seen.isSuperset(of: [200, 400, 401, 404, 429]), "\(seen)")
    let growth = try server.memory("VmHWM") - memory
    print("StrangerFloodTests: \(strangers.sentCount) requests, \(growth) KiB more")
    #expect(growth < 128 << 10, "\(growth) KiB")
    try Self.expectBounded(Self.rows(server), since: rows)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
    try Self.expectSampled(server.events, of: strangers.sentCount)
  }

  /// Expects rows in four tables only, and few of them: requests of UAF, the key of the server's own that is made when it is first asked
  /// for, and what the audit log has of things that can be repeated.
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

  /// Expects that the log of a server has each request as a line or in a count, and how many lines there may be.
  private static func expectSampled(_ log: String, of count: Int) throws {
    let lines = try log.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
    // What HTTP itself refuses is no request to the log.
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
    // In ten seconds a hundred lines, besides the first of each kind, and a count of each kind of the ten before. Where these end, the
    // time of requests that are under way may be of either.
    let limit = 100 + 2 * kinds.count + 2 * workers
    try #require(limit < count / 2, "\(limit)")
    for (time, some) in try Dictionary(grouping: lines, by: { try $0.integer("time") / 10 }) {
      #expect(some.count <= limit, "\(time): \(some.count) lines")
    }
  }
}

/// Callers without an account, as a proxy passes them on: who is on the server's machine is not a stranger to all endpoints.
private final class Strangers {
  /// What is sent, and what came back.
  typealias Answered = (request: String, statuses: Set<Int>)

  /// How many requests were sent.
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

  /// Asks the server for its endpoints, and makes requests to each: without credentials, with wrong ones of each kind that it accepts, and
  /// with what is no request.
  ///
  /// `SignetServerTests/APIDescriptionTests` has the description name each endpoint; `least` is how many are found in it at least, lest it be
  /// misread.
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
      // Those of UAF are at the root of the server.
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

  /// A request with credentials that nobody has, of each kind that an endpoint accepts; with an API key where it accepts none.
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

  /// What a device, or a user after an operation of UAF, sends: well-formed, of a device that there is not, and signed by nobody.
  private static let nobodysJWS: String = {
    let header: JSONObject = ["alg": "ES256", "typ": "signet-request", "kid": "none"]
    let claims: JSONObject = [
      "dispatchTargetId": "none", "requestId": "1", "creationTimeInEpochMillis": 0,
    ]
    return [header.bytes, claims.bytes, [UInt8](repeating: 1, count: 64)].map(Base64URL.encode)
      .joined(separator: ".")
  }()

  /// Sends each request so many times, by some who do so at the same time.
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
