import Foundation
import SignetJSON
import SignetTestKit
import SignetTransport
import Testing

/// Connections that say nothing, or say it slowly, and garbage as fast as it goes: others are served meanwhile, memory has a
/// bound, and all is as before when they have gone.
///
/// The bounds are of memory, which does not depend on how busy the machine is: they are a few times what was seen. What is waited for has
/// ``ChildProcess/limit``, and no rate is compared.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServerFloodTests {
  /// `Tests/Interop/flood.py`, which runs until it is told to end.
  private final class Flood {
    private let process: ChildProcess
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Interop/flood.py").standardized.path

    /// Starts it, and returns when it has begun.
    init(_ server: RunningServer, _ mode: String, from addresses: [String]) async throws {
      process = try ChildCommand(
        ["/usr/bin/python3", Self.script, "\(server.port)", server.authority, mode] + addresses,
        input: .pipe, output: .pipe
      ).start()
      try #require(await process.output.firstLine() == "ready")
    }

    deinit { process.kill() }

    /// Whether it has not ended by itself yet.
    var isRunning: Bool { process.isRunning }

    /// What it saw, when it has ended by itself.
    func result() async throws -> JSONObject {
      try JSONObject(parsing: Array(try #require(await process.output.firstLine()).utf8))
    }

    /// Ends it.
    func end() async throws -> JSONObject {
      try process.input.write(contentsOf: Data("\n".utf8))
      return try await result()
    }
  }

  private static func addresses(_ count: Int) -> [String] { (2..<(2 + count)).map { "127.0.0.\($0)" } }

  /// Waits until something is so; it is an issue of the test where that takes longer than a child may.
  private static func wait(for what: Comment, until isSo: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + ChildProcess.limit
    while try await !isSo() {
      try #require(ContinuousClock.now < end, what)
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Whether the server rests for a second.
  ///
  /// A thread that tries something without a pause runs at one of ten looks. One that tries every 10 ms sleeps at nearly all of them, but is
  /// woken 100 times. A server that nobody asks anything has some 40 switches of threads a second, by its own timers, also on a busy machine.
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

  /// Whether all threads of the server sleep, and how often each was switched to another so far (proc(5)).
  private static func threads(
    _ server: RunningServer
  ) throws -> (areWaiting: Bool, switches: [String: Int]) {
    let folder = "/proc/\(server.processID)/task"
    var (areWaiting, switches): (Bool, [String: Int]) = (true, [:])
    for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
      // One that has ended has no file any more.
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

  /// Clients that wait longer for a place than one is held: a connection that says nothing is closed after 15 s.
  private static func load(_ server: RunningServer) throws -> CodeLoad {
    try CodeLoad(server, keyFile: server.shopKey, clients: 32, timeoutSeconds: 120)
  }

  /// A server that has worked, so that what it keeps for good is there.
  private static func start(
    _ change: ((_ data: String, _ settings: inout JSONObject) throws -> Void)? = nil
  ) async throws -> (RunningServer, CodeLoad) {
    let server = try await RunningServer.startWithShop([], change)
    let load = try load(server)
    try await load.enroll()
    for _ in 0..<10 { try await serve(load) }
    return (server, load)
  }

  /// All of the good clients are served.
  private static func serve(_ load: CodeLoad) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for user in 0..<32 { group.addTask { try await load.validateNext(user) } }
      for try await isValid in group { #expect(isValid) }
    }
  }

  /// Waits until the server has closed what was opened beyond `count` descriptors.
  private static func waitForDescriptors(_ server: RunningServer, atMost count: Int) async throws {
    try await wait(for: "the server keeps descriptors") { try descriptors(server) <= count }
  }

  /// A flood of connections that say nothing.
  private static func halfOpenFlood(_ server: RunningServer) async throws -> Flood {
    try await Flood(server, "silent", from: addresses(8))
  }

  /// Whether the server is seen at rest while it has half of a flood beyond the `open` descriptors that it had.
  ///
  /// The flood ends when the server has closed all of it: then it is too late.
  private static func rests(_ server: RunningServer, _ open: Int, in flood: Flood) async throws -> Bool {
    // More than say nothing at all, so that half handshakes are among them.
    func areThere() throws -> Bool { try descriptors(server) >= open + 256 }
    var hasRested = false
    try await wait(for: "the server closes no connection that says nothing") {
      // They were there all the while if they are still.
      if try areThere(), try await isAtRest(server) { hasRested = try areThere() }
      return hasRested || !flood.isRunning
    }
    return hasRested
  }

  @Test("half-open connections and half requests are closed by the server, and nobody else notices them")
  func halfOpen() async throws {
    let (server, load) = try await Self.start()
    let (before, open) = (try server.memory(), try Self.descriptors(server))
    // Half a handshake is waited for, and not tried again and again. On a busy machine the server may have closed the flood before it was
    // seen at rest: that is tried again. One that never rests is not.
    let end = ContinuousClock.now + ChildProcess.limit
    var flood = try await Self.halfOpenFlood(server)
    while try await !Self.rests(server, open, in: flood) {
      try #require(ContinuousClock.now < end, "the server was never at rest")
      _ = try await flood.result()
      try await Self.waitForDescriptors(server, atMost: open + 8)
      flood = try await Self.halfOpenFlood(server)
    }
    for _ in 0..<5 { try await Self.serve(load) }
    // It ends by itself: the server has closed every one of them. How many it had taken depends on when it closed the first.
    let seen = try await flood.result()
    #expect(seen["opened"] == seen["closed"], "\(seen)")
    try await Self.waitForDescriptors(server, atMost: open + 8)
    let growth = (after: try server.memory() - before, peak: try server.memory("VmHWM") - before)
    print("ServerFloodTests: 512 half-open connections, KiB: \(growth)")
    #expect(growth.peak < 96 << 10 && growth.after < 64 << 10, "\(growth)")
    try await Self.serve(load)
    await server.stop()
  }

  @Test("requests that trickle in take only the places of their own addresses")
  func slowRequests() async throws {
    let (server, load) = try await Self.start()
    let (before, open) = (try server.memory(), try Self.descriptors(server))
    let flood = try await Flood(server, "trickle", from: Self.addresses(15))  // 64 places are left
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

  /// The answer to a new connection; nil where it is closed without one.
  private static func answer(_ server: RunningServer) async throws -> HTTPResponse? {
    let client = try APIClient(server, keyFile: server.shopKey)
    do { return try await client.send(.get, "live") } catch is TransportFailure { return nil }
  }

  @Test("where all places are taken, the next client is told to come again, and is served when there is one")
  func noPlaceLeft() async throws {
    // Few places: they are taken before those who take them, or the clients that were served, fall idle.
    let (server, load) = try await Self.start { $1["connections"] = ["total": 128] }
    let open = try Self.descriptors(server)
    var refusal: HTTPResponse?
    // On a busy machine there may be a place again, or the client too slow for the answer: all of it is tried again.
    for _ in 0..<5 where refusal == nil {
      try await Self.serve(load)
      let flood = try await Flood(server, "trickle", from: Self.addresses(3))
      refusal = try await Self.answer(server).flatMap { $0.status == 200 ? nil : $0 }
      _ = try await flood.end()
      try await Self.wait(for: "nobody else is served") { try await Self.answer(server)?.status == 200 }
      // One place was free; the clients that were closed meanwhile want as many as they had.
      try await Self.waitForDescriptors(server, atMost: open + 8)
    }
    let response = try #require(refusal, "there was always a place")
    #expect(response.status == 503)
    #expect(response.header("Retry-After") == "1")
    #expect(String(decoding: response.body, as: UTF8.self).contains("server.busy"))
    try await Self.serve(load)
    await server.stop()
  }

  @Test("a process that may open too few files says so, serves who is there, and others when there is room")
  func fewDescriptors() async throws {
    let first = try await RunningServer.startWithShop()
    await first.stop()
    let server = try await RunningServer(
      first.folder, first.port, launcher: ["/bin/sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"])
    #expect(server.events.contains("\"event\":\"descriptors.few\",\"limit\":\"256\""))
    let load = try Self.load(server)
    try await load.enroll()
    try await Self.serve(load)
    let open = try Self.descriptors(server)
    let flood = try await Flood(server, "silent", from: Self.addresses(5))  // 320 connections
    // One after the other: all at once might want a connection more than there are.
    for user in 0..<32 { #expect(try await load.validateNext(user)) }
    _ = try await flood.end()
    // Connections of the flood may still wait to be accepted, and take the room once more.
    try await Self.wait(for: "nobody else is served") { try await Self.answer(server)?.status == 200 }
    try await Self.waitForDescriptors(server, atMost: open + 8)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  @Test("garbage as fast as it goes is refused, and codes are checked meanwhile")
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
