import CLoadClient
import Foundation
import SignetCrypto
import SignetOATH
import SignetSQLite

extension Bench {
  /// Code checks over TLS, each with a fresh code and durable when answered, by 1, 8 and 32 connections in turn, beside
  /// what SQLite commits one at a time on the same disk.
  func server(_ report: inout Report) async throws {
    let folder = try workFolder()
    let load = try CodeLoad(directory: folder.path, users: options.isQuick ? 150 : 1000)
    let commits = try CommitLoad(directory: folder.path)
    let connections: [Int32] = [1, 8, 32]
    var runs: [Int32: [CodeLoad.Run]] = [:]
    var limits: [Double] = []
    _ = try load.run(connections: 8, count: load.limit / 4)  // warms up
    for _ in 0..<(options.isQuick ? 2 : 7) {
      for count in connections {
        runs[count, default: []].append(
          try load.run(connections: count, count: count == 1 ? load.limit / 4 : load.limit))
      }
      limits.append(try commits.rate(seconds: options.isQuick ? 0.2 : 0.7))
    }
    let limit = Samples(limits).median
    for count in connections {
      let runs = runs[count] ?? []
      let name = "POST /v1/otp/validate, \(count) connection\(count == 1 ? "" : "s")"
      let rate = Samples(runs.map(\.rate)).median
      let latencies = Samples(nanoseconds: runs.flatMap(\.latencies))
      report.add([
        Measurement(
          name: name, value: rate, unit: "requests/s",
          comparedWith: "SQLite, one commit each (1/p50) \(limit.formatted())/s",
          ratio: Samples(zip(runs, limits).map { $0.rate / $1 }).median),
        Measurement(name: "  latency p50", value: latencies.median, unit: "ms"),
        Measurement(name: "  latency p99", value: latencies.percentile(99), unit: "ms"),
        Measurement(
          name: "  server CPU a request", value: Samples(runs.map(\.serverCPU)).median, unit: "us",
          comparedWith: "load generator \(Samples(runs.map(\.clientCPU)).median.formatted()) us"),
      ])
    }
  }
}

/// Sends code checks to a server in a process of its own.
private final class CodeLoad {
  /// What one run gave.
  struct Run {
    /// Requests per second.
    let rate: Double
    /// Nanoseconds from request to answer.
    let latencies: [UInt64]
    /// Microseconds of CPU time for a request.
    let serverCPU: Double
    let clientCPU: Double
  }

  private let server: LineProcess
  private let port: UInt16
  private let key: String
  private let generators: [TOTP]
  private var time = ServerProcess.start
  /// The most requests in a run: every user has three codes.
  var limit: Int { generators.count * 3 }

  init(directory: String, users: Int) throws {
    server = try LineProcess(LineProcess.ownPath, [ServerProcess.verb, directory, String(users)])
    let parts = try server.readLine().split(separator: " ")
    guard parts.count == 2, let port = UInt16(parts[0]) else {
      throw LineProcess.Failure(description: "the server did not start")
    }
    (self.port, key) = (port, String(parts[1]))
    generators = try (0..<users).map {
      try TOTP(secret: ServerProcess.secret(of: $0), algorithm: .sha256, digits: 6, period: 30)
    }
  }

  /// Sends requests, each a fresh code of some user, and then lets the server's clock pass them all.
  func run(connections: Int32, count: Int) throws -> Run {
    let requests = try (0..<count).map { try request($0) }
    var latencies = [UInt64](repeating: 0, count: count)
    let before = try cpu()
    var cost = load_cost()
    let failedLine = unsafe requests.withUnsafePointers { requests in
      unsafe requests.baseAddress.map { base in
        unsafe load_client_run(port, connections, base, count, "\"valid\":true", &latencies, &cost)
      } ?? 0
    }
    guard failedLine == 0 else {
      throw LineProcess.Failure(description: "a code check failed (load_client.c:\(failedLine))")
    }
    let serverCPU = try cpu() - before
    _ = try server.ask("step")
    time += ServerProcess.step
    return Run(
      rate: Double(count) * 1e9 / Double(cost.elapsed), latencies: latencies,
      serverCPU: serverCPU / 1e3 / Double(count), clientCPU: Double(cost.cpu) / 1e3 / Double(count))
  }

  /// All users in turn: with their earlier code, then with the current one, then with the next.
  private func request(_ index: Int) throws -> String {
    let user = index % generators.count
    let code = try generators[user].code(at: time + Int64(index / generators.count - 1) * 30).code
    let body = "{\"user\":\"user\(user)\",\"code\":\"\(code)\"}"
    return
      "POST /main/v1/otp/validate HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(key)\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private func cpu() throws -> Double { Double(try server.ask("cpu")) ?? 0 }
}

/// Commits changes of one row to SQLite, one at a time and durable each: the least that storing a counter takes.
private final class CommitLoad {
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

extension [String] {
  /// Lends all texts as C strings.
  fileprivate func withUnsafePointers<R>(_ body: (UnsafeBufferPointer<UnsafePointer<CChar>>) throws -> R)
    rethrows -> R
  {
    let joined: [CChar] = flatMap(\.utf8CString)
    return try unsafe joined.withUnsafeBufferPointer { all in
      var pointers: [UnsafePointer<CChar>] = unsafe []
      var offset = 0
      for text in self {
        if let base = all.baseAddress { unsafe pointers.append(base + offset) }
        offset += text.utf8.count + 1
      }
      return try unsafe pointers.withUnsafeBufferPointer(body)
    }
  }
}
