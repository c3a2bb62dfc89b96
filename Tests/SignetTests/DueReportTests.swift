import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Synchronization
import Testing

import Signet

/// Counts a device's requests, runs an action before a decision is sent, and rejects decisions in place of the server.
private final class WatchingTransport: HTTPTransport {
  private struct State {
    var requests: [HTTPRequest] = []
    var refusals = 0
    var replays = 0
    var beforeDecision: (@Sendable () -> Void)?
  }

  private let inner: any HTTPTransport
  private let state = Mutex(State())

  init(_ inner: any HTTPTransport) { self.inner = inner }

  /// The last path component of each decision and report, in order.
  var names: [String] {
    state.withLock { state in
      state.requests.compactMap { $0.url.split(separator: "/").last.map(String.init) }.filter {
        ["decision", "condition"].contains($0)
      }
    }
  }

  /// The bodies of the decisions.
  var decisions: [[UInt8]] {
    state.withLock { $0.requests.filter { $0.url.hasSuffix("/decision") }.map(\.body) }
  }

  /// Answers the next decisions with the problem that a report is due.
  func refuse(_ count: Int) { state.withLock { $0.refusals = count } }

  /// Answers the next reports with the problem that a newer challenge has replaced theirs.
  func replay(_ count: Int) { state.withLock { $0.replays = count } }

  /// Runs an action before a decision is sent.
  func beforeDecision(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.beforeDecision = action }
  }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let isDecision = request.url.hasSuffix("/decision")
    let isReplayed = state.withLock { state in
      guard request.url.hasSuffix("/condition"), request.body != Array("{}".utf8), state.replays > 0 else {
        return false
      }
      state.replays -= 1
      return true
    }
    let (action, isRefused) = state.withLock { state in
      state.requests.append(request)
      guard isDecision else { return (nil, false) as ((@Sendable () -> Void)?, Bool) }
      let isRefused = state.refusals > 0
      if isRefused { state.refusals -= 1 }
      return (state.beforeDecision, isRefused)
    }
    action?()
    guard !isRefused else { return HTTPResponse(status: 409, body: Problem(.reportDue, "why").bytes) }
    guard !isReplayed else { return HTTPResponse(status: 409, body: Problem(.reportReplayed, "why").bytes) }
    return try await inner.send(request)
  }
}

/// A device's reports that its server demands before it accepts a decision.
@Suite("Overdue reports", .timeLimit(.minutes(10)))
struct DueReportTests {
  /// A device at a server whose requirement `fresh` demands a report, and its requests.
  private struct Bench {
    let guarded: GuardedDevice
    let device: Device
    let watched: WatchingTransport
    let container: Container

    init(_ policies: JSONObject = [:]) async throws {
      let first = try await GuardedDevice(policies)
      let server = try await first.inviting.server.restarted { settings in
        var fresh = AuthenticationRequirement()
        fresh.longestReportAge = AuthenticationRequirement.reportAges.upperBound
        settings.requirements.own["fresh"] = fresh
      }
      guarded = try GuardedDevice(InvitingServer(folder: first.inviting.folder, server: server)) {
        $0.tamperScore = 0
      }
      watched = WatchingTransport(guarded.transport)
      device = GuardedDevice.device(guarded.fixture.vault, guarded.given, watched)
      container = try await guarded.activate()
    }

    /// Makes a request to alice that requires a report.
    func ask() async throws -> TransactionRequest {
      let order = TransactionDraft(
        .text("Pay 1 EUR"), from: TransactionService.testParty, user: container.user, requirements: ["fresh"])
      let made = try await TransactionService(guarded.inviting.server.context).create(order, by: .local)
      let waiting = try await device.pendingTransactions(for: container)
      return try #require(waiting.first { $0.id == made.record.id })
    }

    func state(_ request: TransactionRequest) async throws -> TransactionRecord.State? {
      try await guarded.inviting.server.context.storage.transaction(request.id)?.state
    }

    func decide(_ request: TransactionRequest, _ status: DecisionStatus) async -> SignetError? {
      await signetError { try await device.decide(request, status, with: container) }
    }
  }

  @Test("the device sends an overdue report and repeats the decision; the next one needs no report")
  func reports() async throws {
    let bench = try await Bench()
    let request = try await bench.ask()
    #expect(await bench.decide(request, .accepted) == nil)
    #expect(bench.watched.names == ["decision", "condition", "condition", "decision"])
    #expect(Set(bench.watched.decisions).count == 1)
    #expect(try await bench.state(request) == .accepted)
    #expect(try await bench.guarded.state(bench.container).report != nil)
    let next = try await bench.ask()
    #expect(await bench.decide(next, .accepted) == nil)
    #expect(bench.watched.names.count == 5 && bench.watched.names.last == "decision")
    #expect(try await bench.state(next) == .accepted)
    await bench.guarded.stop()
  }

  @Test("a denial needs no report")
  func denies() async throws {
    let bench = try await Bench()
    let request = try await bench.ask()
    #expect(await bench.decide(request, .denied) == nil)
    #expect(bench.watched.names == ["decision"])
    #expect(try await bench.state(request) == .denied)
    await bench.guarded.stop()
  }

  @Test("a decision is repeated once; a second refusal is thrown")
  func once() async throws {
    let bench = try await Bench()
    let request = try await bench.ask()
    bench.watched.refuse(2)
    #expect(await bench.decide(request, .accepted) == .refused(Problem(.reportDue, "why")))
    #expect(bench.watched.names == ["decision", "condition", "condition", "decision"])
    #expect(try await bench.state(request) == .pending)
    // The server has the report now.
    #expect(await bench.decide(request, .accepted) == nil)
    #expect(bench.watched.names.count == 5)
    await bench.guarded.stop()
  }

  @Test(
    "of two concurrent reports, the one superseded by the other still sends its decision"
  )
  func atOnce() async throws {
    let bench = try await Bench()
    let request = try await bench.ask()
    _ = try await bench.device.reportCondition(of: bench.container)
    bench.watched.refuse(1)
    bench.watched.replay(1)
    #expect(await bench.decide(request, .accepted) == nil)
    #expect(bench.watched.names.suffix(4) == ["decision", "condition", "condition", "decision"])
    #expect(try await bench.state(request) == .accepted)
    let requests = [try await bench.ask(), try await bench.ask(), try await bench.ask()]
    bench.watched.refuse(requests.count)
    let failures = await withTaskGroup(of: SignetError?.self) { group in
      for request in requests { group.addTask { await bench.decide(request, .accepted) } }
      return await group.reduce(into: [SignetError]()) { if let failure = $1 { $0.append(failure) } }
    }
    #expect(failures.isEmpty, "\(failures)")
    for request in requests { #expect(try await bench.state(request) == .accepted) }
    await bench.guarded.stop()
  }

  @Test("after a failed report, or one that locks, no decision is sent")
  func locks() async throws {
    let bench = try await Bench(["deviceTampering": ["score": 0.5]])
    let request = try await bench.ask()
    bench.guarded.transport.cut(.before, at: "/condition")
    #expect(await bench.decide(request, .accepted) == .transport(.unreachable(code: 7)))
    #expect(bench.watched.names == ["decision", "condition"])
    bench.guarded.transport.cut(nil, at: "/condition")
    bench.watched.beforeDecision { [given = bench.guarded.given] in given.set { $0.tamperScore = 1 } }
    guard case .accountLocked(let lock)? = await bench.decide(request, .accepted) else {
      Issue.record("not locked")
      return
    }
    #expect(lock.sources == [.policy, .server])
    #expect(bench.watched.names == ["decision", "condition", "decision", "condition", "condition"])
    // The user has no other authenticator that could answer it.
    #expect(try await bench.state(request) == .withdrawn)
    await bench.guarded.stop()
  }

  @Test("a container with a wipe order is deleted and decides nothing")
  func wipes() async throws {
    let bench = try await Bench()
    let request = try await bench.ask()
    _ = try await bench.guarded.order(.wipe, bench.container)
    // The order has ended the request, and the device receives it with the pending requests.
    #expect(await bench.decide(request, .accepted) != nil)
    #expect(try await bench.state(request) == .withdrawn)
    await #expect(throws: SignetError.containerWiped) {
      _ = try await bench.device.pendingTransactions(for: bench.container)
    }
    #expect(bench.watched.names == ["decision", "condition"])
    #expect(try await bench.guarded.fixture.isEmpty)
    await bench.guarded.stop()
  }
}
