package import SignetStorage

/// Makes records of the audit log: who acts and when, to which an event is added.
package struct Audit: Sendable {
  let by: AuditActor
  /// When, in seconds since 1970.
  let time: Int64

  package func callAsFunction(_ event: AuditEvent) -> AuditRecord { AuditRecord(event, by: by, at: time) }
}
