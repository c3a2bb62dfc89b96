import SignetJSON
import SignetStorage

/// An entry of a history in the audit log.
struct LogEntry: Hashable, Sendable {
  /// The attempt whose step wrote it; `nil` for the server's own entries: expired requests, and notifications.
  let attempt: String?
  /// The outcome of the step, or one of its side effects.
  let text: String
  /// The time, for entries of the server.
  let time: Int64

  /// Reads an entry; `nil` for that of the servers' key, which exists before a history.
  ///
  /// - Throws: ``JSONFailure`` for one that no step of a history writes.
  init?(_ entry: AuditEntry) throws(JSONFailure) {
    let line = try JSONObject(parsing: Array(entry.text.utf8))
    time = try line.integer("time")
    let event = try line.string("event")
    guard event != "signingKey.added" else { return nil }
    if let word = Self.words[event] {
      (attempt, text) = (nil, "\(word) \(try line.string("transaction"))")
    } else if let words = try line.optionalString("user")?.split(separator: " ", maxSplits: 1),
      words.count == 2
    {
      (attempt, text) = (String(words[0]), String(words[1]))
    } else {
      (attempt, text) = (nil, "expired \(try line.string("transaction"))")
    }
  }

  /// The server's events about notifications.
  private static let words = [
    "tokens.issued": "pushed", "client.told": "told", "client.notTold": "gave up",
  ]

  /// A side effect of the step.
  var effect: String? {
    ["ended ", "lost ", "sent ", "ordered "].contains { text.hasPrefix($0) } ? text : nil
  }

  /// The request that a step has ended as a side effect.
  var ended: String? { subject(after: "ended ") }

  /// The request that has expired.
  var expired: String? { subject(after: "expired ") }

  /// The request whose tokens are issued by push.
  var pushed: String? { subject(after: "pushed ") }

  /// The request whose client was notified.
  var told: String? { subject(after: "told ") }

  /// The request whose notification was abandoned.
  var gaveUp: String? { subject(after: "gave up ") }

  private func subject(after word: String) -> String? {
    text.hasPrefix(word) ? String(text.dropFirst(word.count)) : nil
  }
}
