import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJOSE
import SignetJSON
import SignetPushAuth
import SignetTesting
import SignetVault
import Synchronization
import Testing

/// Push messages that a device receives and answers, over a server in the process.
@Suite(.timeLimit(.minutes(10))) struct PushMessageAnswerTests {
  private typealias Bench = PushEnrolmentTests.Bench

  /// A gate that recognizes its user on demand.
  private final class Gate: BiometricGate, Sendable {
    let isRecognised = Mutex(true)
    let count = Mutex(0)
    /// Runs while the user is asked.
    let meanwhile = Mutex<(@Sendable () async -> Void)?>(nil)
    func state() async throws(BiometricFailure) -> BiometricState {
      .ready(EnrolledSet(digest: [UInt8](repeating: 1, count: 32)))
    }
    func match(
      _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
    ) async throws(BiometricFailure) -> EnrolledSet {
      count.withLock { $0 += 1 }
      if let meanwhile = meanwhile.withLock({ $0 }) { await meanwhile() }
      guard isRecognised.withLock({ $0 }) else { throw .notEnrolled }
      return EnrolledSet(digest: [UInt8](repeating: 1, count: 32))
    }
    func endLockout() async {}
  }

  private func enrolled(gate: (any BiometricGate)? = nil) async throws -> (Bench, Device) {
    let bench = try Bench(gate: gate)
    let device = try bench.device()
    _ = try await device.accounts.enrol(
      bench.server.uri(.pushauth), from: PushEnrolmentTests.target())
    return (bench, device)
  }

  @Test("received, listed, approved and denied") func lifeCycle() async throws {
    let (bench, device) = try await enrolled()
    for id in ["M:1", "M:2"] {
      guard case .new = try await device.accounts.receive(bench.server.delivery(id, text: id)) else {
        Issue.record("not new")
        return
      }
      bench.clock.advance(by: 1)
    }
    let pending = try await bench.device().accounts.messages(pendingOnly: true)
    #expect(
      pending.map(\.notification.id) == ["M:2", "M:1"] && pending[0].notification.message.text == "M:2")
    try await device.accounts.answer("M:1", .approve)
    try await device.accounts.answer("M:2", .deny)
    #expect(bench.server.answer(to: "M:1") == "yes" && bench.server.answer(to: "M:2") == "no")
    #expect(try await device.accounts.messages(pendingOnly: true).isEmpty)
    #expect(
      try await device.accounts.messages().map { $0.notification.decision } == [.denied, .approved])
    await #expect(throws: SignetError.pushAuth(.notPending)) {
      try await device.accounts.answer("M:1", .deny)
    }
    try await device.accounts.removeMessage("M:1")
    await #expect(throws: SignetError.pushAuth(.noSuchNotification)) {
      try await device.accounts.answer("M:1", .approve)
    }
  }

  @Test("a forged, replayed or misdirected message is not stored") func forged()
    async throws
  {
    let (bench, device) = try await enrolled()
    let good = try bench.server.delivery("M:1", user: "demo")
    let other = try PushAuthKey(SecretBytes.random(byteCount: 32))
    let mechanism = try #require(bench.server.mechanism)
    let message = PushAuthMessage(
      messageID: "M:0", mechanismID: mechanism, challenge: [1], text: "Mallory", userID: "mallory")
    let forged = try PushAuthDelivery(messageID: "M:0", token: other.sign(message.claims))
    await #expect(throws: SignetError.pushAuth(.token(.invalidSignature))) {
      try await device.accounts.receive(forged)
    }
    #expect(try await device.accounts.messages().isEmpty)
    #expect(try await device.accounts.enrolled()[0].push?.userID == nil)
    _ = try await device.accounts.receive(good)
    #expect(try await device.accounts.enrolled()[0].push?.userID == "demo")
    guard case .known = try await device.accounts.receive(good) else {
      Issue.record("not known")
      return
    }
    let renamed = try PushAuthDelivery(messageID: "M:2", token: good.token)
    await #expect(throws: SignetError.pushAuth(.replayed)) { try await device.accounts.receive(renamed) }
    let stranger = try bench.server.delivery("M:3", user: "eve")
    await #expect(throws: SignetError.pushAuth(.otherUser)) { try await device.accounts.receive(stranger) }
    let unknown = PushAuthMessage(messageID: "M:4", mechanismID: "nobody", challenge: [1])
    let lost = try PushAuthDelivery(messageID: "M:4", token: other.sign(unknown.claims))
    await #expect(throws: SignetError.pushAuth(.unknownMechanism)) {
      try await device.accounts.receive(lost)
    }
    try await device.accounts.removeMessage("M:1")
    #expect(try await bench.device().accounts.receive(good) == .forgotten)
    #expect(try await device.accounts.messages().isEmpty)
  }

  @Test("a wrong number is an error, and the message stays pending") func numbers() async throws {
    let (bench, device) = try await enrolled()
    bench.server.want(number: "34")
    let received = try await device.accounts.receive(bench.server.delivery("M:1", kind: .challenge))
    guard case .new(let notification) = received else {
      Issue.record("another case")
      return
    }
    #expect(notification.message.numbers == [12, 34, 56])
    do {
      try await device.accounts.answer("M:1", .number("12"))
      Issue.record("taken")
    } catch {
      guard case .wrongNumber = error else { throw error }
    }
    for decision in [PushDecision.approve, .number(" ")] {
      do {
        try await device.accounts.answer("M:1", decision)
        Issue.record("taken")
      } catch { guard case .pushAuth = error else { throw error } }
    }
    try await device.accounts.answer("M:1", .number(" 34 "))
    #expect(bench.server.answer(to: "M:1") == "yes")
  }

  @Test("the library verifies the user where required; a denial requires no verification") func recognition()
    async throws
  {
    let gate = Gate()
    let (bench, device) = try await enrolled(gate: gate)
    for id in ["M:1", "M:2"] {
      _ = try await device.accounts.receive(bench.server.delivery(id, kind: .biometric))
    }
    gate.isRecognised.withLock { $0 = false }
    await #expect(throws: SignetError.biometrics(.notEnrolled)) {
      try await device.accounts.answer("M:1", .approve)
    }
    #expect(bench.server.answer(to: "M:1") == nil)
    gate.isRecognised.withLock { $0 = true }
    try await device.accounts.answer("M:1", .approve)
    #expect(bench.server.answer(to: "M:1") == "yes" && gate.count.withLock { $0 } == 2)
    try await device.accounts.answer("M:2", .deny)
    #expect(gate.count.withLock { $0 } == 2)
    // A device that recognizes no user approves no message of this kind.
    let (plainBench, plain) = try await enrolled()
    _ = try await plain.accounts.receive(plainBench.server.delivery("M:1", kind: .biometric))
    await #expect(throws: SignetError.biometrics(.notCapable)) {
      try await plain.accounts.answer("M:1", .approve)
    }
    #expect(plainBench.server.answer(to: "M:1") == nil)
  }

  @Test("an undelivered answer leaves the message pending; the server decides about expiry")
  func failures()
    async throws
  {
    let (bench, device) = try await enrolled()
    _ = try await device.accounts.receive(bench.server.delivery("M:1"))
    for (status, failure) in [
      (0, SignetError.transport(.cancelled)), (400, .pushAuthRefused(status: 400)),
      (302, .pushAuthRefused(status: 302)),
    ] {
      bench.server.fail(with: [status])
      await #expect(throws: failure) { try await device.accounts.answer("M:1", .approve) }
      #expect(try await device.accounts.messages(pendingOnly: true).count == 1)
    }
    bench.clock.advance(by: 300)
    #expect(try await device.accounts.messages(pendingOnly: true).isEmpty)
    await #expect(throws: SignetError.pushAuth(.expired)) {
      try await device.accounts.answer("M:1", .approve, refusingExpiredBy: 60)
    }
    try await device.accounts.answer("M:1", .approve)
    #expect(bench.server.answer(to: "M:1") == "yes")
  }

  @Test("messages are deleted on request") func cleanUp() async throws {
    let (bench, device) = try await enrolled()
    for number in 1...5 {
      _ = try await device.accounts.receive(bench.server.delivery("M:\(number)"), cleanUp: .count(2))
      bench.clock.advance(by: 1)
    }
    #expect(try await device.accounts.messages().map(\.notification.id) == ["M:5", "M:4"])
  }

  @Test("a message id is unique over all inboxes, so no answer goes to another server")
  func idsOfTwoServers() async throws {
    let (bench, device) = try await enrolled()
    let other = PushServerInProcess()
    let otherBench = try bench.device(over: other)
    _ = try await otherBench.accounts.enrol(
      other.uri(.pushauth, issuer: "Other"), from: PushEnrolmentTests.target())
    _ = try await device.accounts.receive(bench.server.delivery("M:1"))
    let second = try other.delivery("M:1")
    await #expect(throws: SignetError.pushAuth(.replayed)) { try await device.accounts.receive(second) }
    try await device.accounts.removeMessage("M:1")
    await #expect(throws: SignetError.pushAuth(.replayed)) { try await device.accounts.receive(second) }
    #expect(try await device.accounts.messages().isEmpty)
    _ = try await device.accounts.receive(other.delivery("M:2"))
    #expect(try await device.accounts.message("M:2").mechanism.issuer == "Other")
    await #expect(throws: SignetError.pushAuth(.noSuchNotification)) {
      try await device.accounts.message("M:1")
    }
  }

  @Test("an account locked during the prompt approves nothing") func lockedMeanwhile()
    async throws
  {
    let gate = Gate()
    let (bench, device) = try await enrolled(gate: gate)
    _ = try await device.accounts.receive(bench.server.delivery("M:1", kind: .biometric))
    let push = try #require(await device.accounts.enrolled().first?.push).id
    let other = try bench.device()
    gate.meanwhile.withLock {
      $0 = { do { try await other.accounts.lock(push) } catch { Issue.record("\(error)") } }
    }
    do {
      try await device.accounts.answer("M:1", .approve)
      Issue.record("approved")
    } catch { guard case SignetError.accountLocked = error else { throw error } }
    #expect(bench.server.answer(to: "M:1") == nil)
    try await device.accounts.answer("M:1", .deny)
    #expect(bench.server.answer(to: "M:1") == "no")
  }
}
