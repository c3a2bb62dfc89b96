import SignetTerminal
import Synchronization

/// Prints messages while requests are shown and answered: at once from the first column, or after the present answer.
///
/// A server's operator chooses the time, and part of the content, of messages. After a prompt or typed text, a row would be
/// longer than its layout, and its rest would start in the first column.
final class Announcements: Sendable {
  private struct State {
    var isPaused = false
    var queued: [@Sendable () -> Void] = []
  }

  private let errorOutput: Terminal
  private let isConversation: Bool
  private let state = Mutex(State())

  /// Creates announcements for a terminal.
  ///
  /// - Parameters:
  ///   - errorOutput: The terminal for messages and prompts.
  ///   - isConversation: True if the user answers there.
  init(on errorOutput: Terminal, isConversation: Bool) {
    (self.errorOutput, self.isConversation) = (errorOutput, isConversation)
  }

  func post(_ text: TerminalText) { perform { [errorOutput] in errorOutput.print(text) } }

  /// Runs a print function, now or after ``resume()``.
  func perform(_ print: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard !state.isPaused else { return state.queued.append(print) }
      fromFirstColumn(print)
    }
  }

  /// Holds messages back until ``resume()``.
  func pause() { state.withLock { $0.isPaused = true } }

  func resume() {
    state.withLock { state in
      for print in state.queued { fromFirstColumn(print) }
      state = State()
    }
  }

  private func fromFirstColumn(_ print: () -> Void) {
    if isConversation, errorOutput.isTerminal { errorOutput.write(ours: "\r\u{1B}[K") }
    print()
  }
}
