import SignetCrypto
public import SignetJSON
public import SignetStorage

/// The form in which audit log entries are returned.
public enum AuditListing {
  /// Returns the entry as JSON: `chain`, `number`, the event's own members, `hash` in hexadecimal.
  public static func stored(_ entry: AuditEntry) -> JSONObject {
    var object = JSONObject()
    object["chain"] = .integer(entry.chain)
    object["number"] = .integer(entry.number)
    do {
      for (name, value) in try JSONObject(parsing: Array(entry.text.utf8)).members {
        object[name] = value
      }
    } catch {
      // Only a log that was tampered with has an entry that is not JSON; its text is returned unchanged.
      object["text"] = .string(entry.text)
    }
    object["hash"] = .string(Hex.encode(entry.hash))
    return object
  }

  /// Replaces subjects by user ids, except for deleted users; the log itself contains only subjects.
  ///
  /// - Throws: ``StorageFailure``.
  static func named(_ entries: [JSONObject], _ storage: Storage) async throws -> [JSONObject] {
    let subjects = Set(entries.flatMap { entry in places.compactMap { subject(in: entry, $0)?.subject } })
    let ids = try await storage.userIDs(of: subjects)
    return entries.map { entry in
      var entry = entry
      for place in places {
        guard let (before, subject) = subject(in: entry, place), let id = ids[subject] else { continue }
        entry[place] = .string("\(before)\(id)")
      }
      return entry
    }
  }

  private static let places = ["user", "by"]

  /// Returns the subject in a member, and its prefix; `nil` for another value.
  private static func subject(in entry: JSONObject, _ place: String) -> (before: String, subject: String)? {
    guard case .string(let text)? = entry[place] else { return nil }
    let before = place == "by" ? AuditActor.userPrefix : ""
    guard text.hasPrefix(before + UserRecord.subjectPrefix) else { return nil }
    return (before, String(text.dropFirst(before.count)))
  }
}
