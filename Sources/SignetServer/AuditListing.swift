public import SignetJSON
public import SignetStorage
import SignetCrypto

/// How an entry of the audit log is shown.
public enum AuditListing {
  /// The entry as JSON: `chain`, `number`, the event's own members, `hash` in hexadecimal.
  public static func json(_ entry: AuditEntry) -> JSONObject {
    var object = JSONObject()
    object["chain"] = .integer(entry.chain)
    object["number"] = .integer(entry.number)
    do {
      for (name, value) in try JSONObject(parsing: Array(entry.text.utf8)).members {
        object[name] = value
      }
    } catch {
      // Only a log that was tampered with has such an entry; it is shown as it is.
      object["text"] = .string(entry.text)
    }
    object["hash"] = .string(Hex.encode(entry.hash))
    return object
  }
}
