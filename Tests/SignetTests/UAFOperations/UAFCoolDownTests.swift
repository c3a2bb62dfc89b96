import Signet
import SignetCrypto
import SignetPolicy
import SignetTesting
import SignetUAFClient
import Synchronization
import Testing

/// A user who chooses at once, and whose PIN or password the test types later.
private final class SlowPerson: UAFInteraction {
  /// A pending question with the function that answers it.
  struct Waiting: Sendable {
    let question: UAFCredentialRequest
    let give: @Sendable (String) -> Bool
  }

  private let kind: UAFAuthenticator.Kind
  private let put = Mutex<[Waiting]>([])

  init(_ kind: UAFAuthenticator.Kind) { self.kind = kind }

  func selectAuthenticator(_ question: UAFAuthenticatorSelection, answer: UAFAnswer<String>) async {
    answer.give(question.choices.first { $0.authenticator.kind == kind }?.authenticator.aaid ?? "none")
  }

  func verify(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
    hold(question) { answer.give(.typed($0)) }
  }

  func change(_ question: UAFCredentialRequest, answer: UAFAnswer<UAFChangedCredential>) async {
    hold(question) { answer.give(UAFChangedCredential(from: .typed($0), to: .typed("161803"))) }
  }

  private func hold(_ question: UAFCredentialRequest, _ give: @escaping @Sendable (String) -> Bool) {
    put.withLock { $0.append(Waiting(question: question, give: give)) }
  }

  /// Waits for a question by its number.
  func question(_ number: Int = 0) async throws -> Waiting {
    while true {
      if let found = put.withLock({ $0.count > number ? $0[number] : nil }) { return found }
      try await Task.sleep(for: .milliseconds(2))
    }
  }
}

/// The default lock policy of a PIN and a password in operations: the time-out of a question, and the effect of early answers.
@Suite("The cool-down of UAF PINs and passwords", .timeLimit(.minutes(10)))
struct UAFCoolDownTests {
  private static let secrets: [UAFAuthenticator.Kind: String] = [.pin: "271828", .password: "correct horse"]
  private static let wrong: [UAFAuthenticator.Kind: String] = [.pin: "000000", .password: "wrong horse"]

  /// A device with a key of a kind, after a number of failures.
  private func fixture(_ kind: UAFAuthenticator.Kind, failures: Int) async throws -> UAFOperationsFixture {
    let fixture = try await UAFOperationsFixture()
    fixture.person.type(Self.secrets[kind] ?? "")
    try await fixture.register("alice", kind)
    let waits = [Int64(0), 0, 60, 180]
    for index in 0..<failures {
      if index > 0 { fixture.trusted.advance(by: .seconds(waits[index - 1])) }
      fixture.person.type(Self.wrong[kind] ?? "", "")
      fixture.person.cancelAfterTyping()
      #expect(await failure { try await fixture.operations.authenticate("alice") }?.code == .userCancelled)
    }
    return fixture
  }

  private func operations(_ fixture: UAFOperationsFixture, _ person: SlowPerson) throws -> UAFOperations {
    UAFOperations(
      client: fixture.client, configuration: try UAFConfiguration(baseURL: fixture.baseURL),
      interaction: person,
      clock: fixture.timer)
  }

  @Test(
    "a prompt lasts 240 seconds plus the remaining wait",
    arguments: [UAFAuthenticator.Kind.pin, .password],
    [(0, 0, 0), (2, 0, 0), (3, 0, 60), (3, 45, 15), (4, 0, 180)])
  func extends(_ kind: UAFAuthenticator.Kind, _ failures: (count: Int, passed: Int64, left: Int64))
    async throws
  {
    let fixture = try await fixture(kind, failures: failures.count)
    fixture.trusted.advance(by: .seconds(failures.passed))
    let person = SlowPerson(kind)
    let operations = try operations(fixture, person)
    async let ended = failure { try await operations.authenticate("alice") }
    let waiting = try await person.question()
    let wait = waiting.question.protectionStatus
    if failures.count > 0 {
      #expect(wait == .lastAttemptFailed(remaining: 5 - failures.count, retryAfter: .seconds(failures.left)))
    } else {
      #expect(wait == .unlocked)
    }
    #expect(await fixture.timer.untilSomeoneSleeps() == .seconds(240 + failures.left))
    fixture.timer.advance(by: .seconds(239 + failures.left))
    #expect(await fixture.timer.untilSomeoneSleeps() == .seconds(1))
    fixture.timer.advance(by: .seconds(1))
    #expect(await ended?.code == .userNotResponsive)
    #expect(!waiting.give(Self.secrets[kind] ?? ""), "an answer that comes later does not count")
  }

  @Test(
    "an answer within the wait does not count, right or wrong; after it the right one does",
    arguments: [UAFAuthenticator.Kind.pin, .password])
  func early(_ kind: UAFAuthenticator.Kind) async throws {
    let fixture = try await fixture(kind, failures: 3)
    let (right, wrong) = (Self.secrets[kind] ?? "", Self.wrong[kind] ?? "")
    let person = SlowPerson(kind)
    let operations = try operations(fixture, person)
    async let authorization = operations.authenticate("alice")
    #expect(try await person.question().give(right))
    for (number, typed, passed) in [(1, wrong, Int64(10)), (2, right, 50)] {
      let question = try await person.question(number)
      let left = Duration.seconds(number == 1 ? 60 : 50)
      #expect(question.question.lastRecoverableError == .coolingDown)
      #expect(question.question.protectionStatus == .lastAttemptFailed(remaining: 2, retryAfter: left))
      #expect(await fixture.timer.untilSomeoneSleeps() == .seconds(240) + left)
      // The first of them still comes too early.
      fixture.trusted.advance(by: .seconds(passed))
      #expect(question.give(typed))
    }
    #expect(try await authorization != nil)
    let key = try #require(try await fixture.client.keys().first)
    #expect(try await fixture.client.protectionStatus(of: key) == .unlocked)
  }

  @Test("neither clock changes nor restarts shorten a wait; a restart starts it again")
  func clocks() async throws {
    let fixture = try await fixture(.pin, failures: 4)
    fixture.trusted.advance(by: .seconds(100))
    fixture.trusted.adjustWallClock(by: 86_400)
    let key = try #require(try await fixture.client.keys().first)
    let left = LockStatus.lastAttemptFailed(remaining: 1, retryAfter: .seconds(80))
    #expect(try await fixture.client.protectionStatus(of: key) == left)
    fixture.trusted.adjustWallClock(by: -2 * 86_400)
    #expect(try await fixture.client.protectionStatus(of: key) == left)
    fixture.trusted.reboot()
    let status = try await fixture.client.protectionStatus(of: key)
    // Twenty seconds of it have passed since the start.
    #expect(status == .lastAttemptFailed(remaining: 1, retryAfter: .seconds(160)))
    let person = SlowPerson(.pin)
    let operations = try operations(fixture, person)
    async let ended = failure { try await operations.authenticate("alice") }
    _ = try await person.question()
    #expect(await fixture.timer.untilSomeoneSleeps() == .seconds(400))
    fixture.timer.advance(by: .seconds(400))
    #expect(await ended?.code == .userNotResponsive)
  }

  @Test("a PIN change waits too, and its prompt lasts as long")
  func change() async throws {
    let fixture = try await fixture(.pin, failures: 3)
    let person = SlowPerson(.pin)
    let operations = try operations(fixture, person)
    async let changed: Void = operations.changePIN(of: "alice")
    let early = try await person.question()
    #expect(await fixture.timer.untilSomeoneSleeps() == .seconds(300))
    #expect(early.give("271828"))
    let next = try await person.question(1)
    #expect(next.question.lastRecoverableError == .coolingDown)
    fixture.trusted.advance(by: .seconds(60))
    #expect(next.give("271828"))
    try await changed
    fixture.person.type("161803")
    #expect(try await fixture.operations.authenticate("alice") != nil)
  }

  @Test(
    "the fifth wrong one locks permanently; only a new registration unlocks",
    arguments: [UAFAuthenticator.Kind.pin, .password])
  func locks(_ kind: UAFAuthenticator.Kind) async throws {
    let fixture = try await fixture(kind, failures: 4)
    fixture.trusted.advance(by: .seconds(180))
    fixture.person.type(Self.wrong[kind] ?? "")
    #expect(await failure { try await fixture.operations.authenticate("alice") }?.code == .userLockout)
    fixture.trusted.advance(by: .seconds(86_400))
    fixture.person.type(Self.secrets[kind] ?? "")
    #expect(await failure { try await fixture.operations.authenticate("alice") }?.code == .userLockout)
    // Neither side has removed it; a deregistration removes it on both.
    #expect(try await fixture.serverKeys().count == 1)
    #expect(try await fixture.ownKeys().count == 1)
    try await fixture.operations.deregister("alice", authorization: .jwt(fixture.apiKey))
    #expect(try await fixture.serverKeys().isEmpty)
    try await fixture.register("alice", kind)
    #expect(try await fixture.operations.authenticate("alice") != nil)
  }
}
