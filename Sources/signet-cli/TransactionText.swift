import Signet
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A transaction's content for a terminal: complete, and behind bars, so that no part looks like the program's own output.
struct TransactionText {
  let body: TerminalText

  init(_ content: TransactionContent, on terminal: Terminal, in language: DisplayLanguage = .preferred) {
    let display = TransactionDisplay(content, in: language)
    var block = TerminalBlock(on: terminal)
    for line in display.lines where line.role == .origin { block.field("from", line.value) }
    if case .form = content.body { block.text(display.title) }
    for line in display.lines where line.role == .content { Self.add(line, to: &block) }
    for line in display.lines where line.role == .context {
      block.field("seen", "\(line.label ?? ""): \(line.value)")
    }
    body = block.text
  }

  private static func add(_ line: TransactionDisplay.Line, to block: inout TerminalBlock) {
    guard let label = line.label else {
      block.text(line.value, isInGroup: line.isInGroup)
      return
    }
    // A value of several lines follows its label, further indented.
    guard line.value.contains("\n") else {
      block.text("\(label): \(line.value)", isInGroup: line.isInGroup, goesOnFurther: true)
      return
    }
    block.text("\(label):", isInGroup: line.isInGroup, goesOnFurther: true)
    block.continuation(line.value)
  }
}

/// Rows of untrusted text, each with a prefix of the program's own.
struct TerminalBlock {
  /// Deeper than any label, so that a continuation does not look like another field.
  private static let continuation = "  |       "

  /// The rows, without the last line feed.
  private(set) var text = TerminalText()
  private let width: Int
  private let usesUTF8: Bool

  init(on terminal: Terminal) {
    width = terminal.width
    usesUTF8 = terminal.usesUTF8 || !terminal.isTerminal
  }

  /// Adds an untrusted text after a word of the program.
  mutating func field(_ label: String, _ value: String) {
    let first = "  " + label + String(repeating: " ", count: max(1, 8 - label.count))
    add(value.replacing("\n", with: "␊"), first: first, next: Self.continuation)
  }

  /// Adds an untrusted text, line by line.
  mutating func text(_ value: String, isInGroup: Bool = false, goesOnFurther: Bool = false) {
    let bar = isInGroup ? "  |   " : "  | "
    add(value, first: bar, next: goesOnFurther ? Self.continuation : bar)
  }

  /// Adds lines that continue the previous text.
  mutating func continuation(_ value: String) {
    add(value, first: Self.continuation, next: Self.continuation)
  }

  private mutating func add(_ value: String, first: String, next: String) {
    if !text.isEmpty { text += "\n" }
    text += TerminalText.block(value, first: first, next: next, width: width, usesUTF8: usesUTF8)
  }
}

extension DisplayLanguage {
  /// The language of the environment, in the POSIX order of variables.
  static var preferred: DisplayLanguage {
    let environment = ProcessInfo.processInfo.environment
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
    return DisplayLanguage(locale: names.first { !$0.isEmpty } ?? "")
  }
}
