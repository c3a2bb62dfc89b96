import SignetJSON
import SignetStorage

/// What a history has in the audit log.
struct LogEntry: Hashable, Sendable {
  /// The attempt whose step wrote it; `nil` where the server did by itself: that a step found a request to have expired.
  let attempt: String?
  /// What happened: the outcome of the step, or something that it did besides.
  let text: String
  /// When, of what the server wrote.
  let time: Int64

  /// Reads an entry.
  ///
  /// - Throws: ``JSONFailure`` for one that no step of a history writes.
  init(_ entry: AuditEntry) throws(JSONFailure) {
    let line = try JSONObject(parsing: Array(entry.text.utf8))
    time = try line.integer("time")
    if let words = try line.optionalString("user")?.split(separator: " ", maxSplits: 1), words.count == 2 {
      (attempt, text) = (String(words[0]), String(words[1]))
    } else {
      (attempt, text) = (nil, "expired \(try line.string("transaction"))")
    }
  }

  /// Something that the step did beside what it was about.
  var effect: String? {
    ["ended ", "lost ", "sent ", "ordered "].contains { text.hasPrefix($0) } ? text : nil
  }

  /// The request that it says has expired.
  var expired: String? { text.hasPrefix("expired ") ? String(text.dropFirst(8)) : nil }
}
