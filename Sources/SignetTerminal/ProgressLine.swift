import Synchronization

/// A progress display: one redrawn line on a terminal, otherwise a line for each new message.
package final class ProgressLine: Sendable {
  private struct State {
    var message = ""
    var isDrawn = false
  }

  private let terminal: Terminal
  private let state = Mutex(State())

  /// Creates a display, on standard error by default, so that it does not mix with results.
  package init(on terminal: Terminal = .standardError) { self.terminal = terminal }

  /// Shows the progress; calls may be frequent and come from several tasks.
  ///
  /// - Parameters:
  ///   - fraction: 0 to 1, or `nil` if unknown; other values are clamped.
  ///   - message: The current activity; it is sanitised.
  package func update(_ fraction: Double? = nil, _ message: String) {
    let text = TerminalText.sanitised(message, limit: 200)
    state.withLock { state in
      guard terminal.isTerminal else {
        if state.message != text { terminal.print("\(text)") }
        state.message = text
        return
      }
      let shown = Self.line(fraction, text, width: terminal.width - 1, usesUTF8: terminal.usesUTF8)
      state = State(message: text, isDrawn: true)
      // Carriage return, text, then erase to the end of the line: erasing first would flicker.
      terminal.write(ours: "\r\(shown)\u{1B}[K")
    }
  }

  /// Erases the line on a terminal, and prints a last message if there is one.
  package func finish(_ message: TerminalText? = nil) {
    state.withLock { state in
      if state.isDrawn { terminal.write(ours: "\r\u{1B}[K") }
      state = State()
      if let message { terminal.print(message) }
    }
  }

  /// The bar, the percentage and the message in at most `width` columns.
  private static func line(_ fraction: Double?, _ message: String, width: Int, usesUTF8: Bool) -> String {
    var line = ""
    if let fraction, !fraction.isNaN {
      let completed = min(max(fraction, 0), 1)
      let percent = String(Int(completed * 100))
      let filled = Int(completed * 20)
      let (full, empty) = usesUTF8 ? ("█", "░") : ("#", ".")
      line += String(repeating: full, count: filled) + String(repeating: empty, count: 20 - filled)
      line += " " + String(repeating: " ", count: 3 - percent.count) + percent + "% "
    }
    // The bar is fixed text of one column per character; the message may be foreign text of any width.
    var columns = line.count
    for character in message {
      columns += TerminalText.widest(String(character))
      if columns > width { break }
      line.append(character)
    }
    return line
  }
}
