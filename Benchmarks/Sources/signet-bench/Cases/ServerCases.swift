import BenchReport
import CLoadClient
import Foundation
import SignetCrypto
import SignetOATH
import SignetSQLite
import SignetTestKit

extension Bench {
  /// Code validations over TLS, each with a new code and a durable result.
  ///
  /// They run in turn with their bounds: SQLite's single commits on the same disk, and empty answers of the same HTTP library.
  /// The runs have a thousand and a million credentials with 1, 8 and 64 connections; a thousand are in PostgreSQL as well.
  func server(_ report: inout Report) async throws {
    let folders = [try workFolder(), try workFolder(), try workFolder()]
    defer { withExtendedLifetime(folders) {} }  // they are removed with their last use
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
      // Compared runs follow one another closely.
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

  /// Starts a server of privacyIDEA; returns `nil` if it is not installed or does not start.
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
  /// Empty answers of SignetHTTPServer.
  var emptySwift: [LoadRun] = []
  var small: [LoadRun] = []
  var large: [LoadRun] = []
  /// The same as `small`, with PostgreSQL in place of SQLite.
  var postgreSQL: [LoadRun] = []
  /// Commits per second.
  var limits: [Double] = []
  /// Validations per second.
  var privacyIDEA: [Double] = []

  /// The rows of codes of few credentials, compared with their bounds.
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
        name: "\(name), beside empty answers of SignetHTTPServer", value: rate, unit: "requests/s",
        comparedWith: "SignetHTTPServer \(emptySwift.rate.formatted())/s", ratio: rate / emptySwift.rate),
      ReportRow(
        name: "\(name), beside empty answers in C, CPU time of both sides", value: 1e6 / small.cost,
        unit: "requests/s", comparedWith: "libmicrohttpd, TLS \((1e6 / empty.cost).formatted())/s",
        ratio: empty.cost / small.cost),
    ]
  }

  /// The row compared with privacyIDEA; without a ratio and a goal if it was not measured in this run.
  func privacyIDEARow(_ name: String, _ peer: PrivacyIDEA?) -> ReportRow {
    .besidePrivacyIDEA(name, rate: small.rate, peer.map { ($0.version, Samples(privacyIDEA).median) })
  }
}

/// Sends code validations to a server in another process.
private final class CodeLoad {
  private let server: LineProcess
  private let port: UInt16
  private let key: String
  /// The number of users with a credential.
  let users: Int
  /// The number of users in a run.
  private let sample: Int
  private var turn = 0
  private var time = ServerProcess.start
  /// The maximum of requests in a run: two codes of every user in it.
  var limit: Int { sample * 2 }

  init(directory: String, users: Int, sample: Int? = nil, address: String? = nil) throws {
    server = try LineProcess(
      LineProcess.ownPath, [ServerProcess.verb, directory, String(users)] + [address].compactMap(\.self))
    let parts = try server.readLine().split(separator: " ")
    guard parts.count == 2, let port = UInt16(parts[0]) else {
      throw BenchmarkFailure(description: "the server did not start")
    }
    (self.port, key, self.users, self.sample) = (port, String(parts[1]), users, min(sample ?? users, users))
  }

  /// Sends batches of requests, each with a new code; after each batch the server's clock advances past the codes.
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

  /// Makes a request of the users in turn: first their current code, then the next.
  private func request(_ index: Int, _ chosen: [Int], _ generators: [TOTP]) throws -> String {
    let code = try generators[index % sample].code(at: time + Int64(index / sample) * 30).code
    let body =
      "{\"user\":\"user\(chosen[index % sample])\",\"code\":\"\(code)\",\"client\":\"192.0.2.\(index % 200)\"}"
    return post(body, port, key)
  }

  /// The server's peak memory so far, in bytes.
  func memory() throws -> Int { Int(try server.ask("memory")) ?? 0 }
}

/// Sends requests of the same size to a server with empty answers.
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

/// Commits changes of one row to SQLite, each durable: the minimum cost of storing a counter.
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

  /// Returns commits per second, from the median time of one.
  ///
  /// On a busy machine a few commits wait for a processor; a mean would make this limit look too low.
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
