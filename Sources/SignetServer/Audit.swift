package import SignetStorage

/// Creates audit log records from an actor, a time and an event.
package struct Audit: Sendable {
  let by: AuditActor
  /// The time, in seconds since 1970.
  let time: Int64

  package func callAsFunction(_ event: AuditEvent) -> AuditRecord { AuditRecord(event, by: by, at: time) }
}
