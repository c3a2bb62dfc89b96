import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetPushAuth
import SignetSystem
import SignetTesting
import SignetTestKit
import SignetVault
import Synchronization
import Testing

/// Push messages that a device polls for: received when they are shown, and marked if their server has ended them.
@Suite(.timeLimit(.minutes(10))) struct PushWaitingTests {
  private typealias Bench = PushEnrolmentTests.Bench

  private static let live = PushAuthDevice.live

  /// A clock that advances one second with each read.
  private final class TickingClock: WallClock {
    private let seconds = Mutex<Int64>(1_700_000_000)

    var now: Int64 {
      seconds.withLock { seconds in
        seconds += 1
        return seconds
      }
    }
  }

  private func enrolled() async throws -> (bench: Bench, device: Device) {
    let bench = try Bench()
    let device = try bench.device()
    try await enrol(device, at: bench.server)
    return (bench, device)
  }

  private func enrol(_ device: Device, at server: PushServerInProcess, issuer: String = "Acme") async throws {
    let target = try PushAuthDevice(token: Self.live, name: "Laptop", service: Self.live)
    _ = try await device.accounts.enrol(server.uri(.pushauth, issuer: issuer), from: target)
  }

  /// The first list on a listening channel.
  private func listened(
    _ device: Device, by password: SharedSecretBox? = nil
  ) async throws -> PushChannel.Waiting {
    let channels = try await device.accounts.pushChannels(by: password)
    let channel = try #require(channels.first { $0.mechanism.issuer == "Acme" })
    var lists = channel.lists { failure in if let failure { Issue.record("\(failure)") } }.makeAsyncIterator()
    return try #require(try await lists.next())
  }

  private func states(_ device: Device, by password: SharedSecretBox? = nil) async throws
    -> [String: PushAuthNotification.State]
  {
    let messages = try await device.accounts.messages(by: password)
    return Dictionary(
      uniqueKeysWithValues: messages.map {
        ($0.notification.id, $0.notification.state(at: 1_700_000_000_000))
      })
  }

  @Test("a message shown while listening is stored, and another process can answer it")
  func received() async throws {
    let (bench, device) = try await enrolled()
    bench.server.list([try bench.server.delivery("M:1", text: "Log in?")])
    let shown = try await listened(device)
    #expect(shown.messages.map(\.message.messageID) == ["M:1"] && shown.failure == nil)
    let other = try bench.device()
    #expect(try await other.accounts.messages(pendingOnly: true).map(\.notification.id) == ["M:1"])
    try await other.accounts.answer("M:1", .approve)
    #expect(bench.server.answer(to: "M:1") == "yes")
  }

  @Test("without the accounts' password a listener stores nothing; with it pending messages are stored")
  func password() async throws {
    let (bench, device) = try await enrolled()
    let password = secret("correct horse battery")
    try await device.accounts.setPassword(password)
    bench.server.list([try bench.server.delivery("M:1")])
    #expect(try await listened(device, by: password).messages.map(\.message.messageID) == ["M:1"])
    #expect(try await states(device, by: password).isEmpty)
    #expect(try await device.accounts.receiveWaiting(by: password).isEmpty)
    #expect(try await states(device, by: password) == ["M:1": .pending])
    try await device.accounts.answer("M:1", .approve, by: password)
    #expect(bench.server.answer(to: "M:1") == "yes")
  }

  @Test("a message that the server has ended is marked and not answered")
  func ended() async throws {
    let (bench, device) = try await enrolled()
    let ids = ["M:1", "M:2", "M:3", "M:4"]
    let deliveries = try ids.map { try bench.server.delivery($0) }
    for delivery in deliveries { _ = try await device.accounts.receive(delivery) }
    try await device.accounts.answer("M:4", .deny)
    bench.server.list(
      [deliveries[0]],
      ended: ["M:2": "withdrawn", "M:3": "accepted", "M:4": "denied", "M:9": "expired", "M:1": "of later"])
    _ = try await listened(device)
    let expected: [String: PushAuthNotification.State] = [
      "M:1": .pending, "M:2": .ended, "M:3": .ended, "M:4": .denied,
    ]
    #expect(try await states(device) == expected)
    #expect(try await device.accounts.messages(pendingOnly: true).map(\.notification.id) == ["M:1"])
    let count = bench.server.requestCount
    await #expect(throws: SignetError.pushAuth(.ended)) {
      try await device.accounts.answer("M:2", .approve)
    }
    #expect(bench.server.requestCount == count)
  }

  @Test("a server's refusal because of an ended request ends the message")
  func endedByRefusal() async throws {
    let (bench, device) = try await enrolled()
    _ = try await device.accounts.receive(bench.server.delivery("M:1"))
    let body: JSONObject = [
      "code": 400, "reason": "Bad Request", "message": "The request has ended.", "detail": [:],
    ]
    bench.server.refuse(with: HTTPResponse(status: 400, headers: [], body: body.bytes))
    await #expect(throws: SignetError.pushAuth(.ended)) {
      try await device.accounts.answer("M:1", .approve)
    }
    #expect(try await states(device) == ["M:1": .ended])
  }

  @Test("a message ended by a refusal is pending again once the server lists it")
  func listedAgain() async throws {
    let (bench, device) = try await enrolled()
    let deliveries = try ["M:1", "M:2", "M:3"].map { try bench.server.delivery($0) }
    for delivery in deliveries { _ = try await device.accounts.receive(delivery) }
    try await device.accounts.answer("M:3", .deny)
    bench.server.end(["M:1", "M:2"])
    for id in ["M:1", "M:2"] {
      await #expect(throws: SignetError.pushAuth(.ended)) {
        try await device.accounts.answer(id, .approve)
      }
    }
    #expect(try await states(device) == ["M:1": .ended, "M:2": .ended, "M:3": .denied])
    bench.server.end([])
    bench.server.list([deliveries[0], deliveries[2]], ended: ["M:2": "withdrawn"])
    #expect(try await device.accounts.receiveWaiting(by: nil).isEmpty)
    #expect(try await states(device) == ["M:1": .pending, "M:2": .ended, "M:3": .denied])
    try await device.accounts.answer("M:1", .approve)
    #expect(bench.server.answer(to: "M:1") == "yes")
  }

  @Test("while listening, a message ended by a refusal is pending again even if the list is unchanged")
  func listedAsBefore() async throws {
    let (bench, device) = try await enrolled()
    bench.server.list([try bench.server.delivery("M:1")])
    let channel = try #require(try await device.accounts.pushChannels(by: nil).first)
    var lists = channel.lists { _ in }.makeAsyncIterator()
    #expect(try await lists.next()?.messages.count == 1)
    bench.server.end(["M:1"])
    await #expect(throws: SignetError.pushAuth(.ended)) {
      try await device.accounts.answer("M:1", .approve)
    }
    bench.server.end([])
    while try await states(device) == ["M:1": .ended] { await Task.yield() }
    #expect(try await states(device) == ["M:1": .pending])
  }

  private static let unknown: JSONObject = [
    "code": 400, "reason": "Bad Request", "message": "The message was not accepted.", "detail": [:],
  ]

  @Test(
    "an account unknown to its server has no pending messages in any process",
    arguments: [false, true])
  func removed(_ listens: Bool) async throws {
    let (bench, device) = try await enrolled()
    for id in ["M:1", "M:2"] { _ = try await device.accounts.receive(bench.server.delivery(id)) }
    try await device.accounts.answer("M:2", .approve)
    bench.server.refuse(with: HTTPResponse(status: 400, headers: [], body: Self.unknown.bytes))
    if listens {
      let channel = try #require(try await device.accounts.pushChannels(by: nil).first)
      var lists = channel.lists { Issue.record("\(String(describing: $0))") }.makeAsyncIterator()
      await #expect(throws: SignetError.pushAuth(.notEnrolled)) { try await lists.next() }
    } else {
      let failures = try await device.accounts.receiveWaiting(by: nil)
      #expect(failures.map(\.failure) == [.pushAuth(.notEnrolled)])
    }
    #expect(try await states(device) == ["M:1": .ended, "M:2": .approved])
  }

  @Test("a listener learns of a suspension and waits for its end; received messages stay")
  func held() async throws {
    let (bench, device) = try await enrolled()
    _ = try await device.accounts.receive(bench.server.delivery("M:1"))
    let problem = Problem(.userNotActive, "The user is suspended; an operator can resume it.")
    let refusal = HTTPResponse(status: 403, headers: [], body: problem.bytes)
    bench.server.refuse(with: refusal)
    #expect(try await device.accounts.receiveWaiting(by: nil).map(\.failure) == [.refused(problem)])
    bench.server.refuse(with: refusal)
    let told = Mutex<[SignetError?]>([])
    let channel = try #require(try await device.accounts.pushChannels(by: nil).first)
    var lists = channel.lists { failure in told.withLock { $0.append(failure) } }.makeAsyncIterator()
    #expect(try await lists.next() != nil)
    #expect(told.withLock(\.self) == [.refused(problem), nil])
    #expect(try await states(device) == ["M:1": .pending])
  }

  @Test(
    "a server's refusal reason is shown up to 200 characters, and the message stays pending"
  )
  func reasons() async throws {
    let (bench, device) = try await enrolled()
    _ = try await device.accounts.receive(bench.server.delivery("M:1"))
    let problem = Problem(.userNotActive, "The user is suspended; an operator can resume it.")
    let long = String(repeating: "\u{1B}[2J\u{301}", count: 1000)
    let foreign: JSONObject = ["code": 400, "message": .string(long), "detail": [:]]
    for (status, body, reason) in [
      (403, problem.bytes, problem.detail),
      (403, Problem(.deviceLocked).bytes, Problem.Code.deviceLocked.title),
      (400, foreign.bytes, String(String.UnicodeScalarView(long.unicodeScalars.prefix(200)))),
      (502, Array("<html>Bad Gateway</html>".utf8), ""),
      (400, JSONObject(dictionaryLiteral: ("message", 7)).bytes, ""),
    ] as [(Int, [UInt8], String)] {
      bench.server.refuse(with: HTTPResponse(status: status, headers: [], body: body))
      await #expect(throws: SignetError.pushAuthRefused(status: status, reason: reason)) {
        try await device.accounts.answer("M:1", .approve)
      }
      #expect(try await states(device) == ["M:1": .pending])
    }
  }

  @Test("a number that the message does not offer is not sent") func numbers() async throws {
    let (bench, device) = try await enrolled()
    bench.server.want(number: "34")
    _ = try await device.accounts.receive(bench.server.delivery("M:1", kind: .challenge))
    let count = bench.server.requestCount
    await #expect(throws: SignetError.pushAuth(.numberNotOffered(offered: [12, 34, 56]))) {
      try await device.accounts.answer("M:1", .number("35"))
    }
    #expect(bench.server.requestCount == count)
    try await device.accounts.answer("M:1", .number("34"))
    #expect(bench.server.answer(to: "M:1") == "yes")
  }

  @Test(
    "a message that is not stored is not shown: a duplicate id of another server, or a deleted one"
  )
  func refused() async throws {
    let (bench, device) = try await enrolled()
    let other = PushServerInProcess()
    try await enrol(try bench.device(over: other), at: other, issuer: "Other")
    _ = try await device.accounts.receive(other.delivery("M:1"))
    _ = try await device.accounts.receive(other.delivery("M:4"))
    _ = try await device.accounts.receive(bench.server.delivery("M:2"))
    try await device.accounts.removeMessage("M:2")
    bench.server.list(try ["M:1", "M:2", "M:3", "M:4"].map { try bench.server.delivery($0) })
    let shown = try await listened(device)
    #expect(shown.messages.map(\.message.messageID) == ["M:3"])
    #expect(shown.failure == .pushAuth(.replayed))
  }

  @Test("64 messages of a list are stored in one change; one failure reports that there are more")
  func longList() async throws {
    let bench = try Bench()
    let vault = try Vault.forTests(bench.folder.path + "/device", clock: VirtualTrustedClock())
    let device = Device(
      vault: vault, clock: TickingClock(),
      passwordChecks: PasswordChecks(dictionary: AccountsTests.NoDictionary())
    ) { [server = bench.server] _ throws(TransportFailure) in server }
    try await enrol(device, at: bench.server)
    let ids = (1...64).map { "M:\($0)" }
    bench.server.list(try (ids + ["M:65", "M:66"]).map { try bench.server.delivery($0) })
    let shown = try await listened(device)
    #expect(shown.messages.map(\.message.messageID) == ids)
    #expect(shown.failure == .pushAuth(.tooManyMessages(limit: 64)))
    let kept = try await device.accounts.messages()
    #expect(kept.map(\.notification.id) == ids.reversed())
    #expect(Set(kept.map(\.notification.received)).count == 1)
  }

  @Test("an unreachable server is named, and the others are asked") func unreachable() async throws {
    let (bench, device) = try await enrolled()
    bench.server.fail(with: [503])
    let failures = try await device.accounts.receiveWaiting(by: nil)
    #expect(failures.map(\.failure) == [.pushAuthRefused(status: 503)])
    #expect(failures.map(\.mechanism.issuer) == ["Acme"])
  }

  /// Two servers by their hosts: each answers a poll only once the other one was asked, too.
  private final class Meeting: HTTPTransport {
    let first = PushServerInProcess()
    let second = PushServerInProcess()
    /// The time-outs of the connections in seconds.
    let limits = Mutex<Set<Int>>([])
    private let gates = (
      first: AsyncStream.makeStream(of: Void.self), second: AsyncStream.makeStream(of: Void.self)
    )

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      let isSecond = request.url.contains("second")
      if request.url.hasSuffix("/push/waiting") {
        (isSecond ? gates.second : gates.first).continuation.finish()
        for await _ in (isSecond ? gates.first : gates.second).stream {}
        if Task.isCancelled { throw .cancelled }
      }
      return try await (isSecond ? second : first).send(request)
    }
  }

  @Test("all servers are asked concurrently, with a time limit of 5 s each", arguments: [0, 3, 30])
  func atOnce(_ limit: Int) async throws {
    let folder = try TemporaryFolder()
    let servers = Meeting()
    let clock = VirtualClock(1_700_000_000)
    let device = Device(
      vault: try Vault.forTests(folder.path + "/device", clock: VirtualTrustedClock()),
      connection: ConnectionConfiguration(timeoutSeconds: limit), clock: clock,
      passwordChecks: PasswordChecks(dictionary: AccountsTests.NoDictionary())
    ) { [servers] configuration throws(TransportFailure) in
      servers.limits.withLock { _ = $0.insert(configuration.timeoutSeconds) }
      return servers
    }
    let target = try PushAuthDevice(token: Self.live, name: "Laptop", service: Self.live)
    for (server, name) in [(servers.first, "first"), (servers.second, "second")] {
      let base = "https://\(name).example/push?_action="
      _ = try await device.accounts.enrol(server.uri(.pushauth, issuer: name, base: base), from: target)
      server.list([try server.delivery("M:\(name)")])
      clock.advance(by: 1)
    }
    #expect(servers.limits.withLock { $0 } == [limit])
    #expect(try await device.accounts.receiveWaiting(by: nil).isEmpty)
    #expect(try await Set(device.accounts.messages().map(\.notification.id)) == ["M:first", "M:second"])
    #expect(servers.limits.withLock { $0 } == [limit, limit == 3 ? 3 : 5])
  }

  @Test("two accounts of the same issuer and name are ambiguous; the error lists their ids")
  func namesakes() async throws {
    let (bench, device) = try await enrolled()
    #expect(try await device.accounts.enrolled().map { $0.push?.hasNamesake } == [false])
    let other = PushServerInProcess()
    try await enrol(try bench.device(over: other), at: other, issuer: "Other")
    #expect(try await device.accounts.enrolled().map { $0.push?.hasNamesake } == [false, false])
    let second = try #require(try await device.accounts.enrolled().first { $0.issuer == "Other" })
    _ = try await device.accounts.renameEnrolled(second.id, issuer: "Acme")
    let accounts = try await device.accounts.enrolled()
    #expect(accounts.map { $0.push?.hasNamesake } == [true, true])
    #expect(accounts.map { $0.push?.account } == accounts.map { $0.id })
    _ = try await device.accounts.receive(bench.server.delivery("M:1"))
    let message = try await device.accounts.message("M:1")
    #expect(message.mechanism.account == accounts.first { $0.issuer == "Acme" }?.id)
  }
}
