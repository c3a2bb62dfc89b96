import Dispatch
import Signet
import SignetCrypto
import SignetHTTPClient
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import SignetVault
import Synchronization
import Testing

/// The live channel: a request that is answered when there is something new.
@Suite(.timeLimit(.minutes(10))) struct LiveChannelTests {
  @Test("a listening device gets a transaction and its end")
  func arrives() async throws {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    let first = try #require(try await device.transactionList(beyond: nil, for: container))
    #expect(first.list.transactions.isEmpty)
    async let waiting = device.transactionList(beyond: first, for: container)
    let id = try await server.createTransaction("Pay 1 EUR", for: container.user)
    let second = try #require(try await waiting)
    #expect(second.list.transactions.map(\.id) == [id])
    // A known list is not sent again; a different one is sent at once.
    let again = try #require(try await device.transactionList(beyond: first, for: container))
    #expect(again == second)
    async let next = device.transactionList(beyond: second, for: container)
    let request = try #require(second.list.transactions.first)
    try await device.decide(request, .accepted, with: container)
    #expect(try await next?.list.transactions.isEmpty == true)
    await server.stop()
  }

  /// The timer of a server's services: the test controls the time of waiting requests, and the pauses of polling loops are short.
  private final class WaitingTimer: Clock {
    private let inner = VirtualTimer()
    private let pauses = Mutex(0)

    var now: VirtualTimer.Instant { inner.now }
    var minimumResolution: Duration { .zero }
    /// The number of short pauses that have begun.
    var pauseCount: Int { pauses.withLock(\.self) }

    func advance(by duration: Duration) { inner.advance(by: duration) }

    func sleep(until deadline: VirtualTimer.Instant, tolerance: Duration?) async throws {
      guard inner.now.duration(to: deadline) <= .milliseconds(10) else {
        return try await inner.sleep(until: deadline, tolerance: tolerance)
      }
      pauses.withLock { $0 += 1 }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  @Test(
    "a waiting device learns of a transaction's expiry when it expires, not when the wait ends")
  func runsOut() async throws {
    let (clock, timer) = (VirtualClock(SystemWallClock().now), WaitingTimer())
    let folder = try TemporaryFolder()
    let inviting = try InvitingServer(
      folder: folder,
      server: await TestServer(directory: folder.path, protection: .device, clock: clock, timer: timer))
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    _ = try await TransactionService(server.context).create(
      "Pay 1 EUR", user: container.user, lifetime: 10, by: .key("test"))
    let known = try #require(try await device.transactionList(beyond: nil, for: container))
    #expect(known.list.transactions.count == 1)
    let next = Task { try await device.transactionList(beyond: known, for: container) }
    while await server.waitingDeviceCount == 0 { await Task.yield() }
    // Its request waits for 25 s without a change; deadlines are checked in one of twenty rounds, each with a pause.
    for seconds in [9, 1] {
      #expect(await server.waitingDeviceCount == 1)
      clock.advance(by: Int64(seconds))
      timer.advance(by: .seconds(seconds))
      let count = timer.pauseCount
      // The loop stops once no request waits.
      while timer.pauseCount < count + 41, await server.waitingDeviceCount > 0 { await Task.yield() }
    }
    #expect(await server.waitingDeviceCount == 0)
    // Without a change, the request is answered after its time-out.
    timer.advance(by: .seconds(25))
    #expect(try await next.value?.list.transactions.isEmpty == true)
    await server.stop()
  }

  @Test("a waiting device learns of its user's suspension, also without pending transactions")
  func suspended() async throws {
    let heard = try await heard { _ = try await $0.suspend($1, reason: "", by: .local) }
    guard case .refused(let problem) = heard else { throw heard }
    #expect(problem.code == .userNotActive)
  }

  @Test("a waiting device learns that its container was deleted with the user, and stops asking")
  func deleted() async throws {
    let heard = try await heard { _ = try await $0.delete($1, by: .local) }
    guard case .containerUnknown = heard else { throw heard }
  }

  /// The failure that a waiting device without pending requests receives after a change.
  private func heard(after change: (UserService, UserID) async throws -> Void) async throws -> SignetError {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    let empty = try #require(try await device.transactionList(beyond: nil, for: container))
    async let waiting = device.transactionList(beyond: empty, for: container)
    while await server.waitingDeviceCount == 0 { await Task.yield() }
    try await change(UserService(server.context), container.user)
    var heard: SignetError?
    do { _ = try await waiting } catch let failure as SignetError { heard = failure }
    await server.stop()
    return try #require(heard, "the device was told that its list is the same")
  }

  @Test("the channel of a suspended user asks on, after longer and longer pauses, until the user is resumed")
  func resumed() async throws {
    let inviting = try await InvitingServer()
    let users = UserService(inviting.server.context)
    let fixture = try DeviceFixture(inviting.transport)
    let container = try await fixture.activate(inviting.invite())
    _ = try await users.suspend(container.user, reason: "", by: .local)
    let states = Mutex<[LiveChannelState]>([])
    let pauses = Mutex<[Duration]>([])
    struct Enough: Error {}
    let lists = fixture.device.liveTransactions(
      for: container, noting: { state in states.withLock { $0.append(state) } },
      pausing: { pause in
        pauses.withLock { $0.append(pause) }
        if pause == .seconds(4) { _ = try await users.resume(container.user, by: .local) }
        if pause == .milliseconds(200) { throw Enough() }
      })
    var count = 0
    for try await _ in lists { count += 1 }
    #expect(count == 1)
    #expect(pauses.withLock(\.self) == [.seconds(1), .seconds(2), .seconds(4), .milliseconds(200)])
    let told = states.withLock(\.self)
    guard told.count == 2, case .interrupted(.refused(let problem)) = told[0] else {
      Issue.record("told \(told)")
      return
    }
    #expect(problem.code == .userNotActive && told[1] == .restored)
    await inviting.server.stop()
  }

  /// Runs an action after one of the steps of a storage, before its result is returned.
  private final class Interruption: Sendable {
    private let state = Mutex<(stepsLeft: Int, act: @Sendable () async throws -> Void)?>(nil)

    var faults: StepFaults {
      StepFaults(willBegin: {}) { [self] in
        let act = state.withLock { state -> (@Sendable () async throws -> Void)? in
          state?.stepsLeft -= 1
          guard let due = state, due.stepsLeft == 0 else { return nil }
          state = nil
          return due.act
        }
        guard let act else { return }
        let done = DispatchSemaphore(value: 0)
        Task.detached {
          do { try await act() } catch { Issue.record(error) }
          done.signal()
        }
        done.wait()
      }
    }

    /// Arms the action after a number of steps from now on; `nil` disarms it.
    func set(after count: Int?, _ act: @escaping @Sendable () async throws -> Void = {}) {
      state.withLock { $0 = count.map { ($0, act) } }
    }
  }

  @Test("a list is identified by its own tag, despite concurrent changes")
  func nameOfList() async throws {
    let (folder, interruption) = (try TemporaryFolder(), Interruption())
    let path = folder.file("signet.sqlite")
    let inviting = try InvitingServer(
      folder: folder,
      server: await TestServer(
        directory: folder.path, protection: .device,
        storage: { try Storage(.file(path)).suffering(interruption.faults) }))
    let context = inviting.server.context
    let others = TransactionService(
      ServiceContext(
        settings: context.settings, storage: try Storage(.file(path)), masterKey: context.masterKey,
        log: EventLog { _ in }))
    var counts: Set<Int> = []
    for place in 1...8 {
      let (user, fixture) = (UserID("user\(place)"), try DeviceFixture(inviting.transport))
      let container = try await fixture.activate(inviting.invite(user.text))
      let asked = Mutex<TransactionRecord?>(nil)
      interruption.set(after: place) {
        let record = try await others.create("Pay 1 EUR", user: user, lifetime: nil, by: .local)
        asked.withLock { $0 = record }
      }
      let first = try #require(try await fixture.device.transactionList(beyond: nil, for: container))
      interruption.set(after: nil)
      counts.insert(first.list.transactions.count)
      guard let record = asked.withLock(\.self), !first.list.transactions.isEmpty else { continue }
      try await others.withdraw(record.id, reason: "", by: .local)
      // Otherwise the device would still show a request that has ended.
      let next = try #require(try await fixture.device.transactionList(beyond: first, for: container))
      #expect(next.list.transactions.isEmpty, "asked for after step \(place)")
    }
    #expect(counts == [0, 1], "before the list was made, and after it")
    await inviting.server.stop()
  }

  @Test("a sequence gives the list now and after each change, and ends with its task")
  func sequence() async throws {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    let lists = AsyncStream<[TransactionID]>.makeStream()
    let task = Task {
      for try await list in device.liveTransactions(for: container) {
        lists.continuation.yield(list.transactions.map(\.id))
      }
    }
    var seen = lists.stream.makeAsyncIterator()
    #expect(await seen.next() == [])
    var made: [TransactionID] = []
    for number in 1...3 {
      made.append(try await server.createTransaction("Pay \(number) EUR", for: container.user))
      #expect(await Set(seen.next() ?? []) == Set(made))
    }
    task.cancel()
    _ = await task.result
    await server.stop()
  }

  /// Counts how often a key is opened.
  private final class WatchedKeystore: HardwareKeystore {
    private let inner = SimulatedHardware()
    private let count = Mutex(0)

    var kind: KeystoreKind { .software }
    var openingCount: Int { count.withLock { $0 } }

    func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
      try inner.seal(secret, context: context)
    }

    func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
      count.withLock { $0 += 1 }
      return try inner.unseal(blob, context: context)
    }
  }

  @Test("a sequence opens the session key once; calls one by one open it each time")
  func opensOnce() async throws {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let keystore = WatchedKeystore()
    let fixture = try DeviceFixture(inviting.transport, keystore: keystore)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    for _ in 1...2 {
      let before = keystore.openingCount
      _ = try await device.transactionList(beyond: nil, for: container)
      #expect(keystore.openingCount > before)
    }
    var lists = device.liveTransactions(for: container).makeAsyncIterator()
    #expect(try await lists.next()?.transactions.isEmpty == true)
    let opened = keystore.openingCount
    for number in 1...3 {
      _ = try await server.createTransaction("Pay \(number) EUR", for: container.user)
      while try await lists.next()?.transactions.count != number {}
    }
    #expect(keystore.openingCount == opened)
    await server.stop()
  }

  @Test("a session key's password is wiped once the key is open, while the sequence continues")
  func password() async throws {
    struct Watched { weak var password: SharedSecretBox? }
    let bench = try await KeyBench([.sessionTransport])
    func listen() throws -> (AsyncThrowingStream<TransactionList, any Error>, Watched) {
      let password = secret(try #require(KeyBench.passwords[.sessionTransport]))
      let lists = bench.device.liveTransactions(for: bench.container, by: .password(password))
      return (lists, Watched(password: password))
    }
    let (lists, watched) = try listen()
    var all = lists.makeAsyncIterator()
    #expect(try await all.next()?.transactions.isEmpty == true)
    // A thread of the vault may be about to release it.
    while watched.password != nil { await Task.yield() }
    let id = try await bench.server.server.createTransaction("Pay 1 EUR", for: bench.container.user)
    #expect(try await all.next()?.transactions.map(\.id) == [id])
    await bench.server.server.stop()
  }

  @Test("a permanent failure ends the sequence")
  func ends() async throws {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    _ = try await server.context.storage.revokeContainer(
      container.serverContainerID, audit: .sample(), lost: { _ in .sample() })
    await #expect(throws: SignetError.self) {
      for try await _ in device.liveTransactions(for: container) {}
    }
    await server.stop()
  }

  @Test("a stopping server releases waiting devices at once")
  func stops() async throws {
    let inviting = try await InvitingServer()
    let server = inviting.server
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    let first = try #require(try await device.transactionList(beyond: nil, for: container))
    let waiting = Task { try await device.transactionList(beyond: first, for: container) }
    while await server.waitingDeviceCount == 0 { await Task.yield() }
    await server.stop()
    #expect(try await waiting.value == nil)
  }

  /// The events of a live channel up to a test's last pause.
  private struct Listened {
    /// The number of received lists.
    let lists: Int
    let states: [LiveChannelState]
    let pauses: [Duration]
  }

  /// Activates a device behind `transport`, and listens until a pause of this length.
  ///
  /// `befall` runs between the two.
  private func listened(
    through transport: any HTTPTransport, of inviting: InvitingServer, until last: Duration,
    befall: () -> Void = {}
  ) async throws -> Listened {
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(inviting.invite())
    befall()
    let states = Mutex<[LiveChannelState]>([])
    let pauses = Mutex<[Duration]>([])
    struct Enough: Error {}
    let lists = fixture.device.liveTransactions(
      for: container, noting: { state in states.withLock { $0.append(state) } },
      pausing: { pause in
        pauses.withLock { $0.append(pause) }
        if pause == last { throw Enough() }
      })
    var count = 0
    for try await _ in lists { count += 1 }
    await inviting.server.stop()
    return Listened(lists: count, states: states.withLock { $0 }, pauses: pauses.withLock { $0 })
  }

  /// A server that answers waiting requests at once, with nothing new.
  private struct HastyTransport: HTTPTransport {
    let inner: any HTTPTransport

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      let isWaiting = request.headers.contains { $0.0 == "Prefer" }
      return isWaiting ? HTTPResponse(status: 304) : try await inner.send(request)
    }
  }

  /// A network that is down for two requests, starting with the first waiting one, and then reaches a server that answers at
  /// once.
  private struct BrokenTransport: HTTPTransport {
    let inner: HastyTransport
    let requests = Requests()

    /// Records for each request for the list, from the first waiting one on, whether it waits.
    final class Requests: Sendable {
      private let seen = Mutex<[Bool]>([])
      var areWaiting: [Bool] { seen.withLock(\.self) }

      /// Records a request; returns whether the network is down.
      func fails(isWaiting: Bool) -> Bool {
        seen.withLock { seen in
          guard isWaiting || !seen.isEmpty else { return false }
          seen.append(isWaiting)
          return seen.count <= 2
        }
      }
    }

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      guard request.url.hasSuffix("/device/transactions") else { return try await inner.send(request) }
      let isWaiting = request.headers.contains { $0.0 == "Prefer" }
      if requests.fails(isWaiting: isWaiting) { throw .unreachable(code: 7) }
      return try await inner.send(request)
    }
  }

  @Test("an interruption and its end are reported once, the end by a probe")
  func interrupted() async throws {
    let inviting = try await InvitingServer()
    let transport = BrokenTransport(inner: HastyTransport(inner: inviting.transport))
    let listened = try await self.listened(through: transport, of: inviting, until: .seconds(8))
    #expect(listened.states == [.interrupted(.transport(.unreachable(code: 7))), .restored])
    // A known list is not shown again.
    #expect(listened.lists == 1)
    // The second and the third request only test whether the server is reachable; after that, requests wait again.
    let areWaiting = transport.requests.areWaiting
    #expect(areWaiting.prefix(3) == [true, false, false])
    #expect(areWaiting.count > 4 && areWaiting.dropFirst(3).allSatisfy(\.self))
  }

  /// A proxy that lets no request wait.
  private struct ImpatientTransport: HTTPTransport {
    let inner: any HTTPTransport

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      let isWaiting = request.headers.contains { $0.0 == "Prefer" }
      return isWaiting ? HTTPResponse(status: 504) : try await inner.send(request)
    }
  }

  @Test("a proxy that cuts off held requests is reported once; pauses grow to 30 s")
  func impatientProxy() async throws {
    let inviting = try await InvitingServer()
    let listened = try await self.listened(
      through: ImpatientTransport(inner: inviting.transport), of: inviting, until: .seconds(30))
    #expect(listened.states == [.interrupted(.unexpectedAnswer(status: 504)), .restored])
    #expect(listened.pauses == [.milliseconds(200)] + [1, 2, 4, 8, 16, 30].map { .seconds($0) })
  }

  /// A proxy whose server is unreachable for three requests, starting with the first waiting one.
  private final class ProxyTransport: HTTPTransport {
    let inner: any HTTPTransport
    let status: Int
    let body: [UInt8]
    let isCutOff = Mutex(0)

    init(inner: any HTTPTransport, status: Int, body: [UInt8] = Array("<h1>Bad Gateway</h1>".utf8)) {
      (self.inner, self.status, self.body) = (inner, status, body)
    }

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      let isAway = isCutOff.withLock { left in
        defer { left = max(0, left - 1) }
        return left > 0
      }
      guard isAway else { return try await inner.send(request) }
      return HTTPResponse(status: status, headers: [("Content-Type", "text/html")], body: body)
    }
  }

  @Test("the sequence outlasts a proxy without its server", arguments: [500, 502, 503, 504, 429])
  func proxy(status: Int) async throws {
    let inviting = try await InvitingServer()
    let transport = ProxyTransport(inner: HastyTransport(inner: inviting.transport), status: status)
    let listened = try await self.listened(through: transport, of: inviting, until: .milliseconds(200)) {
      transport.isCutOff.withLock { $0 = 3 }
    }
    #expect(listened.states == [.interrupted(.unexpectedAnswer(status: status)), .restored])
    #expect(listened.lists == 1)
    #expect(listened.pauses == [.seconds(1), .seconds(2), .seconds(4), .milliseconds(200)])
  }

  @Test("the sequence outlasts a server's lock", arguments: [Problem.Code.deviceLocked, .containerLocked])
  func locked(code: Problem.Code) async throws {
    let inviting = try await InvitingServer()
    let problem = Problem(code, "Ask the operator.")
    let transport = ProxyTransport(
      inner: HastyTransport(inner: inviting.transport), status: code.status, body: problem.bytes)
    let listened = try await self.listened(through: transport, of: inviting, until: .milliseconds(200)) {
      transport.isCutOff.withLock { $0 = 2 }
    }
    #expect(listened.states == [.interrupted(.refused(problem)), .restored])
    #expect(listened.pauses == [.seconds(1), .seconds(2), .milliseconds(200)])
  }

  @Test("a failure that only a revocation resolves ends the sequence")
  func altered() async throws {
    let inviting = try await InvitingServer()
    let problem = Problem(.containerAltered, "Revoke it.")
    let transport = ProxyTransport(inner: inviting.transport, status: 403, body: problem.bytes)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(inviting.invite())
    transport.isCutOff.withLock { $0 = 1 }
    await #expect(throws: SignetError.refused(problem)) {
      for try await _ in fixture.device.liveTransactions(for: container) {}
    }
    await inviting.server.stop()
  }

  @Test("a permanent error page of a proxy ends the sequence")
  func proxyRefuses() async throws {
    let inviting = try await InvitingServer()
    let transport = ProxyTransport(inner: inviting.transport, status: 404)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(inviting.invite())
    transport.isCutOff.withLock { $0 = 1 }
    await #expect(throws: SignetError.unexpectedAnswer(status: 404)) {
      for try await _ in fixture.device.liveTransactions(for: container) {}
    }
    await inviting.server.stop()
  }

  @Test("a server that answers at once without news does not make the device poll faster")
  func hasty() async throws {
    let inviting = try await InvitingServer()
    let listened = try await self.listened(
      through: HastyTransport(inner: inviting.transport), of: inviting, until: .seconds(30))
    #expect(listened.lists == 1)
    #expect(listened.pauses == [.milliseconds(200)] + [1, 2, 4, 8, 16, 30].map { .seconds($0) })
  }
}
