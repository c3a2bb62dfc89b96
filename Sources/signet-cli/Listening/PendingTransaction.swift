import Signet
import SignetJSON
import SignetTerminal

/// A transaction, or a CIBA request, that waits for a container.
struct PendingTransaction: PendingRequest {
  let chosen: ChosenTransaction
  let channel: LiveChannel
  /// True to show the container's name, because there are several.
  let isNamed: Bool

  var id: String { chosen.transaction.id.text }

  var answers: [RequestAnswer] {
    RequestAnswer.allCases.filter { chosen.transaction.statuses.contains($0.status) }
  }

  var json: JSONObject {
    var object = chosen.transaction.listing(for: chosen.container)
    object["kind"] = "transaction"
    return object
  }

  func text(on terminal: Terminal) -> TerminalText {
    chosen.transaction.text(of: chosen.container, isNamed: isNamed, on: terminal)
  }

  func answer(_ answer: RequestAnswer) async throws -> TerminalText? {
    let keys = try await chosen.options.withPassword(for: chosen.container, key: .sessionTransport) {
      try await chosen.device.sessionKeys(of: chosen.container, by: $0)
    }
    let isDone = try await chosen.decide(answer.status, session: keys)
    return isDone ? "\(ours: answer.status.done) \(id)." : nil
  }

  func end() async -> RequestEnd? { await channel.end(of: chosen.transaction.id) }
}

extension RequestAnswer {
  fileprivate var status: DecisionStatus {
    switch self {
    case .approve: .accepted
    case .deny: .denied
    case .report: .reported
    }
  }
}
