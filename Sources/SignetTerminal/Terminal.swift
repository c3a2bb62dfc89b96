import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// A stream of text for a person or a pipe: standard output, standard error, or a test's collector.
///
/// Colour is used only on a terminal, when `NO_COLOR` is unset or empty (no-color.org) and `TERM` is neither unset nor `dumb`.
package struct Terminal: Sendable {
  /// The stream for results.
  package static let standardOutput = Terminal(descriptor: STDOUT_FILENO)
  /// The stream for messages, prompts and progress.
  package static let standardError = Terminal(descriptor: STDERR_FILENO)

  /// True if the stream is a terminal.
  package let isTerminal: Bool
  /// True if ``styled(_:_:)`` adds colour.
  package let usesColour: Bool
  /// True if the locale's characters are UTF-8 (`LC_ALL`, `LC_CTYPE`, `LANG`).
  package let usesUTF8: Bool

  private let sink: @Sendable (String) -> Int32
  private let measure: @Sendable () -> Int
  private let state: State

  private final class State: Sendable {
    let failure = Mutex<Int32>(0)
  }

  /// Creates a stream to an open file descriptor, which stays open and belongs to the caller.
  ///
  /// - Parameter descriptor: Open for writing.
  package init(descriptor: Int32) {
    self.init(descriptor: descriptor, environment: ProcessInfo.processInfo.environment)
  }

  /// Creates a stream to an open file descriptor in a certain environment.
  ///
  /// - Parameters:
  ///   - descriptor: Open for writing.
  ///   - environment: The variables that decide on colour, width and characters.
  package init(descriptor: Int32, environment: [String: String]) {
    isTerminal = isatty(descriptor) == 1
    usesColour = isTerminal && Self.allowsColour(environment)
    usesUTF8 = Self.hasUTF8(environment)
    sink = { text in writeAll(text, to: descriptor) }
    let columns = environment["COLUMNS"].flatMap { Int($0) }
    measure = { windowWidth(descriptor) ?? columns ?? 80 }
    state = State()
  }

  /// Creates a stream into a closure, for tests and redirected output.
  ///
  /// - Parameters:
  ///   - width: The columns.
  ///   - isTerminal: True to simulate a terminal.
  ///   - usesColour: True if ``styled(_:_:)`` adds colour.
  ///   - write: Called with each piece of text, from any thread.
  package init(
    width: Int = 80, isTerminal: Bool = false, usesColour: Bool = false,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.isTerminal = isTerminal
    self.usesColour = usesColour
    usesUTF8 = true
    sink = { text in
      write(text)
      return 0
    }
    measure = { width }
    state = State()
  }

  /// The columns, 20 to 1000: the window's, otherwise those of `COLUMNS`, otherwise 80.
  package var width: Int { min(max(measure(), 20), 1000) }

  /// The `errno` of the first failed write; ``Program/run(_:output:errorOutput:)`` reports it.
  package var writeFailure: Int32? {
    state.failure.withLock { $0 == 0 ? nil : $0 }
  }

  /// Writes this program's own text unchanged: help, drawings, cursor movements.
  ///
  /// - Parameter text: It must not contain text from a file, a server or a user; use ``print(_:)`` for that.
  package func write(ours text: String) {
    let code = sink(text)
    guard code != 0 else { return }
    state.failure.withLock { if $0 == 0 { $0 = code } }
  }

  /// Prints a line, or several, in one write.
  ///
  /// On a terminal, no row starts with foreign text, and no row is wider than the window: see ``TerminalText``.
  ///
  /// - Parameter text: Without the last line feed.
  package func print(_ text: TerminalText = "") {
    write(ours: text.shown(width: isTerminal ? width : nil, usesUTF8: usesUTF8 || !isTerminal) + "\n")
  }

  /// Prints a JSON document for programs; on a terminal in ASCII, so that no text in it controls the terminal.
  ///
  /// - Parameter document: JSON.
  package func print(json document: String) {
    guard isTerminal, !document.utf8.allSatisfy({ $0 == 0x0A || 0x20...0x7E ~= $0 }) else {
      write(ours: document + "\n")
      return
    }
    var text = ""
    for unit in document.utf16 {
      if let scalar = Unicode.Scalar(unit), unit == 0x0A || 0x20...0x7E ~= unit {
        text.unicodeScalars.append(scalar)
      } else {
        let digits = String(unit, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    write(ours: text + "\n")
  }

  /// Prints a table; on a terminal, columns that do not fit in the window appear below their rows.
  package func print(_ table: TextTable) { print(isTerminal ? table.text(width: width) : table.text) }

  /// A text style.
  package enum Style: Int, Sendable {
    /// Bold.
    case bold = 1
    /// Faint.
    case faint = 2
    /// Red, for failures.
    case red = 31
    /// Green, for success.
    case green = 32
    /// Yellow, for warnings.
    case yellow = 33
    /// Cyan, for text to type.
    case cyan = 36
  }

  /// Returns the text with styles if colour is used, otherwise the text alone.
  package func styled(_ text: TerminalText, _ styles: Style...) -> TerminalText {
    guard usesColour, !styles.isEmpty else { return text }
    let codes = styles.map { String($0.rawValue) }.joined(separator: ";")
    return text.between("\u{1B}[\(codes)m", "\u{1B}[0m")
  }

  private static func allowsColour(_ environment: [String: String]) -> Bool {
    guard environment["NO_COLOR", default: ""].isEmpty else { return false }
    return !["", "dumb"].contains(environment["TERM", default: ""])
  }

  static func hasUTF8(_ environment: [String: String]) -> Bool {
    // POSIX.1-2017 XBD 8.2: the first that is set and not empty decides.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    let name = (locale ?? "").lowercased()
    return name.contains("utf-8") || name.contains("utf8")
  }
}

/// Writes all bytes; returns 0 or the `errno` of the failure.
func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    if count < 0 {
      let failure = errno
      if failure == EINTR { continue }
      guard failure == EAGAIN else { return failure }
      // Another process made the shared terminal or pipe non-blocking: wait until it is writable.
      var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&watched, 1, -1)
      continue
    }
    bytes = bytes.dropFirst(count)
  }
  return 0
}

/// The columns of the window that shows `descriptor`; `nil` if there is none or the width is unknown.
func windowWidth(_ descriptor: Int32) -> Int? {
  var size = winsize()
  guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
  return Int(size.ws_col)
}

/// Ends the process with `code`.
///
/// It skips the `exit` handlers of C libraries: they would free memory that their threads still use.
func exitProcess(_ code: ExitCode) -> Never {
  fflush(nil)
  _exit(Int32(code.rawValue))
}
