import Signet
import SignetCrypto
import SignetPolicy
import SignetTesting
import SignetUAFClient
import Synchronization
import Testing

/// An app that answers each question as the test demands.
private struct OneQuestion: UAFInteraction {
  let body: @Sendable (UAFAnswer<String>) async -> Void

  func selectAuthenticator(_ question: UAFAuthenticatorSelection, answer: UAFAnswer<String>) async {
    await body(answer)
  }
}

/// Holds an answer until a test releases it.
private final class Held: Sendable {
  private let answer = Mutex<UAFAnswer<String>?>(nil)
  let (asked, continuation) = AsyncStream<Void>.makeStream()

  func hold(_ answer: UAFAnswer<String>) {
    self.answer.withLock { $0 = answer }
    continuation.yield()
  }

  func untilAsked() async { for await _ in asked { return } }

  func take() -> UAFAnswer<String>? {
    answer.withLock { held in
      defer { held = nil }
      return held
    }
  }
}

@Suite("UAF prompts and responses", .timeLimit(.minutes(10)))
struct AnswerTests {
  private let timer = VirtualTimer()

  private func ask(
    limit: Duration = .seconds(240), extendedBy more: Duration = .zero,
    _ body: @escaping @Sendable (UAFAnswer<String>) async -> Void
  ) async throws(UAFClientError) -> String {
    let question = UAFAuthenticatorSelection(
      account: UAFAccount(username: "alice", server: "https://id.example.org"), choices: [])
    let conversation = UAFConversation(
      interaction: OneQuestion(body: body), limit: limit, clock: timer, passwordChecks: PasswordChecks())
    return try await conversation.ask(extendedBy: more) { interaction, answer in
      await interaction.selectAuthenticator(question, answer: answer)
    }
  }

  private func failure(
    of body: () async throws(UAFClientError) -> String
  ) async -> UAFClientError? {
    do throws(UAFClientError) {
      _ = try await body()
      return nil
    } catch { return error }
  }

  @Test("an answer during the call is accepted")
  func immediate() async throws {
    #expect(try await ask { $0.give("a") } == "a")
  }

  @Test("an answer after the call is accepted")
  func later() async throws {
    let held = Held()
    async let answered = ask { held.hold($0) }
    await held.untilAsked()
    #expect(held.take()?.give("b") == true)
    #expect(try await answered == "b")
  }

  @Test("a second answer is refused")
  func second() async throws {
    let told = Mutex<[Bool]>([])
    let answer = try await ask { answer in
      let replies = [answer.give("first"), answer.give("second"), answer.cancel()]
      told.withLock { $0 = replies }
    }
    #expect(answer == "first")
    #expect(told.withLock { $0 } == [true, false, false])
  }

  @Test("of fifty concurrent answers one is accepted")
  func race() async throws {
    let (wins, continuation) = AsyncStream<String>.makeStream()
    let answer = try await ask { answer in
      await withTaskGroup { group in
        for number in 0..<50 {
          group.addTask { if answer.give("\(number)") { continuation.yield("\(number)") } }
        }
      }
      continuation.finish()
    }
    var won: [String] = []
    for await win in wins { won.append(win) }
    #expect(won == [answer])
  }

  @Test("cancelling ends the operation as cancelled")
  func cancelled() async {
    #expect(
      await failure { () async throws(UAFClientError) in try await ask { $0.cancel() } } == .userCancelled)
  }

  @Test("a released prompt ends the operation at once")
  func dropped() async {
    #expect(await failure { () async throws(UAFClientError) in try await ask { _ in } } == .userNotResponsive)
    let held = Held()
    async let ended = failure { () async throws(UAFClientError) in try await ask { held.hold($0) } }
    await held.untilAsked()
    _ = held.take()
    #expect(await ended == .userNotResponsive)
  }

  @Test("the operation ends after 240 seconds without an answer, and a late answer is refused")
  func late() async {
    let held = Held()
    async let ended = failure { () async throws(UAFClientError) in try await ask { held.hold($0) } }
    await held.untilAsked()
    #expect(await timer.untilSomeoneSleeps() == .seconds(240))
    timer.advance(by: .seconds(240))
    #expect(await ended == .userNotResponsive)
    #expect(held.take()?.give("late") == false)
  }

  @Test("an answer just in time is accepted")
  func justInTime() async throws {
    let held = Held()
    async let answered = ask { held.hold($0) }
    await held.untilAsked()
    _ = await timer.untilSomeoneSleeps()
    timer.advance(by: .seconds(239))
    #expect(held.take()?.give("c") == true)
    #expect(try await answered == "c")
  }

  @Test("a cool-down extends the time limit")
  func coolDown() async {
    let held = Held()
    async let ended = failure { () async throws(UAFClientError) in
      try await ask(extendedBy: .seconds(180)) { held.hold($0) }
    }
    await held.untilAsked()
    #expect(await timer.untilSomeoneSleeps() == .seconds(420))
    timer.advance(by: .seconds(420))
    #expect(await ended == .userNotResponsive)
  }

  @Test("an app that never returns does not block the operation")
  func hung() async {
    let (never, continuation) = AsyncStream<Void>.makeStream()
    async let ended = failure { () async throws(UAFClientError) in
      try await ask { answer in
        await Task.detached { for await _ in never {} }.value
        answer.give("much too late")
      }
    }
    _ = await timer.untilSomeoneSleeps()
    timer.advance(by: .seconds(240))
    #expect(await ended == .userNotResponsive)
    continuation.finish()
  }

  @Test("cancelling the task ends the operation as cancelled")
  func stopped() async {
    let held = Held()
    let task = Task { await failure { () async throws(UAFClientError) in try await ask { held.hold($0) } } }
    await held.untilAsked()
    task.cancel()
    #expect(await task.value == .userCancelled)
    #expect(held.take()?.give("after") == false)
  }

  @Test(
    "a PIN has digits only, six unless the app configures otherwise",
    arguments: [
      ("271828", true), ("12345", false), ("1234567", false), ("12345a", false), ("", false),
      ("١٢٣٤٥٦", false),
    ])
  func pinForm(_ pin: String, _ isValid: Bool) {
    #expect(UAFPINPolicy().hasForm(SharedSecretBox(SecretBytes(copying: Array(pin.utf8)))) == isValid)
  }
}
