import Signet
import SignetJSON
import SignetTerminal

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// All that is asked, whatever kind it is and whichever server asks: shown as it comes, answered, and told of when it has ended.
actor AskingList {
  private struct Entry {
    let number: Int
    let source: Int
    let asking: any Asking
    var isGone = false
    /// How it has ended, where that need not be found out.
    var end: RequestEnd?
  }

  private let arguments: Arguments
  /// Whether the person answers here: everything has a number then.
  private let isConversation: Bool
  private var entries: [Entry] = []
  private var lastNumber = 0
  /// What was answered here: a list that was on its way then still has it.
  private var done: Set<String> = []
  /// The one that is being answered; nothing is printed between the person's questions and answers.
  private var answered: Int?
  private let announcements: Announcements
  /// What has waited since the person was last answered: an answer without a number is for the only one of these.
  private var shown: Set<Int> = []

  /// A list without anything.
  init(_ arguments: Arguments, _ announcements: Announcements, isConversation: Bool) {
    (self.arguments, self.announcements, self.isConversation) = (arguments, announcements, isConversation)
  }

  /// Takes what waits at a source now: shows what is new, and says what has ended.
  ///
  /// - Parameters:
  ///   - askings: All that waits there.
  ///   - source: Where.
  ///   - limit: How many of what is new are shown.
  /// - Returns: Whether anything is new.
  func update(_ askings: [any Asking], of source: Int, showing limit: Int = .max) async -> Bool {
    let ids = Set(askings.map(\.id))
    let known = Set(entries.lazy.filter { $0.source == source }.map(\.asking.id))
    let new = askings.filter { !known.contains($0.id) && !done.contains("\(source) \($0.id)") }
    for asking in new.prefix(limit) {
      lastNumber += 1
      let entry = Entry(number: lastNumber, source: source, asking: asking)
      entries.append(entry)
      shown.insert(entry.number)
      show(entry)
    }
    for index in entries.indices where entries[index].source == source {
      entries[index].isGone = !ids.contains(entries[index].asking.id)
      // One that waits after all may end otherwise.
      if !entries[index].isGone { entries[index].end = nil }
    }
    await tellEnds()
    return !new.isEmpty
  }

  /// Takes it that nothing waits at a source any more, and says what has ended.
  ///
  /// - Parameters:
  ///   - source: Where.
  ///   - end: How it has ended; `nil` where that is to be found out.
  func end(all source: Int, as end: RequestEnd?) async {
    for index in entries.indices where entries[index].source == source {
      (entries[index].isGone, entries[index].end) = (true, end)
    }
    await tellEnds()
  }

  private func show(_ entry: Entry) {
    let (output, asking) = (arguments.output, entry.asking)
    if arguments.isSet("json") {
      return announcements.say { output.print(json: JSONValue.object(asking.json).text) }
    }
    var text = asking.text(on: output)
    if isConversation {
      text = "Request \(entry.number): \(ours: AskingAnswer.list(asking.answers))\n" + text
    }
    // One write, so that what several servers send at once does not mix.
    announcements.say { [text] in output.print(text) }
  }

  private func tellEnds() async {
    while let entry = entries.first(where: { $0.isGone && $0.number != answered }) {
      // Before the server is asked: others come in meanwhile, and it is told once.
      forget(entry.number)
      let end: RequestEnd? = if let known = entry.end { known } else { await entry.asking.end() }
      let output = arguments.output
      if arguments.isSet("json") {
        let object: JSONObject = [
          "kind": entry.asking.json["kind"] ?? .null, "id": .string(entry.asking.id),
          "ended": .string(end?.rawValue ?? "unknown"),
        ]
        announcements.say { output.print(json: JSONValue.object(object).text) }
        continue
      }
      let how =
        switch end {
        case .answered?: "was answered elsewhere"
        case .withdrawn?: "was cancelled or withdrawn"
        case .expired?: "has expired"
        case nil: "has ended"
        }
      let name: TerminalText =
        isConversation ? "Request \(entry.number)" : "\(entry.asking.id, limit: 200)"
      announcements.say { output.print("\(name) \(ours: how).") }
    }
  }

  private func finish(_ entry: Entry) {
    forget(entry.number)
    done.insert("\(entry.source) \(entry.asking.id)")
  }

  private func forget(_ number: Int) { entries.removeAll { $0.number == number } }

  // MARK: Answering

  /// Does what a line of the person's says: an answer, and which request it is for where several wait.
  func take(_ line: String) async {
    let words = line.split(separator: " ")
    guard let first = words.first else { return }
    let waiting = entries.filter { !$0.isGone }
    guard let answer = AskingAnswer(rawValue: first.lowercased()), words.count <= 2 else {
      return arguments.errorOutput.print(
        "To answer, write approve, deny or report, and the request's number.")
    }
    // Where another has waited since, the answer may be meant for that.
    let isOnly = waiting.count == 1 && shown.count == 1
    let number = words.count == 2 ? Int(words[1]) : isOnly ? waiting.first?.number : nil
    guard let entry = waiting.first(where: { $0.number == number }) else {
      shown = Set(waiting.map(\.number))
      return arguments.errorOutput.print(
        waiting.isEmpty ? "No request waits." : "Name one that waits: \(ours: first.lowercased()) NUMBER.")
    }
    guard entry.asking.answers.contains(answer) else {
      return arguments.errorOutput.print(
        "Request \(entry.number) takes \(ours: AskingAnswer.list(entry.asking.answers)).")
    }
    await self.answer(entry, answer)
  }

  /// Forgets what was typed while an answer was on its way, before anything else is shown: it is no answer to that.
  private static func forgetTypedAhead() { _ = tcflush(STDIN_FILENO, TCIFLUSH) }

  private func answer(_ entry: Entry, _ answer: AskingAnswer) async {
    answered = entry.number
    announcements.hold()
    let outcome: Result<TerminalText?, any Error>
    do { outcome = .success(try await entry.asking.answer(answer)) } catch { outcome = .failure(error) }
    Self.forgetTypedAhead()
    switch outcome {
    case .success(let text?):
      finish(entry)
      arguments.output.print(text)
    case .success(nil):
      arguments.errorOutput.print("Nothing was answered; request \(entry.number) still waits.")
    case .failure(let failure):
      let spent = failure as? SpentAsking
      if spent != nil { finish(entry) }
      arguments.errorOutput.print("signet: \(TerminalText(saidBy: spent?.reason ?? failure, limit: 2000))")
    }
    answered = nil
    shown = Set(entries.lazy.filter { !$0.isGone }.map(\.number))
    announcements.release()
    await tellEnds()
  }
}
