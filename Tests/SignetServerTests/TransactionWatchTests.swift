import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import Testing

/// Requests that wait for a change and are answered at once.
@Suite(.timeLimit(.minutes(10))) struct TransactionWatchTests {
  private let server: ServerFixture
  private let watch: TransactionWatch

  init() throws {
    server = try ServerFixture()
    watch = TransactionWatch(server.context, limit: 300, limitPerAddress: 250)
  }

  private static let later = Duration.seconds(3_600)

  private func enter(_ user: UserID, _ container: String = "c\(Int.random(in: 0..<Int.max))") async throws
    -> TransactionWatch.Ticket
  {
    try #require(await watch.enter(for: user, container: container, from: "192.0.2.1"))
  }

  /// Waits until a number of requests wait.
  private func until(waiting count: Int) async {
    while await watch.waitingCount < count { await Task.yield() }
  }

  private func create(_ user: UserID, on storage: Storage? = nil) async throws {
    let record = TransactionRecord(
      id: "\(user)-\(Int.random(in: 0..<Int.max))", user: user, content: "{}", created: 1, expires: .max)
    let limits = TransactionLimits(pending: 1000, challenges: 1000)
    _ = try await (storage ?? server.storage).addTransaction(record, key: nil, limits: limits) { _ in
      .sample()
    }
  }

  private func addUsers() async throws {
    for name in ["alice", "bob"] { try await server.users.add(UserID(name), by: .local) }
  }

  @Test("a waiting device is notified of changes of its own user only")
  func tells() async throws {
    try await addUsers()
    let (alice, bob) = (try await enter("alice"), try await enter("bob"))
    async let forAlice = watch.wait(with: alice, until: Self.later)
    async let forBob = watch.wait(with: bob, until: Self.later)
    await until(waiting: 2)
    try await create("alice")
    #expect(await forAlice)
    #expect(await watch.waitingCount == 1)
    await watch.stop()
    #expect(await forBob == false)
  }

  @Test("a change by another process is notified")
  func otherProcess() async throws {
    try await addUsers()
    let other = try Storage(server.location)
    let ticket = try await enter("alice")
    async let told = watch.wait(with: ticket, until: Self.later)
    await until(waiting: 1)
    try await create("alice", on: other)
    #expect(await told)
    await other.close()
  }

  /// Another process on the same database, whose loops use a timer of the test.
  private func other(_ timer: VirtualTimer) throws -> ServiceContext {
    ServiceContext(
      settings: server.context.settings, storage: try Storage(server.location),
      masterKey: server.context.masterKey, clock: server.clock, log: server.capture.log,
      derivation: .insecureForTests, timer: timer)
  }

  @Test("how long a request waits is counted by the timer of the services")
  func deadline() async throws {
    let timer = VirtualTimer()
    timer.advance(by: .seconds(7))
    let other = try other(timer)
    let watch = TransactionWatch(other)
    let ticket = try #require(await watch.enter(for: "alice", container: "c", from: "192.0.2.1"))
    async let told = watch.wait(with: ticket, until: .seconds(50))
    while await watch.waitingCount == 0 { await Task.yield() }
    // Deadlines are checked in one of twenty rounds.
    for _ in 0..<40 { timer.advance(by: await timer.untilSomeoneSleeps()) }
    #expect(await watch.waitingCount == 1)
    _ = await timer.untilSomeoneSleeps()
    timer.advance(by: .seconds(50))
    for _ in 0..<20 { timer.advance(by: await timer.untilSomeoneSleeps()) }
    #expect(await told == false)
    await watch.stop()
    await other.storage.close()
  }

  @Test("a suspension in another process is seen at the next poll (10 ms)")
  func suspended() async throws {
    try await addUsers()
    let timer = VirtualTimer()
    let other = try other(timer)
    let watch = TransactionWatch(other)
    let ticket = try #require(await watch.enter(for: "alice", container: "c", from: "192.0.2.1"))
    async let told = watch.wait(with: ticket, until: Self.later)
    while await watch.waitingCount == 0 { await Task.yield() }
    let pause = await timer.untilSomeoneSleeps()
    #expect(pause == .milliseconds(10))
    _ = try await server.users.suspend(UserID("alice"), reason: "", by: .local)
    timer.advance(by: pause)
    // It has looked once it sleeps again.
    _ = await timer.untilSomeoneSleeps()
    #expect(await watch.waitingCount == 0)
    await watch.stop()
    #expect(await told)
    await other.storage.close()
  }

  @Test("a change between taking a place and waiting is not missed")
  func betweenTheTwo() async throws {
    try await addUsers()
    for _ in 1...20 {
      let ticket = try await enter("alice")
      try await create("alice")
      #expect(await watch.wait(with: ticket, until: Self.later))
      await watch.leave(ticket)
    }
  }

  @Test("all of many concurrent waiters are notified")
  func many() async throws {
    try await addUsers()
    let told = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<200 {
        group.addTask {
          let ticket = try await enter(number.isMultiple(of: 2) ? "alice" : "bob")
          let told = await watch.wait(with: ticket, until: Self.later)
          await watch.leave(ticket)
          return told
        }
      }
      await until(waiting: 200)
      try await create("alice")
      try await create("bob")
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(told == 200)
  }

  @Test("waiting requests are limited per container (two), per address and in total")
  func places() async throws {
    let small = TransactionWatch(server.context, limit: 4, limitPerAddress: 3)
    func enter(_ container: String, _ address: String) async -> TransactionWatch.Ticket? {
      await small.enter(for: "alice", container: container, from: address)
    }
    let first = try #require(await enter("c1", "a"))
    let ended = Task { await small.wait(with: first, until: Self.later) }
    while await small.waitingCount == 0 { await Task.yield() }
    _ = try #require(await enter("c1", "a"))
    _ = try #require(await enter("c1", "a"))
    #expect(await ended.value == false)
    _ = try #require(await enter("c2", "a"))
    #expect(await enter("c3", "a") == nil)
    _ = try #require(await enter("c3", "b"))
    #expect(await enter("c4", "c") == nil)
    await small.stop()
  }

  @Test("a new wait of the same container, or its end, ends the wait at once")
  func containers() async throws {
    let device = try await server.activate()
    let id = try #require(device.container)
    let ticket = try await enter("alice", id.text)
    _ = try await server.storage.askForRenewal(id, audit: .sample())
    #expect(await watch.wait(with: ticket, until: Self.later))
    _ = try await server.storage.revokeContainer(id, audit: .sample(), lost: { _ in .sample() })
    #expect(await watch.wait(with: ticket, until: Self.later))
  }

  @Test("an unreadable storage is logged once, despite repeated polls")
  func logsOnce() async throws {
    await server.storage.close()
    for number in 0..<5 { _ = try await enter("alice", "c\(number)") }
    #expect(server.capture.lines.filter { $0.contains("storage.failed") }.count == 1)
    await watch.stop()
  }

  @Test("a time-out, a cancelled task and the end of the server end a wait")
  func ends() async throws {
    let ticket = try await enter("alice")
    #expect(await watch.wait(with: ticket, until: .zero) == false)
    let task = Task { await watch.wait(with: ticket, until: Self.later) }
    await until(waiting: 1)
    task.cancel()
    #expect(await task.value == false)
    await watch.stop()
    #expect(await watch.wait(with: ticket, until: Self.later) == false)
    await watch.leave(ticket)
  }
}
