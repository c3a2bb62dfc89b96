import Dispatch
import SignetCrypto
import SignetSystem
import SignetVault
import Synchronization

/// Connects a thread that blocks in PAM with the task that prompts the user.
final class PAMConversationBridge: Sendable {
  /// The maximum number of prompts and messages; a module that exceeds it is probably in a loop.
  static let exchangeLimit = 64
  /// The maximum number of characters of a prompt or message.
  static let textLimit = 512

  private struct State: Sendable {
    var failure: DevicePasscodeFailure?
    var exchangeCount = 0
    var current: PendingPrompt?
  }

  /// One prompt or message, until the user interface has finished it.
  private final class PendingPrompt: Sendable {
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

    /// Cancels the user interface's task without waiting for its end.
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

  /// The reason why the conversation ended before PAM did.
  var failure: DevicePasscodeFailure? { state.withLock { $0.failure } }

  /// Ends the conversation; a later failure does not replace the first one.
  func end(_ failure: DevicePasscodeFailure) {
    let current = state.withLock { state in
      state.failure = state.failure ?? failure
      return state.current
    }
    current?.cancel()
  }

  /// Prompts the user, and blocks until there is an answer.
  ///
  /// - Returns: `nil` if the conversation has ended.
  func promptUser(_ text: String, echoes: Bool) -> SharedSecretBox? {
    let prompt = PasscodePrompt(reason: reason, text: Self.sanitised(text), echoes: echoes)
    let finished = perform { [conversation] in
      guard let answer = await conversation.answer(prompt) else { return nil }
      let box = SharedSecretBox(answer)
      // The code that made the answer has left parts of it on this thread's stack, which other tasks will use.
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

  /// Shows a message to the user, and blocks until it was shown.
  ///
  /// - Returns: True if the conversation continues.
  func show(_ text: String, isError: Bool) -> Bool {
    let message = PasscodeMessage(text: Self.sanitised(text), isError: isError)
    let finished = perform { [conversation] in
      await conversation.show(message)
      return nil
    }
    return finished != nil && failure == nil
  }

  private func perform(_ work: @escaping @Sendable () async -> SharedSecretBox?) -> PendingPrompt? {
    let exchange = PendingPrompt()
    let canContinue = state.withLock { state in
      state.exchangeCount += 1
      if state.exchangeCount > Self.exchangeLimit {
        state.failure = state.failure ?? .unavailable("it asked too many questions")
      }
      guard state.failure == nil else { return false }
      state.current = exchange
      exchange.begin(work)
      return true
    }
    guard canContinue else { return nil }
    if exchange.finished.wait(timeout: deadline) == .timedOut { end(.timedOut) }
    state.withLock { $0.current = nil }
    return exchange
  }

  /// Joins foreign text into one line, and escapes characters that control a terminal.
  static func sanitised(_ text: String) -> String {
    let lines = text.split(whereSeparator: \.isNewline)
    return TerminalText.sanitised(lines.joined(separator: " "), limit: textLimit)
  }
}
