package import SignetJSON
import SignetProtocol
package import SignetStorage

package struct AuditQuery: Message {
  package let after: String?, limit: Int64?

  package init(after: String?, limit: Int64?) { (self.after, self.limit) = (after, limit) }

  package static let schema = MessageSchema(Self.init) {
    Member(
      "after", \Self.after, .text(pattern: "^([0-9]{1,18}:)?[0-9]{1,18}(,[0-9]{1,18}:[0-9]{1,18})*$"),
      "The number of the last entry received, or `next` of the previous page.")
    Member("limit", \Self.limit, .integer(1...1000), "The maximum number of entries; 100 by default.")
  }
}

/// The common members of all entries in the audit log.
package struct AuditEntryDescription: Message {
  package let chain: Int64, number: Int64, time: Int64?, event: String?, by: String?, hash: String

  package static let schema = MessageSchema(
    Self.init,
    "With further members, depending on the event. The log has users' subjects; the id of each user who is not deleted is shown instead."
  ) {
    Member("chain", \Self.chain, .integer(0...).ofRow, "The hash chain of the entry; 0 with SQLite.")
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
    .get, "/admin/audit", .read, "listAudit", "List the audit log", details: "docs/protocol.md section 7",
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
          throw Problem(
            .malformed, "\"after\" must be the number of an entry, or \"next\" of the previous page")
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
