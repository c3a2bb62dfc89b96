import Signet
import SignetTerminal
import Synchronization

/// A prompt that accepts a fingerprint or a password, whichever comes first.
struct UnlockPrompt<Value: Sendable>: Sendable {
  let title: String
  let purpose: TerminalText
  let output: Terminal
  let operation: @Sendable (Authentication?) async throws -> Value

  enum Outcome: Sendable {
    case done(Value)
    case typed(SharedSecretBox)
    /// An empty line.
    case nothing
  }

  private enum Event: Sendable {
    case opened(Value)
    case failed(any Error)
    case typed(SharedSecretBox)
    case notTyped(any Error)
  }

  /// The hint shown under the prompt.
  private final class HintText: Sendable {
    private let text = Mutex("")
    var current: String { text.withLock { $0 } }
    func set(_ value: String) { text.withLock { $0 = value } }
  }

  func run() async throws -> Outcome {
    let hintText = HintText()
    let promptHint = PromptHint { _ in hintText.current }
    let (purpose, operation) = (purpose, operation)
    let prompt: TerminalText =
      "\(purpose): touch the fingerprint reader, or type the password for \(title, limit: 1000): "
    return try await withThrowingTaskGroup(of: Event.self) { group in
      group.addTask {
        let hints: @Sendable (BiometricHint) -> Void = { hint in
          hintText.set(hint.message)
          promptHint.refresh()
        }
        do {
          return .opened(try await operation(.biometrics(reason: purpose.description, hints: hints)))
        } catch {
          return .failed(error)
        }
      }
      group.addTask {
        do {
          return .typed(
            try await SecretInput.terminal.read(prompt, hint: promptHint) {
              SharedSecretBox(SecretBytes(copying: $0))
            })
        } catch { return .notTyped(error) }
      }
      return try await decide(&group, hintText, promptHint)
    }
  }

  /// Waits for the first event, cancels the other input, and waits for its end.
  private func decide(
    _ group: inout ThrowingTaskGroup<Event, any Error>, _ hintText: HintText, _ promptHint: PromptHint
  ) async throws -> Outcome {
    var typed: SharedSecretBox?
    var stop: (any Error)?
    while let event = try await group.next() {
      switch event {
      case .opened(let value):
        // This also wins if a password was typed at the same moment: the operation must not run twice.
        group.cancelAll()
        _ = try await group.next()
        return .done(value)
      case .failed(let error):
        guard let failure = error as? SignetError, failure.canFallBackToPassword else {
          group.cancelAll()
          _ = try await group.next()
          throw error
        }
        // The user may be typing: the prompt stays.
        hintText.set("\(failure)")
        promptHint.refresh()
        if !PromptHint.isShown { output.print("\n\(TerminalText(describing: failure, limit: 1000))") }
      case .typed(let password):
        typed = password
        group.cancelAll()
      case .notTyped(let error):
        stop = error
        group.cancelAll()
      }
    }
    if let stop { throw stop }
    guard let typed, typed.withSecret({ $0.byteCount }) > 0 else { return .nothing }
    return .typed(typed)
  }
}

extension BiometricHint {
  var message: String {
    switch self {
    case .touchSensor: "The reader is on."
    case .swipeSensor: "The reader is on: draw your finger over it."
    case .tryAgain: "The reader could not read that; once more."
    case .swipeTooShort: "That was too short; draw your finger over it once more."
    case .notCentred: "The finger was not in the middle; once more."
    case .liftAndTryAgain: "Lift your finger, then once more."
    case .notRecognised(let remaining):
      "The finger was not recognised; \(remaining) \(remaining == 1 ? "try is" : "tries are") left."
    }
  }
}
