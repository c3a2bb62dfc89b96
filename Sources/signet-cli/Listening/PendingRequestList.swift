import Signet
import SignetJSON
import SignetTerminal

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// All requests of all kinds and servers: shown on arrival, answered, and reported when they end.
actor PendingRequestList {
  private struct Entry {
    let number: Int
    let source: Int
    let request: any PendingRequest
    var isGone = false
    /// The known outcome; `nil` if it must be queried.
    var end: RequestEnd?
  }

  private let arguments: Arguments
  /// True if the user answers here: every request then has a number.
  private let isConversation: Bool
  private var entries: [Entry] = []
  private var lastNumber = 0
  /// The requests answered here: a list that was already on its way may still contain them.
  private var done: Set<String> = []
  /// The request that is being answered; nothing is printed between prompts and input.
  private var answered: Int?
  private let announcements: Announcements
  /// The requests that have waited since the last answer: an answer without a number applies if there is only one.
  private var shown: Set<Int> = []

  init(_ arguments: Arguments, _ announcements: Announcements, isConversation: Bool) {
    self.arguments = arguments
    self.announcements = announcements
    self.isConversation = isConversation
  }

  /// Updates the requests of a source: shows new ones, and reports ended ones.
  ///
  /// - Parameters:
  ///   - requests: All waiting requests of the source.
  ///   - source: The source.
  ///   - limit: The maximum number of new requests to show.
  /// - Returns: True if there are new requests.
  func update(_ requests: [any PendingRequest], of source: Int, showing limit: Int = .max) async -> Bool {
    let ids = Set(requests.map(\.id))
    let knownIDs = Set(entries.lazy.filter { $0.source == source }.map(\.request.id))
    let new = requests.filter { !knownIDs.contains($0.id) && !done.contains("\(source) \($0.id)") }
    for request in new.prefix(limit) {
      lastNumber += 1
      let entry = Entry(number: lastNumber, source: source, request: request)
      entries.append(entry)
      shown.insert(entry.number)
      show(entry)
    }
    for index in entries.indices where entries[index].source == source {
      entries[index].isGone = !ids.contains(entries[index].request.id)
      // A request that waits again may end differently.
      if !entries[index].isGone { entries[index].end = nil }
    }
    await reportEnds()
    return !new.isEmpty
  }

  /// Ends all requests of a source and reports them.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - end: Their outcome; `nil` to query it.
  func end(all source: Int, as end: RequestEnd?) async {
    for index in entries.indices where entries[index].source == source {
      (entries[index].isGone, entries[index].end) = (true, end)
    }
    await reportEnds()
  }

  private func show(_ entry: Entry) {
    let (output, request) = (arguments.output, entry.request)
    if arguments.isSet("json") {
      return announcements.perform { output.print(json: JSONValue.object(request.json).text) }
    }
    var text = request.text(on: output)
    if isConversation {
      text = "Request \(entry.number): \(ours: RequestAnswer.list(request.answers))\n" + text
    }
    // One write, so that output about several servers does not mix.
    announcements.perform { [text] in output.print(text) }
  }

  private func reportEnds() async {
    while let entry = entries.first(where: { $0.isGone && $0.number != answered }) {
      // Before the query: other updates arrive meanwhile, and the end must be reported once.
      forget(entry.number)
      let end: RequestEnd? = if let known = entry.end { known } else { await entry.request.end() }
      let output = arguments.output
      if arguments.isSet("json") {
        let object: JSONObject = [
          "kind": entry.request.json["kind"] ?? .null, "id": .string(entry.request.id),
          "ended": .string(end?.rawValue ?? "unknown"),
        ]
        announcements.perform { output.print(json: JSONValue.object(object).text) }
        continue
      }
      let outcome =
        switch end {
        case .answered?: "was answered"
        case .withdrawn?: "was cancelled or withdrawn"
        case .expired?: "has expired"
        case nil: "has ended"
        }
      let name: TerminalText =
        isConversation ? "Request \(entry.number)" : "\(entry.request.id, limit: 200)"
      announcements.perform { output.print("\(name) \(ours: outcome).") }
    }
  }

  private func finish(_ entry: Entry) {
    forget(entry.number)
    done.insert("\(entry.source) \(entry.request.id)")
  }

  private func forget(_ number: Int) { entries.removeAll { $0.number == number } }

  // MARK: Answering

  /// Processes the user's input line: an answer, and the number of its request if several wait.
  func process(_ line: String) async {
    let words = line.split(separator: " ")
    guard let first = words.first else { return }
    let waiting = entries.filter { !$0.isGone }
    guard let answer = RequestAnswer(rawValue: first.lowercased()), words.count <= 2 else {
      return arguments.errorOutput.print(
        "To answer, write approve, deny or report, and the request's number.")
    }
    // If another request has waited meanwhile, the answer may be meant for that one.
    let isOnly = waiting.count == 1 && shown.count == 1
    let number = words.count == 2 ? Int(words[1]) : isOnly ? waiting.first?.number : nil
    guard let entry = waiting.first(where: { $0.number == number }) else {
      shown = Set(waiting.map(\.number))
      return arguments.errorOutput.print(
        waiting.isEmpty ? "No request waits." : "Name one that waits: \(ours: first.lowercased()) NUMBER.")
    }
    guard entry.request.answers.contains(answer) else {
      return arguments.errorOutput.print(
        "Request \(entry.number) can be answered with \(ours: RequestAnswer.list(entry.request.answers)).")
    }
    await self.answer(entry, answer)
  }

  /// Discards input typed while an answer was being sent: it must not answer the next request.
  private static func forgetTypedAhead() { _ = tcflush(STDIN_FILENO, TCIFLUSH) }

  private func answer(_ entry: Entry, _ answer: RequestAnswer) async {
    answered = entry.number
    announcements.pause()
    let outcome: Result<TerminalText?, any Error>
    do { outcome = .success(try await entry.request.answer(answer)) } catch { outcome = .failure(error) }
    Self.forgetTypedAhead()
    switch outcome {
    case .success(let text?):
      finish(entry)
      arguments.output.print(text)
    case .success(nil):
      arguments.errorOutput.print("Nothing was answered; request \(entry.number) still waits.")
    case .failure(let failure):
      let spent = failure as? UnanswerableRequest
      if spent != nil { finish(entry) }
      arguments.errorOutput.print(
        "signet: \(TerminalText(describing: spent?.reason ?? failure, limit: 2000))")
    }
    answered = nil
    shown = Set(entries.lazy.filter { !$0.isGone }.map(\.number))
    announcements.resume()
    await reportEnds()
  }
}
