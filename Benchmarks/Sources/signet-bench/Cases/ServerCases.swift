import BenchReport
import CLoadClient
import Foundation
import SignetCrypto
import SignetOATH
import SignetSQLite
import SignetTestKit

extension Bench {
  /// Code checks over TLS, each with a fresh code and durable when answered.
  ///
  /// They run in turn with what bounds them: SQLite's commits one at a time on the same disk, and empty answers of the same
  /// HTTP library. A thousand credentials and a million; 1, 8 and 64 connections. A thousand are in PostgreSQL as well.
  func server(_ report: inout Report) async throws {
    let folders = [try workFolder(), try workFolder(), try workFolder()]
    defer { withExtendedLifetime(folders) {} }  // they go with their last use
    let small = try CodeLoad(directory: folders[0].path, users: options.isQuick ? 150 : 1000)
    let large = try CodeLoad(
      directory: folders[1].path, users: options.isQuick ? 20_000 : 1_000_000, sample: 1000)
    let postgreSQL = postgreSQL(&report)
    defer { withExtendedLifetime(postgreSQL) {} }
    let onPostgreSQL = try postgreSQL.map {
      try CodeLoad(directory: folders[2].path, users: small.users, address: $0.address($0.makeDatabase()))
    }
    let commits = try CommitLoad(directory: folders[0].path)
    let (empty, emptySwift) = (try EmptyLoad("c"), try EmptyLoad("swift"))
    let peer = privacyIDEA(folders[0].path, &report)
    var runs = ServerRuns()
    for load in [small, large, onPostgreSQL] {  // warms up
      if let load { _ = try load.run(connections: 8, count: load.limit) }
    }
    for _ in 0..<(options.isQuick ? 2 : 9) {
      runs.one.append(try small.run(connections: 1, count: small.limit / 4))
      runs.eight.append(try small.run(connections: 8, count: small.limit))
      runs.limits.append(try commits.rate(seconds: options.isQuick ? 0.2 : 0.7))
      runs.emptySwift.append(try emptySwift.run(connections: 64, count: small.limit, batches: 3))
      if let peer { runs.privacyIDEA.append(try peer.rate(seconds: options.isQuick ? 1 : 3)) }
      // Those that are compared follow one another closely.
      for _ in 0..<(options.isQuick ? 1 : 2) {
        let batches = options.isQuick ? 1 : 3
        runs.empty.append(try empty.run(connections: 64, count: small.limit, batches: batches))
        runs.small.append(try small.run(connections: 64, count: small.limit, batches: batches))
        if let onPostgreSQL {
          runs.postgreSQL.append(
            try onPostgreSQL.run(connections: 64, count: onPostgreSQL.limit, batches: batches))
        }
        runs.large.append(try large.run(connections: 64, count: large.limit, batches: batches))
      }
    }
    let name = { (load: CodeLoad, connections: String) in
      "POST /v1/otp/validate, \(load.users) credentials, \(connections)"
    }
    report.add(runs.one.rows(name(small, "1 connection")))
    report.add(runs.eight.rows(name(small, "8 connections")))
    report.add(runs.small.rows(name(small, "64 connections"), p99Below: 25))
    report.add(runs.comparisons(name(small, "64 connections")))
    report.add(runs.privacyIDEARow(name(small, "64 connections"), peer))
    report.add(runs.postgreSQL.rowsOfPostgreSQL(name(small, "64 connections"), beside: runs.small))
    report.add(runs.large.rows(name(large, "64 connections"), p99Below: 25))
    report.add([
      ReportRow(
        name: "\(name(large, "64 connections")), beside \(small.users)", value: runs.large.rate,
        unit: "requests/s", comparedWith: "\(small.users) credentials \(runs.small.rate.formatted())/s",
        ratio: runs.large.ratio(to: runs.small), goal: .ratioAtLeast(0.8)),
      ReportRow(
        name: "\(large.users) credentials: memory of the server",
        value: Double(try large.memory()) / 1_048_576,
        unit: "MiB", goal: .valueBelow(200)),
    ])
  }

  /// A server of privacyIDEA where it is installed and starts.
  private func privacyIDEA(_ directory: String, _ report: inout Report) -> PrivacyIDEA? {
    do { return try PrivacyIDEA(in: options.peers, directory: directory + "/privacyidea") } catch {
      report.leaveOut("the row beside privacyIDEA", "It did not start: \(error)")
      return nil
    }
  }
}

/// All runs of the server's group.
private struct ServerRuns {
  var one: [LoadRun] = []
  var eight: [LoadRun] = []
  /// At 64 connections: empty answers, codes of few credentials, codes of many.
  var empty: [LoadRun] = []
  /// Empty answers of SignetHTTP.
  var emptySwift: [LoadRun] = []
  var small: [LoadRun] = []
  var large: [LoadRun] = []
  /// As `small`, with PostgreSQL in the place of SQLite.
  var postgreSQL: [LoadRun] = []
  /// Commits per second.
  var limits: [Double] = []
  /// Validations per second.
  var privacyIDEA: [Double] = []

  /// Codes of few credentials beside what bounds them.
  func comparisons(_ name: String) -> [ReportRow] {
    let (rate, limit) = (small.rate, Samples(limits).median)
    return [
      ReportRow(
        name: "\(name), beside commits of SQLite", value: rate, unit: "requests/s",
        comparedWith: "one row, synchronous=FULL (1/p50) \(limit.formatted())/s", ratio: rate / limit,
        goal: .ratioAtLeast(2)),
      ReportRow(
        name: "\(name), beside empty answers in C", value: rate, unit: "requests/s",
        comparedWith: "libmicrohttpd, TLS \(empty.rate.formatted())/s", ratio: small.ratio(to: empty),
        goal: .ratioAtLeast(0.4)),
      ReportRow(
        name: "\(name), beside empty answers of SignetHTTP", value: rate, unit: "requests/s",
        comparedWith: "SignetHTTP \(emptySwift.rate.formatted())/s", ratio: rate / emptySwift.rate),
      ReportRow(
        name: "\(name), beside empty answers in C, CPU time of both sides", value: 1e6 / small.cost,
        unit: "requests/s", comparedWith: "libmicrohttpd, TLS \((1e6 / empty.cost).formatted())/s",
        ratio: empty.cost / small.cost),
    ]
  }

  /// The same beside privacyIDEA; without ratio and goal where that was not measured in this run.
  func privacyIDEARow(_ name: String, _ peer: PrivacyIDEA?) -> ReportRow {
    .besidePrivacyIDEA(name, rate: small.rate, peer.map { ($0.version, Samples(privacyIDEA).median) })
  }
}

/// Sends code checks to a server in a process of its own.
private final class CodeLoad {
  private let server: LineProcess
  private let port: UInt16
  private let key: String
  /// How many users have a credential.
  let users: Int
  /// How many users take part in a run.
  private let sample: Int
  private var turn = 0
  private var time = ServerProcess.start
  /// The most requests in a run: every user that takes part has two codes.
  var limit: Int { sample * 2 }

  init(directory: String, users: Int, sample: Int? = nil, address: String? = nil) throws {
    server = try LineProcess(
      LineProcess.ownPath, [ServerProcess.verb, directory, String(users)] + [address].compactMap(\.self))
    let parts = try server.readLine().split(separator: " ")
    guard parts.count == 2, let port = UInt16(parts[0]) else {
      throw LineProcess.Failure(description: "the server did not start")
    }
    (self.port, key, self.users, self.sample) = (port, String(parts[1]), users, min(sample ?? users, users))
  }

  /// Sends batches of requests, each a fresh code of some user; after each batch the server's clock passes them all.
  func run(connections: Int32, count: Int, batches: Int = 1) throws -> LoadRun {
    try LoadRun(server, port, connections: connections, expecting: "\"valid\":true", batches: batches) {
      if turn > 0 {
        _ = try server.ask("step")
        time += ServerProcess.step
      }
      // Other users each time, spread over all of them.
      turn += 1
      let chosen = (0..<sample).map { (turn * 104_729 + $0 * 7_919) % users }
      let generators = try chosen.map {
        try TOTP(secret: ServerProcess.secret(of: $0), algorithm: .sha256, digits: 6, period: 30)
      }
      return try (0..<count).map { try request($0, chosen, generators) }
    }
  }

  /// All who take part in turn: with their current code, then with the next.
  private func request(_ index: Int, _ chosen: [Int], _ generators: [TOTP]) throws -> String {
    let code = try generators[index % sample].code(at: time + Int64(index / sample) * 30).code
    let body =
      "{\"user\":\"user\(chosen[index % sample])\",\"code\":\"\(code)\",\"client\":\"192.0.2.\(index % 200)\"}"
    return post(body, port, key)
  }

  /// The largest memory of the server so far, in bytes.
  func memory() throws -> Int { Int(try server.ask("memory")) ?? 0 }
}

/// Sends requests of the same size to a server that answers nothing.
private final class EmptyLoad {
  private let server: LineProcess
  private let port: UInt16

  init(_ language: String) throws {
    server = try LineProcess(LineProcess.ownPath, [EmptyServer.verb, language])
    port = UInt16(try server.readLine()) ?? 0
  }

  func run(connections: Int32, count: Int, batches: Int) throws -> LoadRun {
    let body = "{\"user\":\"user123456\",\"code\":\"123456\",\"client\":\"192.0.2.1\"}"
    let request = post(body, port, String(repeating: "k", count: 67))
    return try LoadRun(server, port, connections: connections, expecting: "", batches: batches) {
      [String](repeating: request, count: count)
    }
  }
}

private func post(_ body: String, _ port: UInt16, _ key: String) -> String {
  "POST /main/v1/otp/validate HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(key)\r\n"
    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

/// Commits changes of one row to SQLite, one at a time and durable each: the least that storing a counter takes.
final class CommitLoad {
  private let database: Database
  private static let rows: Int64 = 10_000
  private var row: Int64 = 0

  init(directory: String) throws {
    database = try Database(path: directory + "/commits.sqlite")
    try database.execute("CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)")
    try database.transaction {
      for id in 0..<Self.rows {
        try database.execute("INSERT INTO counters (id, value) VALUES (?, 0)", .integer(id))
      }
    }
  }

  /// Commits per second, from the median time of one: on a busy machine few that had to wait for a processor would
  /// otherwise make the limit look lower than what is compared with it.
  func rate(seconds: Double) throws -> Double {
    let start = Clocks.wall
    var times: [UInt64] = []
    while Double(Clocks.wall - start) / 1e9 < seconds {
      row = (row + 7919) % Self.rows
      let before = Clocks.wall
      try database.transaction {
        try database.execute("UPDATE counters SET value = value + 1 WHERE id = ?", .integer(row))
      }
      times.append(Clocks.wall - before)
    }
    return 1e3 / Samples(nanoseconds: times).median
  }
}
