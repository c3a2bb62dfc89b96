import Dispatch
import SignetCrypto
import SignetText
import SignetVault
import Synchronization

/// Where a thread that blocks in PAM waits for a person who is asked by a task.
final class ConversationDesk: Sendable {
  /// The most questions and statements; a module that wants more is going round in circles.
  static let exchangeLimit = 64
  /// The most characters of one of them.
  static let textLimit = 512

  /// What is going on at the desk.
  private struct State: Sendable {
    var failure: DevicePasscodeFailure?
    var exchangeCount = 0
    var current: Exchange?
  }

  /// One question on its way to the person and back.
  private final class Exchange: Sendable {
    let finished = DispatchSemaphore(value: 0)
    private let answer = Mutex<SharedSecretBox?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    func begin(_ work: @escaping @Sendable () async -> SharedSecretBox?) {
      task.withLock { task in
        task = Task { [self] in
          let box = await work()
          answer.withLock { $0 = box }
          finished.signal()
        }
      }
    }

    func take() -> SharedSecretBox? { answer.withLock { $0.take() } }

    /// Ends it for the person too, and does not wait until they have noticed.
    func cancel() {
      task.withLock { $0?.cancel() }
      finished.signal()
    }
  }

  private let reason: String
  private let conversation: any PasscodeConversation
  private let deadline: DispatchTime
  private let state = Mutex(State())

  init(reason: String, conversation: any PasscodeConversation, timeLimit: Duration) {
    self.reason = reason
    self.conversation = conversation
    let (seconds, attoseconds) = timeLimit.components
    deadline = .now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
  }

  /// Why the conversation was over before PAM was done.
  var failure: DevicePasscodeFailure? { state.withLock { $0.failure } }

  /// Ends the conversation; the first failure stays.
  func end(_ failure: DevicePasscodeFailure) {
    let current = state.withLock { state in
      state.failure = state.failure ?? failure
      return state.current
    }
    current?.cancel()
  }

  /// Asks the person, and blocks until there is an answer.
  ///
  /// - Returns: nil if the conversation is over.
  func ask(_ text: String, echoes: Bool) -> SharedSecretBox? {
    let prompt = PasscodePrompt(reason: reason, text: Self.harmless(text), echoes: echoes)
    let finished = perform { [conversation] in
      guard let answer = await conversation.answer(prompt) else { return nil }
      let box = SharedSecretBox(answer)
      // Whoever made the answer has left parts of it on the stack of this thread, which other tasks will use.
      DeadStack.wipe()
      return box
    }
    guard let exchange = finished else { return nil }
    guard let answer = exchange.take() else {
      end(.cancelled)
      return nil
    }
    return failure == nil ? answer : nil
  }

  /// Shows something to the person, and blocks until it was shown.
  ///
  /// - Returns: Whether the conversation goes on.
  func show(_ text: String, isError: Bool) -> Bool {
    let message = PasscodeMessage(text: Self.harmless(text), isError: isError)
    let finished = perform { [conversation] in
      await conversation.show(message)
      return nil
    }
    return finished != nil && failure == nil
  }

  private func perform(_ work: @escaping @Sendable () async -> SharedSecretBox?) -> Exchange? {
    let exchange = Exchange()
    let goesOn = state.withLock { state in
      state.exchangeCount += 1
      if state.exchangeCount > Self.exchangeLimit {
        state.failure = state.failure ?? .unavailable("it asks and asks")
      }
      guard state.failure == nil else { return false }
      state.current = exchange
      exchange.begin(work)
      return true
    }
    guard goesOn else { return nil }
    if exchange.finished.wait(timeout: deadline) == .timedOut { end(.timedOut) }
    state.withLock { $0.current = nil }
    return exchange
  }

  /// Others' words in one line, without what a terminal would act on.
  static func harmless(_ text: String) -> String {
    let lines = text.split(whereSeparator: \.isNewline)
    return TerminalText.sanitised(lines.joined(separator: " "), limit: textLimit)
  }
}
