import Foundation
import SignetTerminal
import SignetTestKit
import Testing

private let copy: @Sendable (RawSpan) -> [UInt8] = { span in span.withUnsafeBytes { Array($0) } }

/// A hint with the number of typed bytes.
private let counting = PromptHint { "\($0.byteCount) typed." }

/// The drawing of a hint's line, on a terminal whose prompt has ten columns.
private func drawn(_ line: String) -> String { "\r\n\u{1B}[K\(line)\u{1B}[A\u{1B}[11G" }

// The type of terminal is global to the process, so each test has a separate process.
@Suite("A hint under a prompt", .timeLimit(.minutes(10))) struct PromptHintTests {
  @Test("follows each key, shows no typed character, and disappears afterwards")
  func keys() async {
    await #expect(processExitsWith: .success) {
      setenv("TERM", "xterm", 1)
      let terminal = try PseudoTerminal()
      let before = terminal.settings
      async let secret = SecretInput.terminal(at: terminal.path).read(
        "Password: ", hint: counting, into: copy)
      #expect(
        try await terminal.shown(until: "0 typed.\u{1B}[A\u{1B}[11G") == "Password: " + drawn("0 typed."))
      #expect(!terminal.hasEcho)
      // The key, and the resulting line.
      for (key, count) in [
        ("q", 1), ("é", 3), ("\u{7F}", 1), ("z", 2), ("\u{8}", 1), ("\u{7F}", 0), ("\u{7F}", 0), ("qz", 2),
        ("\u{15}", 0), ("qz", 2), ("\u{17}", 0), ("q\u{1B}", 2), ("\u{7F}\u{7F}zz", 2),
      ] {
        terminal.type(key)
        let shown = try await terminal.shown(until: "\(count) typed.\u{1B}[A\u{1B}[11G")
        #expect(!shown.contains("q") && !shown.contains("z") && !shown.contains("é"))
      }
      terminal.type("\u{4}w\r")
      #expect(try await secret == Array("zzw".utf8))
      #expect(terminal.shownNow().hasSuffix("\r\n\r\u{1B}[K"))
      #expect(terminal.settings == before)
    }
  }

  @Test("is redrawn after another change, sanitised and truncated to the window")
  func refresh() async {
    await #expect(processExitsWith: .success) {
      setenv("TERM", "xterm", 1)
      let terminal = try PseudoTerminal()
      let words = Words()
      let hint = PromptHint { _ in words.text }
      let task = Task {
        try await SecretInput.terminal(at: terminal.path).read("Password: ", hint: hint, into: copy)
      }
      _ = try await terminal.shown(until: drawn("first"))
      words.text = "two\u{1B}[2J\nlines " + String(repeating: "x", count: 200)
      hint.refresh()
      let line = "two␛[2J␊lines " + String(repeating: "x", count: 61) + "…"
      _ = try await terminal.shown(until: drawn(line))
      task.cancel()
      await #expect(throws: SecretInputFailure.cancelled) { try await task.value }
      #expect(terminal.hasEcho)
      hint.refresh()
      #expect(terminal.shownNow().hasSuffix("\u{1B}[K"))
    }
  }

  @Test("reappears with the prompt, and disappears with Ctrl-D")
  func suspended() async {
    await #expect(processExitsWith: .success) {
      setenv("TERM", "xterm", 1)
      signal(SIGTSTP) { _ in }
      let terminal = try PseudoTerminal()
      let task = Task {
        try await SecretInput.terminal(at: terminal.path).read("Password: ", hint: counting, into: copy)
      }
      _ = try await terminal.shown(until: drawn("0 typed."))
      terminal.type("half")
      _ = try await terminal.shown(until: drawn("4 typed."))
      kill(getpid(), SIGTSTP)
      #expect(
        try await terminal.shown(until: drawn("0 typed.")) == "\r\n\r\u{1B}[KPassword: " + drawn("0 typed."))
      terminal.type("\u{4}")
      await #expect(throws: SecretInputFailure.cancelled) { try await task.value }
      #expect(terminal.hasEcho)
    }
  }

  @Test("the limit is 4094 bytes; bytes beyond it can be erased", arguments: [0, 1])
  func longest(_ left: Int) async {
    await #expect(processExitsWith: .success) { [left = left as Int] in
      setenv("TERM", "xterm", 1)
      let terminal = try PseudoTerminal()
      let task = Task {
        try await SecretInput.terminal(at: terminal.path).read("Password: ", hint: counting, into: copy)
      }
      _ = try await terminal.shown(until: drawn("0 typed."))
      terminal.type(String(repeating: "x", count: 4096))
      _ = try await terminal.shown(until: drawn("4094 typed."))
      terminal.type(String(repeating: "\u{7F}", count: 2 - left) + "\n")
      if left == 0 {
        #expect(try await task.value.count == 4094)
      } else {
        await #expect(throws: SecretInputFailure.tooLong(maximumByteCount: 4094)) { try await task.value }
      }
    }
  }

  @Test("is omitted if the cursor cannot move")
  func leftOut() async {
    await #expect(processExitsWith: .success) {
      setenv("TERM", "dumb", 1)
      let terminal = try PseudoTerminal()
      async let secret = SecretInput.terminal(at: terminal.path).read(
        "Password: ", hint: counting, into: copy)
      #expect(try await terminal.shown(until: "Password: ") == "Password: ")
      terminal.type("abc\u{7F}\n")
      #expect(try await secret == Array("ab".utf8))
      #expect(!terminal.shownNow().contains("typed"))
    }
  }
}

/// Words that a test changes while a prompt is open.
private final class Words: @unchecked Sendable {
  private let lock = NSLock()
  private var words = "first"
  var text: String {
    get { lock.withLock { words } }
    set { lock.withLock { words = newValue } }
  }
}
