package import SignetJSON
import SignetProtocol
package import SignetStorage

package struct AuditQuery: Message {
  package let after: String?, limit: Int64?

  package init(after: String?, limit: Int64?) { (self.after, self.limit) = (after, limit) }

  package static let schema = MessageSchema(Self.init) {
    Member(
      "after", \Self.after, .text(pattern: "^([0-9]{1,18}:)?[0-9]{1,18}(,[0-9]{1,18}:[0-9]{1,18})*$"),
      "The number of the last entry that is known, or `next` of the page before.")
    Member("limit", \Self.limit, .integer(1...1000), "How many at most; 100 where it is left out.")
  }
}

/// The common members of all entries in the audit log.
package struct AuditEntryDescription: Message {
  package let chain: Int64, number: Int64, time: Int64?, event: String?, by: String?, hash: String

  package static let schema = MessageSchema(
    Self.init,
    "With further members, as the event has them. The log names users by their subjects; shown is the id of each who is not deleted."
  ) {
    Member("chain", \Self.chain, .integer(0...).ofRow, "The hash chain that it is in; 0 with SQLite.")
    Member("number", \Self.number, .integer(1...).ofRow)
    Member("time", \Self.time, .time)
    Member("event", \Self.event)
    Member("by", \Self.by)
    Member("hash", \Self.hash, .text(pattern: "^[0-9a-f]{64}$"))
  }
}

package struct AuditPage: Message {
  package let entries: [JSONObject], next: String

  package static let schema = MessageSchema(Self.init) {
    Member("entries", \Self.entries, .list(.object(AuditEntryDescription.described)))
    Member("next", \Self.next, "The `after` of the next page.")
  }
}

extension API {
  package static let listAudit = Endpoint(
    .get, "/admin/audit", .read, "listAudit", "The audit log", details: "docs/protocol.md section 7",
    in: .audit, by: .admin, takes: .query(AuditQuery.self),
    answers: .json(AuditPage.self, "Oldest first."))
}

/// The endpoint with which operators read the audit log (`docs/protocol.md` section 7).
struct AuditEndpoints: Sendable {
  let context: ServiceContext

  var routes: [Route] {
    [
      API.listAudit.answered { [context] call in
        guard let after = LogCursor(call.input.after ?? "0") else {
          throw Problem(.malformed, "\"after\" is a number of an entry, or \"next\" of the page before")
        }
        let entries = try await context.storage.auditEntries(
          after: after, limit: Int(call.input.limit ?? 100))
        return AuditPage(
          entries: try await AuditListing.named(entries.map { AuditListing.stored($0) }, context.storage),
          next: after.advanced(past: entries).description)
      }
    ]
  }
}
