import Signet
import SignetJSON
import SignetTerminal

/// Something that a server asks the person, of whatever kind.
protocol Asking: Sendable {
  /// What the server calls it.
  var id: String { get }
  /// What can be answered.
  var answers: [AskingAnswer] { get }
  /// What `--json` prints, with the kind.
  var json: JSONObject { get }

  /// Who asks what, as a terminal shows it.
  func text(on terminal: Terminal) -> TerminalText

  /// Shows what is answered, asks for what else is needed, and answers.
  ///
  /// - Parameter answer: One of ``answers``.
  /// - Returns: What was done; `nil` where the person did not go on, and it still waits.
  /// - Throws: ``SpentAsking`` where it waits no more, and what else kept it from being answered.
  func answer(_ answer: AskingAnswer) async throws -> TerminalText?

  /// How it has ended, once it waits no more; `nil` where that cannot be found out.
  func end() async -> RequestEnd?
}

/// What a person says to what is asked.
enum AskingAnswer: String, CaseIterable {
  case approve
  case deny
  case report

  /// The words for a choice: `approve, deny or report`.
  static func list(_ answers: [AskingAnswer]) -> String {
    guard let last = answers.last, answers.count > 1 else { return answers.first?.rawValue ?? "nothing" }
    return answers.dropLast().map(\.rawValue).joined(separator: ", ") + " or \(last.rawValue)"
  }
}

/// Why something that was asked was not answered well, and cannot be answered here any more.
struct SpentAsking: Error {
  let reason: any Error
}
