import SignetJSON
import SignetStorage

/// What a history has in the audit log.
struct LogEntry: Hashable, Sendable {
  /// The attempt whose step wrote it; `nil` where the server did by itself: that a step found a request to have expired, or what it told
  /// a client.
  let attempt: String?
  /// What happened: the outcome of the step, or something that it did besides.
  let text: String
  /// When, of what the server wrote.
  let time: Int64

  /// Reads an entry; `nil` for that of the servers' key, which is there before a history.
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

  /// What a server says that has told a client.
  private static let words = [
    "tokens.issued": "pushed", "client.told": "told", "client.notTold": "gave up",
  ]

  /// Something that the step did beside what it was about.
  var effect: String? {
    ["ended ", "lost ", "sent ", "ordered "].contains { text.hasPrefix($0) } ? text : nil
  }

  /// The request that a step has ended besides.
  var ended: String? { subject(after: "ended ") }

  /// The request that it says has expired.
  var expired: String? { subject(after: "expired ") }

  /// The request whose tokens are given out by push.
  var pushed: String? { subject(after: "pushed ") }

  /// The request of which it says that its client was told.
  var told: String? { subject(after: "told ") }

  /// The request of which its client is told nothing any more.
  var gaveUp: String? { subject(after: "gave up ") }

  private func subject(after word: String) -> String? {
    text.hasPrefix(word) ? String(text.dropFirst(word.count)) : nil
  }
}
