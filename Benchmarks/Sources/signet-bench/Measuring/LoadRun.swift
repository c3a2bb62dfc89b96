import BenchReport
import CLoadClient
import SignetTestKit

/// The results of one run of a load.
struct LoadRun {
  /// Requests per second.
  var rate: Double { Double(latencies.count) * 1e9 / elapsed }
  /// Nanoseconds from request to answer.
  private(set) var latencies: [UInt64] = []
  /// Microseconds of CPU time for a request.
  var serverCPU: Double { server / 1e3 / Double(latencies.count) }
  var clientCPU: Double { client / 1e3 / Double(latencies.count) }

  private var elapsed = 0.0
  private var server = 0.0
  private var client = 0.0

  /// Sends requests over some connections, in several batches.
  ///
  /// - Parameters:
  ///   - server: The server, which reports its CPU time.
  ///   - port: Its port.
  ///   - connections: 1 to 64.
  ///   - expected: A text that every answer contains.
  ///   - batches: The number of batches.
  ///   - requests: Makes a batch.
  /// - Throws: `BenchmarkFailure` if a request fails.
  init(
    _ server: LineProcess, _ port: UInt16, connections: Int32, expecting expected: String, batches: Int,
    _ requests: () throws -> [String]
  ) throws {
    guard let load = unsafe load_client_open(port, connections) else {
      throw BenchmarkFailure(description: "the server does not let \(connections) clients in")
    }
    defer { unsafe load_client_close(load) }
    func cpu() throws -> Double { Double(try server.ask("cpu")) ?? 0 }
    for _ in 0..<batches {
      let requests = try requests()
      var (batch, cost) = ([UInt64](repeating: 0, count: requests.count), load_cost())
      let before = try cpu()
      let failedLine = unsafe requests.withUnsafePointers { requests in
        unsafe requests.baseAddress.map { base in
          unsafe load_client_run(load, base, requests.count, expected, &batch, &cost)
        } ?? 0
      }
      guard failedLine == 0 else {
        throw BenchmarkFailure(description: "a request failed (load_client.c:\(failedLine))")
      }
      latencies += batch
      (elapsed, client) = (elapsed + Double(cost.elapsed), client + Double(cost.cpu))
      self.server += try cpu() - before
    }
  }
}

/// Runs of the same load.
extension [LoadRun] {
  /// Requests per second.
  var rate: Double { Samples(map(\.rate)).median }

  /// Microseconds of CPU time for a request, at the server and at the load generator.
  var cost: Double { Samples(map { $0.serverCPU + $0.clientCPU }).median }

  /// Returns the median of the ratios of consecutive runs.
  func ratio(to others: [LoadRun]) -> Double { Samples(zip(self, others).map { $0.rate / $1.rate }).median }

  /// Returns the rows of a server with PostgreSQL, compared with the same load on SQLite; none if it was not measured.
  func rowsOfPostgreSQL(_ name: String, beside others: [LoadRun]) -> [ReportRow] {
    guard !isEmpty else { return [] }
    return rows("\(name), PostgreSQL") + [
      ReportRow(
        name: "\(name), PostgreSQL beside SQLite", value: rate, unit: "requests/s",
        comparedWith: "SQLite \(others.rate.formatted())/s", ratio: ratio(to: others))
    ]
  }

  /// Returns the rows of rate, latencies, and the server's cost of a request.
  func rows(_ name: String, atLeast rate: Double? = nil, p99Below limit: Double? = nil) -> [ReportRow] {
    let latencies = Samples(nanoseconds: flatMap(\.latencies))
    return [
      ReportRow(name: name, value: self.rate, unit: "requests/s", goal: rate.map { .rateAtLeast($0) }),
      ReportRow(name: "\(name): latency p50", value: latencies.median, unit: "ms"),
      ReportRow(
        name: "\(name): latency p99", value: latencies.percentile(99), unit: "ms",
        goal: limit.map { .valueBelow($0) }, notes: "of \(latencies.count)"),
      ReportRow(
        name: "\(name): server CPU a request", value: Samples(map(\.serverCPU)).median, unit: "us",
        comparedWith: "load generator \(Samples(map(\.clientCPU)).median.formatted()) us"),
    ]
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
