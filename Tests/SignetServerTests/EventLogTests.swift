import SignetJSON
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Synchronization
import Testing

/// The log: unauthenticated clients cannot fill a disk, and each omitted line is counted.
@Suite struct EventLogTests {
  /// A log with its output.
  private final class Written: Sendable {
    let clock = VirtualClock(1_000_000)
    private let lines = Mutex<[String]>([])
    var log: EventLog {
      EventLog(clock: clock) { line in self.lines.withLock { $0.append(line) } }
    }

    /// Returns the lines since the last call, without their times.
    func take() throws -> [JSONObject] {
      let lines = lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
      return try lines.map { try JSONObject(parsing: Array($0.utf8)) }
    }
  }

  @Test(
    "at most 100 lines on refused requests in ten seconds, then a count of the others"
  )
  func sample() throws {
    let written = Written()
    let log = written.log
    for number in 0..<10_000 {
      log.sampled(
        "request", of: "POST /main/v1/activation/finish",
        ["status": "403", "from": "192.0.2.\(number % 2)"])
    }
    let first = try written.take()
    #expect(first.count == 100)
    #expect(try first.allSatisfy { try $0.string("event") == "request" && $0.string("status") == "403" })
    written.clock.advance(by: 10)
    log.sampled("request", of: "POST /main/v1/activation/finish", ["status": "403", "from": "192.0.2.1"])
    let next = try written.take()
    #expect(next.count == 2)
    let count = try #require(next.first)
    #expect(try count.string("event") == "log.leftOut" && count.string("of") == "request")
    #expect(try count.string("subject") == "POST /main/v1/activation/finish")
    #expect(try count.string("status") == "403")
    #expect(try count.string("count") == "9900")
    #expect(try count.string("most") == "192.0.2.0 4950, 192.0.2.1 4950")
    #expect(try count.string("from") == "1000000" && count.string("seconds") == "10")
    #expect(try next[1].string("event") == "request")
  }

  @Test("a flood of one kind leaves the first line of every other kind in the log")
  func kinds() throws {
    let written = Written()
    let log = written.log
    for _ in 0..<1000 { log.sampled("request", of: "a", ["status": "403"]) }
    for status in ["400", "401", "404"] {
      for _ in 0..<3 { log.sampled("request", of: "b", ["status": status]) }
    }
    log.sampled("activation.refused", ["reason": "no open invite"])
    let lines = try written.take()
    #expect(lines.count == 100 + 3 + 1)
    #expect(try lines.suffix(4).map { try $0.optionalString("status") } == ["400", "401", "404", nil])
  }

  @Test("a flood from one network leaves the first line from every other network in the log, and is named")
  func networks() throws {
    let written = Written()
    let log = written.log
    func refuse(_ address: String) { log.sampled("request", of: "a", ["status": "403", "from": address]) }
    // An IPv6 network counts as one address, with any interface identifier.
    for number in 0..<1000 { refuse("2001:db8:0:1::\(String(number, radix: 16))") }
    for _ in 0..<3 { for number in 1...4 { refuse("192.0.2.\(number)") } }
    refuse("192.0.2.4")
    let lines = try written.take()
    #expect(lines.count == 100 + 4)
    #expect(try lines.suffix(4).map { try $0.string("from") } == (1...4).map { "192.0.2.\($0)" })
    written.clock.advance(by: 10)
    refuse("192.0.2.1")
    let count = try #require(try written.take().first)
    #expect(try count.string("count") == "909")
    #expect(try count.string("most") == "2001:db8:0:1::/64 900, 192.0.2.4 3, 192.0.2.1 2")
  }

  @Test("a flood from very many networks fills neither the disk nor the memory")
  func manyNetworks() throws {
    let written = Written()
    let log = written.log
    for number in 0..<20_000 {
      log.sampled("request", ["status": "404", "from": "10.\(number >> 8).\(number & 0xFF).1"])
    }
    #expect(try written.take().count == 256)
    written.clock.advance(by: 10)
    log.sampled("request", ["status": "404", "from": "unknown"])
    let count = try #require(try written.take().first)
    #expect(try count.string("count") == "19744" && count.optionalString("most") == nil)
  }

  @Test(
    "at most 100 lines on a recurring failure in ten seconds, and the others are counted")
  func failures() throws {
    let written = Written()
    let log = written.log
    for _ in 0..<300 { log.sampled("request", of: "a", ["status": "500"]) }
    for _ in 0..<3000 { _ = Dialect.problem(StorageFailure.full, log) }
    for _ in 0..<3000 { _ = Dialect.problem(StorageFailure.failed(detail: "x"), log) }
    let lines = try written.take()
    #expect(lines.count == 100 + 1)
    let cause = try #require(lines.last)
    #expect(try cause.string("event") == "storage.failed" && cause.string("level") == "error")
    written.clock.advance(by: 10)
    _ = Dialect.problem(StorageFailure.full, log)
    let next = try written.take()
    #expect(try next.map { try $0.string("event") } == ["log.leftOut", "log.leftOut", "storage.failed"])
    #expect(try next[1].string("of") == "storage.failed" && next[1].string("count") == "5999")
  }

  @Test(
    "served requests and other failures are always logged; without omissions there is no count"
  )
  func others() throws {
    let written = Written()
    let log = written.log
    for _ in 0..<300 {
      log.info("request", ["status": "200"])
      log.error("storage.failed", ["cause": "x"])
    }
    for _ in 0..<100 { log.sampled("request", ["status": "404"]) }
    written.clock.advance(by: 60)
    log.sampled("request", ["status": "404"])
    #expect(try written.take().count == 701)
  }

  @Test("after the clock is set back, counting restarts")
  func clockBack() throws {
    let written = Written()
    let log = written.log
    for _ in 0..<150 { log.sampled("request", ["status": "404"]) }
    written.clock.advance(by: -3600)
    log.sampled("request", ["status": "404"])
    let events = try written.take().map { try $0.string("event") }
    #expect(events == Array(repeating: "request", count: 100) + ["log.leftOut", "request"])
  }
}
