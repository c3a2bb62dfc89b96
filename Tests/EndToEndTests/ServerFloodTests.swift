import Foundation
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import Testing

/// Silent connections, slow ones, and garbage at full speed: other clients are served, memory is bounded, and everything is
/// normal afterwards.
///
/// The bounds are on memory, which does not depend on the load of the machine: a few times the observed values. Each wait has
/// ``ChildProcess/limit``, and no rate is compared.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServerFloodTests {
  /// `Tests/Interop/flood.py`, which runs until the test ends it.
  private final class Flood {
    private let process: ChildProcess
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Interop/flood.py").standardized.path

    /// Starts it, and returns when the flood has begun.
    init(_ server: RunningServer, _ mode: String, from addresses: [String]) async throws {
      process = try ChildCommand(
        ["/usr/bin/python3", Self.script, "\(server.port)", server.authority, mode] + addresses,
        input: .pipe, output: .pipe
      ).start()
      try #require(await process.output.firstLine() == "ready")
    }

    deinit { process.kill() }

    /// Indicates whether it still runs.
    var isRunning: Bool { process.isRunning }

    /// Its results, once it has ended without an order.
    func result() async throws -> JSONObject {
      try JSONObject(parsing: Array(try #require(await process.output.firstLine()).utf8))
    }

    /// Ends it and returns its results.
    func end() async throws -> JSONObject {
      try process.input.write(contentsOf: Data("\n".utf8))
      return try await result()
    }
  }

  private static func addresses(_ count: Int) -> [String] { (2..<(2 + count)).map { "127.0.0.\($0)" } }

  /// Waits for a condition; a wait longer than a child's limit is an issue of the test.
  private static func wait(for what: Comment, until isSo: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + ChildProcess.limit
    while try await !isSo() {
      try #require(ContinuousClock.now < end, what)
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Indicates whether the server is idle for a second.
  ///
  /// A thread that retries without a pause is seen running in one of ten samples. One that retries every 10 ms mostly sleeps, but
  /// wakes 100 times. An idle server has some 40 thread switches a second by its own timers, also on a busy machine.
  private static func isAtRest(_ server: RunningServer) async throws -> Bool {
    var switches: [String: Int]?
    for _ in 0..<10 {
      let threads = try threads(server)
      guard threads.areWaiting else { return false }
      switches = switches ?? threads.switches
      try await Task.sleep(for: .milliseconds(100))
    }
    let before = switches ?? [:]
    return try threads(server).switches.reduce(0) { $0 + $1.value - before[$1.key, default: 0] } < 80
  }

  /// Indicates whether all threads of the server sleep, with the number of switches of each so far (proc(5)).
  private static func threads(
    _ server: RunningServer
  ) throws -> (areWaiting: Bool, switches: [String: Int]) {
    let folder = "/proc/\(server.processID)/task"
    var (areWaiting, switches): (Bool, [String: Int]) = (true, [:])
    for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
      // An ended thread has no file any more.
      guard let status = FileManager.default.contents(atPath: "\(folder)/\(thread)/status") else { continue }
      for line in String(decoding: status, as: UTF8.self).split(separator: "\n") {
        let name = line.prefix { $0 != ":" }
        if name == "State", !line.hasPrefix("State:\tS") { areWaiting = false }
        if name == "voluntary_ctxt_switches" || name == "nonvoluntary_ctxt_switches" {
          switches[thread, default: 0] += try #require(Int(line.filter(\.isNumber)))
        }
      }
    }
    try #require(!switches.isEmpty, "the system does not count switches of threads")
    return (areWaiting, switches)
  }

  private static func descriptors(_ server: RunningServer) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.processID)/fd").count
  }

  /// Clients with a time-out longer than the time that a silent connection holds its slot: the server closes it after 15 s.
  private static func load(_ server: RunningServer) throws -> CodeLoad {
    try CodeLoad(server, keyFile: server.shopKey, clients: 32, timeoutSeconds: 120)
  }

  /// A server that has worked, so that its permanent memory is already allocated.
  private static func start(
    _ change: ((_ data: String, _ settings: inout JSONObject) throws -> Void)? = nil
  ) async throws -> (RunningServer, CodeLoad) {
    let server = try await RunningServer.startWithShop([], change)
    let load = try load(server)
    try await load.enrol()
    for _ in 0..<10 { try await serve(load) }
    return (server, load)
  }

  /// Expects that all valid clients are served.
  private static func serve(_ load: CodeLoad) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for user in 0..<32 { group.addTask { try await load.validateNext(user) } }
      for try await isValid in group { #expect(isValid) }
    }
  }

  /// Waits until the server has closed all descriptors beyond `count`.
  private static func waitForDescriptors(_ server: RunningServer, atMost count: Int) async throws {
    try await wait(for: "the server keeps descriptors") { try descriptors(server) <= count }
  }

  /// A flood of silent connections.
  private static func halfOpenFlood(_ server: RunningServer) async throws -> Flood {
    try await Flood(server, "silent", from: addresses(8))
  }

  /// Returns whether the server is seen idle while half of a flood is open, in addition to the `open` earlier descriptors.
  ///
  /// The flood ends when the server has closed all of it, after which it is too late to look.
  private static func rests(_ server: RunningServer, _ open: Int, in flood: Flood) async throws -> Bool {
    // More than the fully silent ones, so that incomplete handshakes are among them.
    func areThere() throws -> Bool { try descriptors(server) >= open + 256 }
    var hasRested = false
    try await wait(for: "the server closes no connection that says nothing") {
      // Open before and after the look, so open during it.
      if try areThere(), try await isAtRest(server) { hasRested = try areThere() }
      return hasRested || !flood.isRunning
    }
    return hasRested
  }

  @Test("the server closes half-open connections and incomplete requests; other clients are unaffected")
  func halfOpen() async throws {
    let (server, load) = try await Self.start()
    let (before, open) = (try server.memory(), try Self.descriptors(server))
    // The server waits for the rest of a handshake without polling. On a busy machine it may close the flood before it was seen
    // idle, so the look is repeated. A server that never idles fails each time.
    let end = ContinuousClock.now + ChildProcess.limit
    var flood = try await Self.halfOpenFlood(server)
    while try await !Self.rests(server, open, in: flood) {
      try #require(ContinuousClock.now < end, "the server was never at rest")
      _ = try await flood.result()
      try await Self.waitForDescriptors(server, atMost: open + 8)
      flood = try await Self.halfOpenFlood(server)
    }
    for _ in 0..<5 { try await Self.serve(load) }
    // The flood ends once the server has closed every connection. The number that was accepted depends on the time of the first
    // close.
    let seen = try await flood.result()
    #expect(seen["opened"] == seen["closed"], "\(seen)")
    try await Self.waitForDescriptors(server, atMost: open + 8)
    let growth = (after: try server.memory() - before, peak: try server.memory("VmHWM") - before)
    print("ServerFloodTests: 512 half-open connections, KiB: \(growth)")
    #expect(growth.peak < 96 << 10 && growth.after < 64 << 10, "\(growth)")
    try await Self.serve(load)
    await server.stop()
  }

  @Test("slow requests use up only the connections of their own addresses")
  func slowRequests() async throws {
    let (server, load) = try await Self.start()
    let (before, open) = (try server.memory(), try Self.descriptors(server))
    let flood = try await Flood(server, "trickle", from: Self.addresses(15))  // 64 slots are left
    try await Self.wait(for: "the server takes no connections") { try Self.descriptors(server) > open + 500 }
    for _ in 0..<10 { try await Self.serve(load) }
    let seen = try await flood.end()
    #expect(try seen.integer("opened") >= 900, "\(seen)")
    try await Self.waitForDescriptors(server, atMost: open + 8)
    let growth = (after: try server.memory() - before, peak: try server.memory("VmHWM") - before)
    print("ServerFloodTests: 960 trickling connections, KiB: \(growth)")
    #expect(growth.peak < 160 << 10 && growth.after < 96 << 10, "\(growth)")
    try await Self.serve(load)
    await server.stop()
  }

  /// The answer to a new connection; `nil` if it is closed without one.
  private static func answer(_ server: RunningServer) async throws -> HTTPResponse? {
    let client = try APIClient(server, keyFile: server.shopKey)
    do { return try await client.send(.get, "live") } catch is TransportFailure { return nil }
  }

  @Test("at the connection limit a client gets a retry answer, and is served once a connection ends")
  func noPlaceLeft() async throws {
    // Few slots, which the flood takes before any of its connections, or of the served clients, becomes idle.
    let (server, load) = try await Self.start { $1["connections"] = ["total": 128] }
    let open = try Self.descriptors(server)
    var refusal: HTTPResponse?
    // On a busy machine a slot may become free, or the client may be too slow for the answer, so the whole attempt is repeated.
    for _ in 0..<5 where refusal == nil {
      try await Self.serve(load)
      let flood = try await Flood(server, "trickle", from: Self.addresses(3))
      refusal = try await Self.answer(server).flatMap { $0.status == 200 ? nil : $0 }
      _ = try await flood.end()
      try await Self.wait(for: "nobody else is served") { try await Self.answer(server)?.status == 200 }
      // One slot was free; the clients that were closed in between need as many as before.
      try await Self.waitForDescriptors(server, atMost: open + 8)
    }
    let response = try #require(refusal, "there was always a place")
    #expect(response.status == 503)
    #expect(response.header("Retry-After") == "1")
    #expect(String(decoding: response.body, as: UTF8.self).contains("server.busy"))
    try await Self.serve(load)
    await server.stop()
  }

  @Test("a server at its limit of open files logs it, and serves further clients once there is room")
  func fewDescriptors() async throws {
    let first = try await RunningServer.startWithShop()
    await first.stop()
    let server = try await RunningServer(
      first.folder, first.port, launcher: ["/bin/sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"])
    #expect(server.events.contains("\"event\":\"descriptors.few\",\"limit\":\"256\""))
    let load = try Self.load(server)
    try await load.enrol()
    try await Self.serve(load)
    let open = try Self.descriptors(server)
    let flood = try await Flood(server, "silent", from: Self.addresses(5))  // 320 connections
    // One after the other: all at once might need one connection more than there are.
    for user in 0..<32 { #expect(try await load.validateNext(user)) }
    _ = try await flood.end()
    // Connections of the flood may still wait to be accepted and fill the slots once more.
    try await Self.wait(for: "nobody else is served") { try await Self.answer(server)?.status == 200 }
    try await Self.waitForDescriptors(server, atMost: open + 8)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  @Test("a flood of garbage is refused while codes are verified")
  func garbage() async throws {
    let (server, load) = try await Self.start()
    let (before, open) = (try server.memory(), try Self.descriptors(server))
    let flood = try await Flood(server, "garbage", from: Self.addresses(4))
    let rounds = 20
    for _ in 0..<rounds { try await Self.serve(load) }
    let seen = try await flood.end()
    let statuses = try seen.object("seen").members.map(\.name)
    print(
      "ServerFloodTests: \(try seen.integer("rate")) pieces of garbage a second, \(32 * rounds) codes, \(seen)"
    )
    #expect(Set(statuses).isSubset(of: ["400", "401", "404", "405", "413", "415"]), "\(statuses)")
    #expect(!statuses.isEmpty)
    try await Self.waitForDescriptors(server, atMost: open + 8)
    let growth = (after: try server.memory() - before, peak: try server.memory("VmHWM") - before)
    print("ServerFloodTests: garbage, KiB: \(growth)")
    #expect(growth.peak < 96 << 10 && growth.after < 64 << 10, "\(growth)")
    try await Self.serve(load)
    #expect(!server.events.contains("\"status\":\"5"))
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }
}
