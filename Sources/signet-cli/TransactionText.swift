import Foundation
import Signet
import SignetTerminal

/// A transaction's content as a terminal shows it: all of it, behind bars, so that nothing in it passes for a line of ours.
struct TransactionText {
  /// The lines, each with its line feed.
  let body: String

  init(_ content: TransactionContent, in language: DisplayLanguage = .preferred) {
    let display = TransactionDisplay(content, in: language)
    var text = ""
    if case .relyingParty(let name) = content.origin {
      text += "  from    \(TerminalText.sanitised(name))\n"
    }
    if case .form = content.matter { text += "  | \(TerminalText.sanitised(display.title))\n" }
    for line in display.lines { text += Self.lines(line) }
    for line in display.context {
      text += "  seen    \(TerminalText.sanitised("\(line.label ?? ""): \(line.value)", limit: 1000))\n"
    }
    body = text
  }

  private static func lines(_ line: TransactionDisplay.Line) -> String {
    let indentation = line.isInGroup ? "  " : ""
    let parts = line.value.split(separator: "\n", omittingEmptySubsequences: false).map {
      TerminalText.sanitised(String($0))
    }
    guard let label = line.label.map({ TerminalText.sanitised($0) }) else {
      return parts.map { "  | \(indentation)\($0)\n" }.joined()
    }
    // A value of several lines stands under its label and further in, so that none of them passes for another field.
    guard parts.count > 1 else { return "  | \(indentation)\(label): \(parts.first ?? "")\n" }
    return "  | \(indentation)\(label):\n" + parts.map { "  |       \($0)\n" }.joined()
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
