import SignetCrypto
package import SignetJSON
package import SignetStorage

/// The form in which audit log entries are returned.
package enum AuditListing {
  /// Returns the entry as JSON: `chain`, `number`, the event's own members, `hash` in hexadecimal.
  package static func stored(_ entry: AuditEntry) -> JSONObject {
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
    let subjects = Set(
      entries.flatMap { entry in memberNames.compactMap { subject(in: entry, $0)?.subject } })
    let ids = try await storage.userIDs(of: subjects)
    return entries.map { entry in
      var entry = entry
      for name in memberNames {
        guard let (prefix, subject) = subject(in: entry, name), let id = ids[subject] else { continue }
        entry[name] = .string("\(prefix)\(id)")
      }
      return entry
    }
  }

  private static let memberNames = ["user", "by"]

  /// Returns the subject in a member, and its prefix; `nil` for another value.
  private static func subject(in entry: JSONObject, _ name: String) -> (prefix: String, subject: String)? {
    guard case .string(let text)? = entry[name] else { return nil }
    let prefix = name == "by" ? AuditActor.userPrefix : ""
    guard text.hasPrefix(prefix + UserRecord.subjectPrefix) else { return nil }
    return (prefix, String(text.dropFirst(prefix.count)))
  }
}
