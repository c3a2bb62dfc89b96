import Synchronization

/// Says how far work has come: one line that is redrawn on a terminal, else a line for each new message.
public final class ProgressLine: Sendable {
  private struct State {
    var message = ""
    var isDrawn = false
  }

  private let terminal: Terminal
  private let state = Mutex(State())

  /// Progress on standard error, so that it never mixes with results.
  public init(on terminal: Terminal = .standardError) { self.terminal = terminal }

  /// Shows how much is done; it may be called often and from several tasks.
  ///
  /// - Parameters:
  ///   - fraction: 0 to 1, or nil if it is not known; values outside are taken as the nearest bound.
  ///   - message: What is being done; it is sanitised.
  public func update(_ fraction: Double? = nil, _ message: String) {
    let text = TerminalText.sanitised(message, limit: 200)
    state.withLock { state in
      guard terminal.isTerminal else {
        if state.message != text { terminal.print("\(text)") }
        state.message = text
        return
      }
      let shown = Self.line(fraction, text, width: terminal.width - 1, usesUTF8: terminal.usesUTF8)
      state = State(message: text, isDrawn: true)
      // Carriage return, text, then erase to the end of the line: without the flicker of erasing first.
      terminal.write(ours: "\r\(shown)\u{1B}[K")
    }
  }

  /// Takes the line away from a terminal, and prints a last message if there is one.
  public func finish(_ message: TerminalText? = nil) {
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
      let done = min(max(fraction, 0), 1)
      let percent = String(Int(done * 100))
      let filled = Int(done * 20)
      let (full, empty) = usesUTF8 ? ("█", "░") : ("#", ".")
      line += String(repeating: full, count: filled) + String(repeating: empty, count: 20 - filled)
      line += " " + String(repeating: " ", count: 3 - percent.count) + percent + "% "
    }
    // The bar is ours, and narrow where our programs are used; the message may be anybody's.
    var columns = line.count
    for character in message {
      columns += TerminalText.widest(String(character))
      if columns > width { break }
      line.append(character)
    }
    return line
  }
}
