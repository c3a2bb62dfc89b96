import SignetTerminal
import Synchronization

/// What is said while requests are shown and answered: at once, and from the first column on, or after the answer that is being given.
///
/// Whoever runs a server chooses when something is to be said, and partly what: behind a prompt, or behind what the person has typed
/// so far, a row would be longer than it was laid out for, and its rest would stand in the first column.
final class Announcements: Sendable {
  private struct State {
    var isHeld = false
    var held: [@Sendable () -> Void] = []
  }

  private let errorOutput: Terminal
  private let isConversation: Bool
  private let state = Mutex(State())

  /// What is said on a terminal.
  ///
  /// - Parameters:
  ///   - errorOutput: Where messages go, and prompts.
  ///   - isConversation: Whether the person answers there.
  init(on errorOutput: Terminal, isConversation: Bool) {
    (self.errorOutput, self.isConversation) = (errorOutput, isConversation)
  }

  /// Prints a message.
  func note(_ text: TerminalText) { say { [errorOutput] in errorOutput.print(text) } }

  /// Prints something.
  func say(_ print: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard !state.isHeld else { return state.held.append(print) }
      fromFirstColumn(print)
    }
  }

  /// Keeps back what is said, until ``release()``.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Says what was kept back.
  func release() {
    state.withLock { state in
      for print in state.held { fromFirstColumn(print) }
      state = State()
    }
  }

  private func fromFirstColumn(_ print: () -> Void) {
    if isConversation, errorOutput.isTerminal { errorOutput.write(ours: "\r\u{1B}[K") }
    print()
  }
}
