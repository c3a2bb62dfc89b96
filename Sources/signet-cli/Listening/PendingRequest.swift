import Signet
import SignetJSON
import SignetTerminal

/// A request of a server to the user, of any kind.
protocol PendingRequest: Sendable {
  /// The server's ID of the request.
  var id: String { get }
  var answers: [RequestAnswer] { get }
  /// The `--json` form, with the kind.
  var json: JSONObject { get }

  /// Returns the requester and the request, for a terminal.
  func text(on terminal: Terminal) -> TerminalText

  /// Shows the request, asks for further input, and answers.
  ///
  /// - Parameter answer: One of ``answers``.
  /// - Returns: The result; `nil` if the user stopped and the request still waits.
  /// - Throws: ``UnanswerableRequest`` if the request no longer waits, and any other error that prevented the answer.
  func answer(_ answer: RequestAnswer) async throws -> TerminalText?

  /// Returns the outcome of a request that no longer waits; `nil` if it is unknown.
  func end() async -> RequestEnd?
}

enum RequestAnswer: String, CaseIterable {
  case approve
  case deny
  case report

  /// Returns the words for a choice: `approve, deny or report`.
  static func list(_ answers: [RequestAnswer]) -> String {
    guard let last = answers.last, answers.count > 1 else { return answers.first?.rawValue ?? "nothing" }
    return answers.dropLast().map(\.rawValue).joined(separator: ", ") + " or \(last.rawValue)"
  }
}

/// The failure of an answer to a request that cannot be answered here any more.
struct UnanswerableRequest: Error {
  let reason: any Error
}
