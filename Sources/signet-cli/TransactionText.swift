import Foundation
import Signet
import SignetTerminal

/// A transaction's content as a terminal shows it: all of it, behind bars, so that nothing in it passes for a line of ours.
///
/// Lines are broken here and not by the terminal, which would begin a row with whatever stands there.
struct TransactionText {
  /// The lines, each with its line feed.
  let body: String

  init(_ content: TransactionContent, on terminal: Terminal, in language: DisplayLanguage = .preferred) {
    let display = TransactionDisplay(content, in: language)
    let page = Page(width: terminal.width)
    var text = ""
    for line in display.lines where line.role == .origin {
      text += page.rows("  from    ", line.value, next: Page.margin)
    }
    if case .form = content.matter { text += page.rows("  | ", display.title, next: Page.further) }
    for line in display.lines where line.role == .matter { text += page.lines(line) }
    for line in display.lines where line.role == .context {
      text += page.rows("  seen    ", "\(line.label ?? ""): \(line.value)", next: Page.margin)
    }
    body = text
  }

  private struct Page {
    static let margin = "          "
    /// No label begins so far in: what goes on does not pass for another field.
    static let further = "  |       "

    let width: Int

    /// A text after `first`, going on after `next` where the columns are full.
    func rows(_ first: String, _ text: String, next: String) -> String {
      let room = max(20, width - 1 - max(first.count, next.count))
      let parts = TerminalText.broken(TerminalText.sanitised(text), width: room)
      return parts.enumerated().map { ($0 == 0 ? first : next) + $1 + "\n" }.joined()
    }

    func lines(_ line: TransactionDisplay.Line) -> String {
      let bar = line.isInGroup ? "  |   " : "  | "
      let parts = line.value.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      guard let label = line.label else {
        return parts.map { rows(bar, $0, next: bar) }.joined()
      }
      // A value of several lines stands under its label and further in.
      guard parts.count > 1 else { return rows(bar, "\(label): \(parts.first ?? "")", next: Self.further) }
      return rows(bar, "\(label):", next: Self.further)
        + parts.map { rows(Self.further, $0, next: Self.further) }.joined()
    }
  }
}

extension DisplayLanguage {
  /// The language that the environment asks for, as POSIX orders its variables.
  static var preferred: DisplayLanguage {
    let environment = ProcessInfo.processInfo.environment
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
    return DisplayLanguage(locale: names.first { !$0.isEmpty } ?? "")
  }
}
